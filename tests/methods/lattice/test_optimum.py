from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import get_args
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.crowds import KINDS, draw_crowd
from tests.methods.lattice.drawing import draw_table

import shoal
from shoal import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.methods.lattice import _class_moves, node_counts, optimum
from shoal.methods.lattice import node_counts as count_layout
from shoal.methods.lattice import optimum as branch_and_bound
from shoal.methods.lattice.lattice import Lattice, view
from shoal.methods.lattice.objectives import Costs, Objective
from shoal.methods.lattice.optimum import BoxSearch, find_optimum, sweep
from shoal.methods.lattice.problem import Problem

OBJECTIVES = get_args(Objective)
RISING = [name for name in OBJECTIVES if name not in ("discernibility", "class-size")]
MODELS = (
    KAnonymity(2),
    KAnonymity(4),
    KAnonymity(2) & LDiversity(2, "illness"),
    KAnonymity(2) & TCloseness(0.3, "illness"),
    TCloseness(0.15, "illness", "equal"),
    AlphaKAnonymity(0.6, 2, "illness"),
    EntropyLDiversity(1.6, "illness"),
    KAnonymity(2) & RecursiveLDiversity(2, 2, "illness"),
    BetaLikeness(0.8, "illness"),
    DeltaDisclosure(0.9, "illness"),
)
LITTLE_ROOM = {  # few stored tables, few boxes, and a pause after every node
    (count_layout, "_STORED_BYTES"): 400,
    (count_layout, "_STORED_SHARE"): 0,
    (count_layout, "_MAX_TABLES"): 3,
    (branch_and_bound, "_FIRST_BOXES"): 3,
    (branch_and_bound, "_READS"): 1,
}


def first_of_the_cheapest(problem, objective):
    """Return the first node whose cost is the least, by evaluating every node."""
    lattice, costs = problem.lattice, Costs(problem.lattice, objective)
    found = {}
    for node in np.ndindex(*lattice.shape):
        here = view(lattice, node, problem.model)
        if here.suppressed <= problem.limit:
            found[node] = costs.exact(node, here)
    least = min(found.values(), default=0.0)
    return next((node for node, cost in found.items() if cost <= least + 1e-12), None)


def patched(stack, values):
    for (module, name), value in values.items():
        stack.enter_context(mock.patch.object(module, name, value))


def drawn_problem(seed, model, share, weightless):
    draw = np.random.default_rng(seed)
    table = draw_table(draw, attributes=int(draw.integers(1, 5))).table
    if weightless:  # nodes of equal cost
        table = table.with_column(replace(table["q0"], weight=0))
    return Problem.above_corner(Lattice.of(table), model, share)


@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from(MODELS),
    share=st.sampled_from([0, 0.1, 0.3, 1.0]),
    objective=st.sampled_from(RISING),
    weightless=st.booleans(),
    bits=st.sampled_from([4, 9, 62]),
    little_room=st.booleans(),
)
@examples(200)
def test_branch_and_bound_the_sweep_and_brute_force_choose_the_same_node(
    seed, model, share, objective, weightless, bits, little_room
):
    problem = drawn_problem(seed, model, share, weightless)
    costs = Costs(problem.lattice, objective)
    assert costs.rises
    with ExitStack() as stack:
        patched(stack, {(_class_moves, "WORD_BITS"): bits})
        patched(stack, LITTLE_ROOM if little_room else {})
        search = BoxSearch(problem, costs)
        search.run()
    assert search.complete
    assert search.bound is None
    assert search.evaluated <= problem.lattice.nodes
    assert search.best == first_of_the_cheapest(problem, objective)
    assert search.best == sweep(problem, costs)[0]


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    model=st.sampled_from(MODELS),
    share=st.sampled_from([0, 0.2, 0.5]),
    objective=st.sampled_from(OBJECTIVES),
    large=st.booleans(),
)
@examples(120)
def test_people_with_several_rows_change_nothing_about_the_choice(
    seed, kind, model, share, objective, large
):
    table = draw_crowd(np.random.default_rng(seed), kind).table
    problem = Problem.above_corner(Lattice.of(table), model, share)
    expected = first_of_the_cheapest(problem, objective)
    large = large and objective in RISING
    with mock.patch.object(optimum, "measurable", return_value=not large):
        if expected is None:
            with pytest.raises(shoal.Infeasible):
                find_optimum(problem, Costs(problem.lattice, objective), seconds=60)
            return
        found = find_optimum(problem, Costs(problem.lattice, objective), seconds=60)
    assert found.node == expected
    assert found.proven
    assert found.candidate.suppressed == view(problem.lattice, expected, model).suppressed


@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from(MODELS),
    objective=st.sampled_from(RISING),
    steps=st.integers(1, 12),
)
@examples(80)
def test_a_search_that_is_stopped_states_a_bound_that_holds(seed, model, objective, steps):
    problem = drawn_problem(seed, model, 0.2, weightless=False)
    costs = Costs(problem.lattice, objective)
    best = first_of_the_cheapest(problem, objective)
    with mock.patch.object(branch_and_bound, "_READS", 1):
        search = BoxSearch(problem, costs)
        for _ in range(steps):
            search.run(seconds=0)
    if best is None:
        assert search.best is None
        return
    least = costs.exact(best, view(problem.lattice, best, model))
    if search.complete:
        assert search.best == best
    else:
        assert search.bound <= least + 1e-12
    if search.best is not None:
        cost = costs.exact(search.best, view(problem.lattice, search.best, model))
        assert cost >= least - 1e-12


@pytest.mark.parametrize("objective", ["discernibility", "class-size"])
def test_costs_that_fall_with_the_levels_are_left_to_the_sweep(objective):
    assert not Costs(Lattice.of(shoal.datasets.patients(50, seed=1)), objective).rises


def test_the_sweep_takes_over_if_it_is_cheaper():
    problem = Problem.above_corner(
        Lattice.of(shoal.datasets.patients(300, seed=1)), KAnonymity(3), 0.05
    )
    by_boxes = find_optimum(problem, Costs(problem.lattice, "loss"), seconds=60)
    assert "measures" not in vars(problem)
    with (
        mock.patch.object(optimum, "_ALWAYS_READ", 1),
        mock.patch.object(node_counts, "_SWEEP_SHARE", 0),
        mock.patch.object(branch_and_bound, "_READS", 1),
    ):
        by_sweep = find_optimum(problem, Costs(problem.lattice, "loss"), seconds=60)
    assert "measures" in vars(problem)
    assert by_sweep.node == by_boxes.node
    assert by_sweep.candidate.loss == by_boxes.candidate.loss
