from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.partition import plain

import shoal
from shoal import KAnonymity, Table
from shoal.methods.partition.groups import release_groups, reweighted
from shoal.methods.partition.records import lay_out


def penalty(column, rows):
    """The weighted certainty penalty of one record in a group, exactly, from the table."""
    codes = set(column.codes[rows].tolist())
    weight = Fraction(column.weight)
    if not column.ordered:
        return weight * Fraction(len(codes) - 1, column.domain)
    if len(codes) == 1:
        return Fraction(0)
    if column.missing in codes:
        return weight
    low, high = (Fraction(end) for end in column.extent)
    places = [Fraction(column.positions[code]) for code in codes]
    return weight * (max(places) - min(places)) / (high - low)


@given(table=plain.tables(), groups=st.integers(1, 6), seed=st.integers(0, 9))
@examples(100)
def test_the_loss_is_the_sum_of_weighted_penalties(table, groups, seed):
    records = lay_out(table)
    ids = np.random.default_rng(seed).integers(0, groups, len(table), dtype=np.int32)
    ids[:groups] = np.arange(min(groups, len(ids)))
    rows = [np.flatnonzero(records.by_row(ids) == g) for g in range(int(ids.max()) + 1)]
    exact = sum(len(r) * penalty(c, r) for r in rows for c in table.quasi_columns if len(r))
    assert records.loss(ids) == pytest.approx(float(exact), abs=1e-6 * len(table))
    members = [np.flatnonzero(ids == g) for g in range(int(ids.max()) + 1)]
    assert records.units(ids) == plain.loss(records.points, [m for m in members if len(m)])


@given(table=plain.tables(), seed=st.integers(0, 9))
def test_the_order_of_rows_does_not_matter(table, seed):
    mixed = table.take(np.random.default_rng(seed).permutation(len(table)))
    one, other = lay_out(table), lay_out(mixed)
    for was, now in zip(one.points, other.points, strict=True):
        assert was.tolist() == now.tolist()
    for column in table.quasi:
        codes = table[column].codes[one.rows].tolist()
        assert codes == mixed[column].codes[other.rows].tolist()


@given(table=plain.tables())
def test_equal_records_are_copies_side_by_side(table):
    records = lay_out(table)
    rows = [(*a, *b) for a, b in zip(*(p.tolist() for p in records.points[:2]), strict=True)]
    copies = records.copies.tolist()
    for i in range(1, len(rows)):
        assert copies[i] - copies[i - 1] == (rows[i] != rows[i - 1])
    assert copies[0] == 0


def test_equal_records_are_told_apart_by_other_columns():
    data = pa.table({"age": [1, 1, 1, 0], "illness": ["gout", "cold", "flu", "none"]})
    table = Table.from_arrow(data, {"age": "quasi", "illness": "sensitive"})
    assert lay_out(table).rows.tolist() == [3, 0, 1, 2]
    assert lay_out(table, ["illness"]).rows.tolist() == [3, 1, 2, 0]


def test_the_least_varying_column_comes_first_unless_weights_say_otherwise():
    data = pa.table({"wide": [0, 9, 0, 9], "narrow": [1, 0, 0, 1]})
    table = Table.from_arrow(data, {"wide": "quasi", "narrow": "quasi"})
    assert lay_out(table).rows.tolist() == [2, 1, 0, 3]
    heavy = reweighted(table, {"wide": 10})  # 20.25 / 100 is less than 0.25
    assert lay_out(heavy).rows.tolist() == [2, 0, 1, 3]
    light = reweighted(table, {"narrow": 0})  # what weighs nothing comes last
    assert lay_out(light).rows.tolist() == [2, 0, 1, 3]


def test_places_are_shares_of_the_bounds():
    data = pa.table({"a": [0, 25, 100], "b": [2, 3, 4]})
    roles = {"a": {"role": "quasi", "bounds": [-100, 100]}, "b": {"role": "quasi", "weight": 3}}
    records = lay_out(Table.from_arrow(data, roles))
    line = records.points.line[np.argsort(records.rows)]
    assert (line * records.scale).tolist() == [[0.5, 0], [0.625, 1.5], [1, 3]]
    assert (records.points.cap * records.scale).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("values", "loss"),
    [
        ([1, None], 2.0),  # missing beside known: everything is lost
        ([None, None], 0.0),
        ([1, 1], 0.0),
        ([1, 5, None], 3.0),
    ],
)
def test_missing_values_lie_a_whole_extent_away(values, loss):
    table = Table.from_arrow(pa.table({"a": pa.array(values, pa.int64())}), {"a": "quasi"})
    assert lay_out(table).loss(np.zeros(len(values), np.int32)) == pytest.approx(loss)


def test_taking_records_keeps_the_scale():
    records = lay_out(shoal.datasets.load("fars-sample"))
    some = records.take(np.array([0, 5, 7]))
    assert some.rows.tolist() == [12, 10, 19]
    assert some.loss(np.zeros(3, np.int32)) == pytest.approx(3 * (46 / 62 + 4 / 4))


def test_weights_go_by_name_or_in_order():
    table = shoal.datasets.load("fars-sample")
    assert [c.weight for c in reweighted(table, [4, 3, 2, 1])] == [4, 3, 2, 1]
    assert [c.weight for c in reweighted(table, {"SEX": 7})] == [1, 7, 1, 1]
    assert reweighted(table, None) is table


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "2 numbers for 4 quasi-identifiers"),
        ({"HEIGHT": 1}, "'HEIGHT' is not a quasi-identifier"),
        ([1, 1, 1, -1], "weights: each must be 0 or more and at most 1e.12, not -1"),
        ([1, 1, 1, 1e308], "weights: each must be 0 or more and at most 1e.12"),
        ([1, 1, 1, "x"], "weights: each must be 0 or more"),
        ("abcd", "weights must be {column: number}, or a list of numbers"),
        (5, "weights must be {column: number}, or a list of numbers"),
    ],
)
def test_weights_are_checked(weights, message):
    with pytest.raises(shoal.InputError, match=message):
        shoal.anonymize(
            shoal.datasets.load("fars-sample"), KAnonymity(3), "greedy", weights=weights
        )


def test_too_few_records_for_two_groups_are_one():
    table = shoal.datasets.load("fars-sample").take(np.arange(7))

    def refuse(records, k):
        raise AssertionError("nothing to choose")

    release = release_groups(table, KAnonymity(4), refuse, notes=["one group"])
    assert release.classes.sizes.tolist() == [7]
    assert release.run.notes == ("one group",)


def test_a_weighted_table_is_refused():
    light = shoal.datasets.load("fars-sample").distinct().table
    with pytest.raises(shoal.InputError, match="weighted"):
        shoal.anonymize(light, KAnonymity(2), "sorted")


@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e12])
def test_weights_and_values_whose_squares_leave_the_range_are_laid_out(weight):
    cells = pa.table({"a": [1, 2, 3, 4], "b": [-1e300, 0.0, 1.0, 1e300]})
    roles = {"a": {"role": "quasi", "weight": weight}, "b": "quasi"}
    assert shoal.anonymize(Table.from_arrow(cells, roles), KAnonymity(2), "sorted").verify()
