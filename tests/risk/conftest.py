"""Releases one can check by hand."""

import numpy as np
import pyarrow as pa
import pytest
from tests.by_hand import classes_of

from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.table import Table


@pytest.fixture(scope="session")
def grouped():
    return classes_of


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
