"""Classes one can check by hand: each is a list of the sensitive values in it."""

import numpy as np
import pyarrow as pa

from shoal.table.classes import SUPPRESSED, Classes
from shoal.table.table import Table


def classes_of(*groups, suppressed=(), counts=None, **options):
    """Classes over the column `disease`, in the order given; a string is a list of letters."""
    every = [*groups, suppressed]
    values = [value for group in every for value in group]
    ids = np.repeat([*range(len(groups)), SUPPRESSED], [len(group) for group in every])
    data = pa.table({"zip": [str(i) for i in ids], "disease": pa.array(values)})
    roles = {"zip": "quasi", "disease": {"role": "sensitive", **options}}
    return Classes.of(Table.from_arrow(data, roles, counts=counts), ids.astype(np.int32))
