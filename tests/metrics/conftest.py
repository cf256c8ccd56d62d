"""Releases one can check by hand: a table, and the group of each row."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.table import Table


@pytest.fixture(scope="session")
def released():
    def make(columns, ids, counts=None, summary="range", **options):
        """Release columns as groups; `options` are those of single columns, by name."""
        table = columns
        if not isinstance(columns, Table):
            roles = {name: {"role": "quasi", **options.get(name, {})} for name in columns}
            table = Table.from_arrow(pa.table(columns), roles, counts=counts)
        ids = np.array(ids, dtype=np.int32)
        groups = int(ids.max(initial=-1)) + 1
        return Release.of_groups(table, ids, groups, KAnonymity(2), summary)

    return make
