from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.partition import plain

from shoal import Table
from shoal.methods.partition import nearest
from shoal.methods.partition.nearest import nearest_points
from shoal.methods.partition.records import lay_out


def look_at_all(records, count):
    firsts = np.flatnonzero(np.diff(records.copies, prepend=-1)).tolist()
    lists, widths = [], []
    for i, one in enumerate(firsts):
        pairs = [
            (plain.width(records.points, [one, other]), j)
            for j, other in enumerate(firsts)
            if j != i
        ]
        best = sorted(pairs)[:count] + [(-1, -1)] * (count - len(pairs))
        lists.append([j for _, j in best])
        widths.append([width for width, _ in best])
    return lists, widths


@given(table=plain.tables(least=1), count=st.integers(1, 12))
@examples(100)
def test_the_tree_finds_what_looking_at_every_pair_finds(table, count):
    records = lay_out(table)
    found, widths = nearest_points(records, count, 1)
    assert (found.tolist(), widths.tolist()) == look_at_all(records, count)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_finds_the_same(threads, monkeypatch):
    monkeypatch.setattr(nearest, "_BLOCK", 37)
    records = lay_out(plain.crowd(1))
    found, widths = nearest_points(records, 6, threads)
    assert (found.tolist(), widths.tolist()) == look_at_all(records, 6)


def test_equal_records_are_one_point():
    table = Table.from_arrow(pa.table({"a": [0, 0, 0, 1, 1, 5]}), {"a": "quasi"})
    found, _ = nearest_points(lay_out(table), 3, 1)
    assert found.tolist() == [[1, 2, -1], [0, 2, -1], [1, 0, -1]]
