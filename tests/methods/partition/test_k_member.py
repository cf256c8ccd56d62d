from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.partition import plain

import shoal
from shoal import KAnonymity, Table
from shoal.methods.partition.greedy import group_by_members
from shoal.methods.partition.records import lay_out


def search_plainly(records, k):
    points, waiting, groups, last = records.points, list(range(len(records))), [], 0
    while len(waiting) >= k:
        seed = max(waiting, key=lambda r: (plain.width(points, [last, r]), -r))
        groups.append(plain.grow(points, waiting, seed, k))
        last = groups[-1][-1]
    for record in waiting:
        costs = [plain.added(points, members, record) for members in groups]
        groups[costs.index(min(costs))].append(record)
    return plain.numbered(groups, len(records))


@given(table=plain.tables(), k=st.integers(2, 7))
@examples(80)
def test_the_tree_finds_what_looking_at_every_record_finds(table, k):
    records = lay_out(table)
    found = group_by_members(records, k).tolist()
    if len(records) < k:
        assert set(found) == {0}
    else:
        assert found == search_plainly(records, k)


@pytest.mark.parametrize("seed", range(4))
def test_a_deeper_tree_finds_the_same(seed):
    records = lay_out(plain.crowd(seed))
    assert group_by_members(records, 3).tolist() == search_plainly(records, 3)


def test_seeds_jump_from_one_edge_to_the_other():
    table = Table.from_arrow(pa.table({"a": [0, 1, 2, 50, 97, 98, 99]}), {"a": "quasi"})
    ids = group_by_members(lay_out(table), 2)
    assert ids.tolist() == [1, 1, 1, 2, 2, 0, 0]  # from 0 to 99, from 98 to 0, from 1 to 97


def test_a_leftover_sees_the_ones_before_it():
    """3 widens the group at 0, so that 5 finds it wider and yet goes there: nothing is nearer."""
    table = Table.from_arrow(pa.table({"a": [0, 0, 0, 3, 5, 20, 20, 20]}), {"a": "quasi"})
    ids = group_by_members(lay_out(table), 3)
    assert ids.tolist() == [1, 1, 1, 1, 1, 0, 0, 0]


def test_the_worked_example_costs_less_than_by_greedy_search():
    table = shoal.datasets.load("fars-sample")
    records = lay_out(table)
    assert records.loss(group_by_members(records, 3)) == pytest.approx(21.1371, abs=5e-5)
    release = shoal.anonymize(table, KAnonymity(3), "k-member")
    assert shoal.metrics.ncp(release) == pytest.approx(21.1371 / 80, abs=1e-6)
