"""Small problems are solved to the optimum that trying everything finds, and bounds are bounds."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from tests.examples import times

import shoal
from shoal import Table
from shoal.methods.partition import carrying
from shoal.methods.partition.carrying import solve_small
from shoal.methods.partition.records import lay_out

pytestmark = pytest.mark.slow


def records_of(rows, columns=3, seed=0, values=6, missing=0.0, nominal=0.0):
    """Return records of a random table: few values make many equal records."""
    draw = np.random.default_rng([seed, rows, columns, values])
    data, roles = {}, {}
    for j in range(columns):
        codes = draw.integers(0, values, rows).tolist()
        name = f"q{j}"
        texts = draw.random() < nominal
        cells = [f"v{c}" for c in codes] if texts else codes
        cells = [None if draw.random() < missing else c for c in cells]
        data[name] = pa.array(cells, pa.string() if texts else pa.int64())
        roles[name] = {"role": "quasi", "weight": float(draw.choice([0.5, 1, 3]))}
    return lay_out(Table.from_arrow(pa.table(data), roles))


def group_loss(records, members):
    """Return size × width in units, by the definition alone."""
    points, total = records.points, 0
    for j, cap in enumerate(points.cap.tolist()):
        places = [int(points.line[i, j]) for i in members]
        total += min(max(places) - min(places), cap)
    for j, unit in enumerate(points.unit.tolist()):
        total += unit * (len({int(points.name[i, j]) for i in members}) - 1)
    return len(members) * total


def least_loss(records, k):
    """Return the least loss of any grouping: the first record left joins every possible group."""

    @cache
    def best(left):
        if not left:
            return 0
        found = []
        first, *others = left
        for size in range(k, len(left) + 1):
            if 0 < len(left) - size < k:
                continue
            for more in combinations(others, size - 1):
                rest = tuple(i for i in others if i not in more)
                found.append(group_loss(records, (first, *more)) + best(rest))
        return min(found)

    return best(tuple(range(len(records))))


def check(records, k, solved):
    """Check that the groups are groups, that the loss is theirs and the bound below it."""
    sizes = np.bincount(solved.ids)
    assert len(solved.ids) == len(records)
    assert sizes.min() >= min(k, len(records))
    groups = [np.flatnonzero(solved.ids == g).tolist() for g in range(len(sizes))]
    assert sum(group_loss(records, g) for g in groups) == solved.loss
    assert solved.bound <= solved.loss


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(
    ("values", "missing", "nominal"),
    [(4, 0, 0), (40, 0, 0), (4, 0.2, 0.5), (30, 0.2, 1.0), (2, 0, 0), (9, 0.1, 0.5)],
)
def test_no_grouping_of_few_records_loses_less(k, values, missing, nominal):
    for rows in range(2, 11):
        for seed in range(times(4)):
            records = records_of(rows, 1 + seed % 4, seed, values, missing, nominal)
            solved = solve_small(records, k)
            if rows >= k:
                check(records, k, solved)
                assert solved.proven
                assert solved.loss == least_loss(records, k)


@pytest.mark.parametrize(("rows", "k"), [(12, 3), (12, 5), (13, 4)])
def test_no_grouping_of_a_dozen_records_loses_less(rows, k):
    for seed in range(times(2)):
        records = records_of(rows, 4, seed, 12, 0.1, 0.3)
        solved = solve_small(records, k)
        check(records, k, solved)
        assert solved.proven
        assert solved.loss == least_loss(records, k)


@pytest.mark.parametrize(("rows", "k", "values"), [(24, 3, 50), (30, 4, 5), (24, 5, 3), (42, 3, 9)])
def test_larger_problems_are_proven_too(rows, k, values):
    records = records_of(rows, 4, 1, values)
    solved = solve_small(records, k)
    check(records, k, solved)
    assert solved.proven


def test_the_published_example_is_solved_to_the_published_optimum():
    records = lay_out(shoal.datasets.load("fars-sample"))
    solved = solve_small(records, 3)
    assert solved.proven
    assert records.loss(solved.ids) == pytest.approx(19.26613, abs=1e-5)


@pytest.mark.parametrize("limits", [{"_NODES": 30}, {"_ROOM": 20, "_FEW": 10}, {"_STEPS": 1}])
def test_a_problem_that_is_given_up_has_a_valid_bound(monkeypatch, limits):
    for name, value in limits.items():
        monkeypatch.setattr(carrying, name, value)
    given_up = 0
    for seed in range(times(6)):
        records = records_of(11, 4, seed, 30)
        solved = solve_small(records, 3)
        check(records, 3, solved)
        least = least_loss(records, 3)
        assert solved.bound <= least <= solved.loss
        given_up += not solved.proven
    assert given_up


def test_prices_are_improved_where_too_many_groups_would_be_listed(monkeypatch):
    monkeypatch.setattr(carrying, "_FEW", 5)
    for seed in range(times(6)):
        records = records_of(11, 4, seed, 30, 0.1, 0.4)
        solved = solve_small(records, 3)
        check(records, 3, solved)
        assert solved.proven
        assert solved.loss == least_loss(records, 3)


def test_no_time_still_gives_groups_and_a_bound():
    records = records_of(30, 5, 2, 40)
    solved = solve_small(records, 4, time_limit=0)
    check(records, 4, solved)
    assert solved.bound <= solve_small(records, 4).loss <= solved.loss


def test_more_records_than_a_word_can_count_get_groups_and_a_bound():
    records = records_of(90, 5, 3, 100, 0.1, 0.5)
    solved = solve_small(records, 4)
    check(records, 4, solved)
    assert 0 < solved.bound < solved.loss


def test_equal_records_cost_nothing_wherever_they_are_enough():
    records = records_of(40, 2, 4, 2)
    solved = solve_small(records, 3)
    assert np.bincount(records.copies).min() >= 3
    assert (solved.loss, solved.bound) == (0, 0)


def test_the_same_records_are_solved_the_same_way():
    records = records_of(30, 5, 5, 40)
    once, again = solve_small(records, 5), solve_small(records, 5)
    assert np.array_equal(once.ids, again.ids)
