from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table import classes
from shoal.table.column import Column


def counted(cells, ids, groups, counts=None):
    column = Column.encode("c", cells)
    ids = np.array(ids, dtype=np.int32)
    return classes.count_values(column, ids, groups, counts), column


def test_counts_the_values_of_each_group():
    found, _ = counted(["x", "y", "x", None, "y"], [0, 0, 0, 1, -1], 2)
    assert found.indptr.tolist() == [0, 2, 3]
    assert found.codes.tolist() == [0, 1, 2]
    assert found.counts.tolist() == [2, 1, 1]
    assert found.dense(3, 0, 2).tolist() == [[2, 1, 0], [0, 0, 1]]
    assert found.dense(3, 1, 2).tolist() == [[0, 0, 1]]


def test_no_rows_have_no_values():
    found, _ = counted([], [], 0)
    assert found.indptr.tolist() == [0]
    assert found.codes.tolist() == []


@pytest.mark.parametrize("rows", [5, 3000])  # many groups of many values: sorted, not tabled
def test_all_suppressed_rows_leave_empty_groups(rows):
    found, _ = counted(list(range(rows)), [-1] * rows, 0)
    assert found.indptr.tolist() == [0]
    assert found.counts.tolist() == []


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3), st.integers(1, 9)), max_size=20),
    st.booleans(),
)
def test_counts_as_a_counter_does(rows, wide):
    # over a wide domain the values are sorted instead of tabled
    spread = [(0, -1, 1)] + [(i, -1, 1) for i in range(5, 3000)] if wide else []
    cells, ids, counts = zip(*(rows + spread), strict=True) if rows + spread else ((), (), ())
    found, column = counted(list(cells), ids, 4, np.array(counts, dtype=np.int64))
    expected = Counter()
    for cell, g, count in rows:
        if g >= 0:
            expected[g, str(cell)] += count
    owners = np.repeat(np.arange(4), np.diff(found.indptr)).tolist()
    labels = [column.labels[code] for code in found.codes]
    counted_pairs = dict(zip(zip(owners, labels, strict=True), found.counts, strict=True))
    assert counted_pairs == expected
    assert list(counted_pairs) == sorted(counted_pairs, key=lambda pair: (pair[0], int(pair[1])))
