"""Classes one can check by hand: each is a list of the sensitive values in it."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.core.classes import SUPPRESSED, Classes
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy import KAnonymity


@pytest.fixture(scope="session")
def grouped():
    def make(*groups, suppressed=(), counts=None, **options):
        """Classes over the column `disease`, in the order given; a string is a list of letters."""
        every = [*groups, suppressed]
        values = [value for group in every for value in group]
        ids = np.repeat([*range(len(groups)), SUPPRESSED], [len(group) for group in every])
        data = pa.table({"zip": [str(i) for i in ids], "disease": pa.array(values)})
        roles = {"zip": "quasi", "disease": {"role": "sensitive", **options}}
        return Classes.of(Table.from_arrow(data, roles, counts=counts), ids.astype(np.int32))

    return make


@pytest.fixture(scope="session")
def released():
    def make(columns, ids, model=None, counts=None, **options):
        """Release columns as groups of rows; all but `disease` are quasi-identifiers."""
        roles = {
            name: {"role": "sensitive" if name == "disease" else "quasi", **options.get(name, {})}
            for name in columns
        }
        table = Table.from_arrow(pa.table(columns), roles, counts=counts)
        ids = np.array(ids, dtype=np.int32)
        groups = int(ids.max(initial=-1)) + 1
        return Release.of_groups(table, ids, groups, model or KAnonymity(2))

    return make
