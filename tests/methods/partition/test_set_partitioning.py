"""The exact search finds what trying everything finds, and where it stops its bounds hold."""

from __future__ import annotations

from functools import cache
from itertools import combinations, count
from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.partition import plain

from shoal import Table
from shoal.methods.partition import set_partitioning
from shoal.methods.partition._pricing import enumerate_groups, make_cuts, make_scratch, make_space
from shoal.methods.partition.annealing import near_records
from shoal.methods.partition.column_generation import (
    GroupingProblem,
    OutOfTime,
    neighbour_bound,
    swap,
)
from shoal.methods.partition.records import lay_out
from shoal.methods.partition.set_partitioning import separate, solve


def least_loss(points, k):
    """The least loss of any grouping: the first record left joins every possible group."""

    @cache
    def best(left):
        if not left:
            return 0
        first, *others = left
        found = [inf]
        for size in range(k, len(left) + 1):
            for more in combinations(others, size - 1):
                rest = tuple(i for i in others if i not in more)
                if len(rest) == 0 or len(rest) >= k:
                    members = (first, *more)
                    found.append(size * plain.width(points, members) + best(rest))
        return min(found)

    return best(tuple(range(len(points.line))))


def crowded(seed, rows=12, columns=4, values=4):
    """Records of which the linear program often makes fractions."""
    draw = np.random.default_rng(seed)
    data = {f"q{j}": draw.integers(0, values, rows) for j in range(columns)}
    data["word"] = draw.choice(list("abc"), rows)
    return lay_out(Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi")))


def consecutive(records, k):
    groups = len(records) // k
    return (np.arange(len(records)) * groups // len(records)).astype(np.int32)


def solved(records, k, starts=None):
    starts = starts or [consecutive(records, k)]
    problem = GroupingProblem(records, k, starts[0], inf)
    solve(problem, starts)
    assert problem.loss == records.units(problem.ids)
    assert np.bincount(problem.ids).min() >= k
    return problem


@given(table=plain.tables(least=4, most=9), k=st.integers(2, 4))
@examples(150)
def test_the_optimum_is_that_of_trying_everything(table, k):
    records = lay_out(table)
    assume(len(records) >= 2 * k)
    problem = solved(records, k)
    best = least_loss(records.points, k)
    assert problem.bound == problem.loss
    assert best <= problem.loss < best + problem.slack


@pytest.fixture(scope="module")
def puzzles():
    """Tables that need branching, with their optimum by a program over all groups."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    found = []
    for seed in (16, 28, 32, 56):
        records = crowded(seed, rows=13, values=3)
        every = [g for size in (3, 4, 5) for g in combinations(range(13), size)]
        holds = np.zeros((13, len(every)))
        for i, group in enumerate(every):
            holds[list(group), i] = 1
        loss = np.array([plain.loss(records.points, [group]) for group in every])
        whole, once = np.ones(len(every)), LinearConstraint(holds, 1, 1)
        scale = loss.max()
        answer = milp(loss / scale, constraints=once, integrality=whole, bounds=Bounds(0, 1))
        best = int(loss[answer.x > 0.5].sum())
        found.append((records, best))
    return found


@pytest.mark.parametrize("way", ["cuts", "pairs", "groups"])
def test_cuts_and_both_ways_of_branching_lead_to_the_optimum(puzzles, way, monkeypatch):
    divided = count()
    child = set_partitioning.Tree._child
    if way != "cuts":
        monkeypatch.setattr(set_partitioning, "separate", lambda *_: [])
        monkeypatch.setattr(set_partitioning.Tree, "_dive", lambda *_: None)
        monkeypatch.setattr(
            set_partitioning.Tree, "_child", lambda *args: (next(divided), child(*args))[1]
        )
    if way == "groups":
        monkeypatch.setattr(set_partitioning.Tree, "_pairs", lambda *_: [])
    for records, best in puzzles:
        problem = solved(records, 3)
        assert problem.bound == problem.loss
        assert best <= problem.loss < best + problem.slack
    assert way == "cuts" or next(divided) > 0


@pytest.mark.parametrize("seed", range(6))
def test_wherever_the_search_stops_the_bound_holds(seed, monkeypatch):
    records = crowded(seed, rows=11)
    best = least_loss(records.points, 2)
    for allowed in (*range(12), 20, 40):
        left = count(allowed, -1)

        def check(problem, left=left):
            if next(left) <= 0:
                raise OutOfTime("enough")

        monkeypatch.setattr(GroupingProblem, "check_time", check)
        problem = GroupingProblem(records, 2, consecutive(records, 2), inf)
        problem.raise_bound(neighbour_bound(records, 2))
        solve(problem, [problem.ids])
        assert problem.bound <= problem.loss
        assert problem.loss == records.units(problem.ids) >= best
        if problem.bound < problem.loss:
            assert problem.bound <= best
            assert problem.stopped == "enough"
        else:
            assert problem.loss < best + problem.slack


@given(table=plain.tables(least=4, most=9), k=st.integers(2, 4))
@examples(60)
def test_each_record_needs_its_neighbours(table, k):
    records = lay_out(table)
    assume(len(records) >= 2 * k)
    assert neighbour_bound(records, k) <= least_loss(records.points, k)


def test_the_search_begins_with_as_many_groups_as_were_asked_for():
    records = crowded(1, rows=50)
    near = near_records(records, 10, 1)
    for groups in (12, 16):
        found = swap(records, near, 3, groups, 2500, 3, 0)
        losses = [records.units(ids) for ids in found]
        assert losses == sorted(losses)
        assert losses[0] < losses[-1]
        for ids in found:
            sizes = np.bincount(ids)
            assert len(sizes) == groups
            assert sizes.min() >= 3
            assert sizes.max() <= 5


@pytest.mark.parametrize("laid", [0, 1, 4, 5, 6])
def test_groups_laid_down_are_completed_to_a_grouping(laid):
    records = crowded(4, rows=20)
    scattered = (np.arange(20) % 6).astype(np.int32)
    problem = GroupingProblem(records, 3, scattered, inf)
    begun = problem.loss
    problem.complete(problem.listed(consecutive(records, 3))[:laid])
    assert problem.loss == records.units(problem.ids) < begun
    assert np.bincount(problem.ids).min() >= 3


@st.composite
def searches(draw):
    """A few records with duals and penalties, and a threshold."""
    records = lay_out(draw(plain.tables(least=4, most=8)))
    kinds = int(records.copies.max()) + 1
    scale = int(records.points.cap.sum() + records.points.unit.sum()) + 8
    number = st.integers(-scale // 4, 2 * scale)
    duals = np.array([draw(number) for _ in range(kinds)], dtype=np.float64)[records.copies]
    shares, steps = [], []
    for _ in range(draw(st.integers(0, 3))):
        step = draw(st.integers(2, 4))
        weight = np.array([draw(st.integers(0, step - 1)) for _ in range(kinds)])[records.copies]
        members = np.flatnonzero(weight)
        shares.append((members.astype(np.int32), weight[members].astype(np.int32)))
        steps.append(step)
    prices = np.array([draw(st.integers(1, scale)) for _ in steps], dtype=np.float64)
    return records, duals, shares, steps, prices, draw(number)


@given(search=searches(), size=st.integers(2, 5))
@examples(150)
def test_all_groups_below_a_threshold_are_listed_once(search, size):
    records, duals, shares, steps, prices, threshold = search
    points, copies, many = records.points, records.copies, len(records)
    assume(size <= many)
    wanted = {}
    for group in combinations(range(many), size):
        cost = size * plain.width(points, group) - sum(duals[i] for i in group)
        for (members, weights), step, price in zip(shares, steps, prices, strict=True):
            share = dict(zip(members.tolist(), weights.tolist(), strict=True))
            cost += price * (sum(share.get(i, 0) for i in group) // step)
        wanted[tuple(copies[list(group)])] = cost
    wanted = {group: cost for group, cost in wanted.items() if cost < threshold}
    space = make_space(points.line, points.cap, points.name, points.unit, copies)
    cuts = make_cuts(many, shares, steps, prices)
    order = np.lexsort((copies, -duals)).astype(np.int32)
    groups, costs = np.zeros((80, size), dtype=np.int32), np.zeros(80)
    for each in (0, 80):
        found, _, done = enumerate_groups(
            space, duals, cuts, order, np.array([0, many]), size, float(threshold), each, 10**6,
            make_scratch(space, cuts, size), groups, costs,
        )  # fmt: skip
        listed = [tuple(np.sort(copies[group])) for group in groups[:found]]
        assert done == many
        assert len(set(listed)) == len(listed)
        assert all(wanted[g] == cost for g, cost in zip(listed, costs, strict=False))
        if each:  # the best of all is among the best of each root
            assert min(wanted.values(), default=inf) == costs[:found].min(initial=inf)
        else:
            assert len(listed) == len(wanted)


def test_a_search_that_runs_out_of_room_or_nodes_says_so():
    points = crowded(2, rows=20).points
    space = make_space(points.line, points.cap, points.name, points.unit, np.arange(20))
    cuts, order, roots = make_cuts(20), np.arange(20, dtype=np.int32), np.array([0, 20])
    for room, nodes, all_done in ((5000, 10**6, True), (300, 10**6, False), (5000, 30, False)):
        groups, costs = np.zeros((room, 3), dtype=np.int32), np.zeros(room)
        found, _, done = enumerate_groups(
            space, np.zeros(20), cuts, order, roots, 3, 1e12, 0, nodes,
            make_scratch(space, cuts, 3), groups, costs,
        )  # fmt: skip
        assert (done == 20) == all_done
        assert found == sum((19 - root) * (18 - root) // 2 for root in range(done))


def test_cuts_hold_for_every_grouping_and_not_for_the_fractions_they_cut_off():
    pairs = np.array([[0, 1, 6], [1, 2, 6], [0, 2, 6], [3, 4, 5]], dtype=np.int32)
    value = np.array([0.5, 0.5, 0.5, 1.0])
    cuts = separate(pairs, value, np.ones(6, dtype=np.int64), set(), 0, 10)
    assert cuts
    for cut in cuts:
        assert (value * cut.times(pairs)).sum() > cut.most
        for kept in ([0, 3], [1], [2, 3]):
            assert cut.times(pairs[kept]).sum() <= cut.most
