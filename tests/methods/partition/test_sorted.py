from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.partition import plain

import shoal
from shoal import KAnonymity, Sorted, Table
from shoal.methods.partition._boxes import Points
from shoal.methods.partition.records import Records, hilbert_order, lay_out
from shoal.methods.partition.sorted import group_best, group_evenly

PUBLISHED = {"order": "variance", "grouping": "consecutive"}
INITIAL = [[12, 1, 11], [14, 7, 10], [16, 19, 13], [6, 9, 5], [8, 2, 15], [17, 0, 4, 18, 3]]


def on_grid(*sides):
    """Records at every place of a grid."""
    places = np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), axis=-1)
    line = places.reshape(-1, len(sides)).astype(np.int32)
    cap = np.array(sides, dtype=np.int64)
    none = np.zeros((len(line), 0), dtype=np.int32)
    points = Points(line, none, cap, np.zeros(0, np.int64), np.zeros(1, np.int64))
    return Records(np.arange(len(line)), points, 1.0)


def test_the_published_order_and_its_sets():
    """The document prints 5 for 15 and 8 for 4 in its last two sets; its own order has these."""
    table = shoal.datasets.load("fars-sample")
    records = lay_out(table)
    assert records.rows.tolist() == [row for members in INITIAL for row in members]
    ids = group_evenly(records, 3, np.arange(20))
    assert plain.sets(table, records, ids) == INITIAL


def test_the_published_release_is_reached_by_its_options():
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, KAnonymity(3), "sorted", **PUBLISHED)
    cells = [tuple(row.values()) for row in release.to_arrow().to_pylist()]
    assert [len({cells[row] for row in members}) for members in INITIAL] == [1] * 6
    assert len(set(cells)) == 6


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        (PUBLISHED, 31.7742),
        ({"order": "variance"}, 19.6290),
    ],
    ids=str,
)
def test_what_the_worked_example_loses(options, loss):
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, KAnonymity(3), "sorted", **options)
    assert shoal.metrics.ncp(release) * 80 == pytest.approx(loss, abs=1e-4)


@given(table=plain.tables(most=25), k=st.integers(2, 5), seed=st.integers(0, 3))
@examples(100)
def test_no_other_runs_of_an_order_lose_less(table, k, seed):
    records = lay_out(table)
    if len(records) < 2 * k:
        return
    order = np.random.default_rng(seed).permutation(len(records))

    @cache
    def least(end):
        runs = [order[end - s : end] for s in range(k, 2 * k) if s <= end]
        costs = [least(end - len(run)) + plain.loss(records.points, [run]) for run in runs]
        return min(costs, default=0 if end == 0 else float("inf"))

    ids = group_best(records, k, order)
    assert records.units(ids) == least(len(records))
    steps = np.diff(ids[order])
    assert ids[order][0] == 0
    assert set(steps.tolist()) <= {0, 1}  # runs, numbered in the order of the line
    assert k <= np.bincount(ids).min() <= np.bincount(ids).max() < 2 * k


@pytest.mark.parametrize("sides", [(8,), (8, 8), (4, 4, 4), (2, 2, 2, 2, 2)])
def test_neighbours_on_the_curve_are_neighbours_in_space(sides):
    records = on_grid(*sides)
    order = hilbert_order(records)
    assert sorted(order.tolist()) == list(range(len(records)))
    steps = np.abs(np.diff(records.points.line[order], axis=0))
    assert (steps.sum(axis=1) == 1).all()


def test_the_first_turns_of_the_curve():
    order = hilbert_order(on_grid(2, 2))
    assert on_grid(2, 2).points.line[order].tolist() == [[0, 0], [0, 1], [1, 1], [1, 0]]


def test_the_curve_of_many_columns_leaves_no_corner_twice():
    draw = np.random.default_rng(0)
    values = draw.integers(0, 100, (300, 9)) + 900 * draw.integers(0, 2, (300, 9))
    data = pa.table({f"q{i}": values[:, i] for i in range(9)})
    records = lay_out(Table.from_arrow(data, dict.fromkeys(data.column_names, "quasi")))
    order = hilbert_order(records)
    assert sorted(order.tolist()) == list(range(300))
    corners = values[records.rows[order]] > 500
    turns = (corners[1:] != corners[:-1]).any(axis=1).sum()
    assert turns == len(np.unique(corners, axis=0)) - 1


def test_nominal_values_are_coordinates():
    """Two columns of two words make the four corners of a square."""
    data = pa.table({"a": list("xxyy") * 2, "b": list("xyxy") * 2})
    table = Table.from_arrow(data, {"a": "quasi", "b": "quasi"})
    records = lay_out(table)
    names = records.points.name[hilbert_order(records)][::2]
    assert (np.abs(np.diff(names, axis=0)).sum(axis=1) == 1).all()
    assert len(np.unique(names, axis=0)) == 4


@pytest.mark.parametrize("option", ["order", "grouping"])
def test_options_are_checked(option):
    with pytest.raises(shoal.InputError, match=f"{option} must be one of"):
        Sorted(**{option: "random"})
