"""The search for a bound, against all divisions of small tables and all of their classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.examples import examples
from tests.methods.partition.naive import best_division, class_losses, small_tables
from tests.methods.partition.plain import crowd

import shoal
from shoal.methods.partition import ascent
from shoal.methods.partition.ascent import Ascent, lay_out_kinds
from shoal.support.progress import listening


def bound_of(table, k, *, use_hierarchies=False):
    space = lay_out_kinds(table, use_hierarchies=use_hierarchies)
    found = Ascent(space, k, np.inf).run()
    assert found.complete
    return found.units * space.scale


def program_value(rows, losses):
    """The least loss of a fractional division into the classes."""
    covers = np.array([[row in members for members in losses] for row in range(rows)])
    return linprog(list(losses.values()), A_eq=covers, b_eq=np.ones(rows)).fun


def classes_of_kinds(table, k, *, use_hierarchies=False):
    """The kinds and the loss of each class of k to 2k − 1 records."""
    kind = table.distinct().inverse
    losses = class_losses(table, k, use_hierarchies=use_hierarchies, largest=2 * k - 1)
    return [(kind[list(rows)], loss) for rows, loss in losses.items()]


@examples(40)
@given(small_tables())
def test_no_division_loses_less_than_the_bound(case):
    table, k = case
    losses = class_losses(table, k, largest=min(2 * k - 1, len(table)))
    best = best_division(tuple(range(len(table))), losses)
    assert bound_of(table, k) <= best * (1 + 1e-9) + 1e-7


@examples(30)
@given(small_tables())
def test_the_bound_is_the_value_of_the_program_over_all_classes(case):
    table, k = case
    losses = class_losses(table, k, largest=min(2 * k - 1, len(table)))
    value = program_value(len(table), losses)
    assert bound_of(table, k) == pytest.approx(value, rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_labels_of_hierarchies_have_their_own_bound(seed):
    table = shoal.datasets.patients(8, seed=seed)
    losses = class_losses(table, 3, use_hierarchies=True, largest=5)
    value = program_value(8, losses)
    best = best_division(tuple(range(8)), losses)
    bound = bound_of(table, 3, use_hierarchies=True)
    assert bound == pytest.approx(value, rel=2e-3)
    assert bound_of(table, 3) < bound <= best


@examples(25)
@given(
    small_tables(),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 4, 10**6]),
    st.sampled_from([1, 3, 10**6]),
)
def test_repaired_prices_never_exceed_the_loss_of_a_class(case, seed, boxes, room):
    table, k = case
    if len(table) < 2 * k:
        return
    space = lay_out_kinds(table, use_hierarchies=False)
    drawn = np.random.default_rng(seed).integers(-(2**26), 2**29, len(space.kinds.count))
    with pytest.MonkeyPatch.context() as patch:  # searches that run out of boxes or of room
        patch.setattr(ascent, "_MOST_BOXES", boxes)
        patch.setattr(ascent, "_ROOM", (2 * k + 1) * room)
        patch.setattr(ascent, "_LEAST_ROOM", 1)
        prices, _, _ = Ascent(space, k, np.inf).repair(drawn)
    assert (prices <= drawn).all()
    columns = len(table.quasi)
    for kinds, loss in classes_of_kinds(table, k):
        assert prices[kinds].sum() <= loss / space.scale + len(kinds) * columns


def test_classes_that_the_repair_lists_cost_what_they_are_published_at():
    table, k = crowd(1, rows=12), 3
    space = lay_out_kinds(table, use_hierarchies=False)
    known = {tuple(sorted(kinds)): loss for kinds, loss in classes_of_kinds(table, k)}
    high = np.full(len(space.kinds.count), 2**29)
    _, members, costs = Ascent(space, k, np.inf).repair(high)
    assert len(members) > 10
    for kinds, cost in zip(members, costs, strict=True):
        loss = known[tuple(sorted(kinds[kinds >= 0]))]
        assert cost * space.scale == pytest.approx(loss, abs=1e-6)


def test_a_weighted_table_has_the_bound_of_its_records():
    table = crowd(2, rows=40).take(np.repeat(np.arange(40), 1 + np.arange(40) % 3))
    weighted = table.distinct().table
    assert weighted.counts.sum() == len(table)
    assert bound_of(weighted, 4) == bound_of(table, 4) > 0


def test_the_order_of_the_rows_does_not_change_the_bound():
    table = crowd(3, rows=60)
    shuffled = table.take(np.random.default_rng(0).permutation(60))
    assert bound_of(table, 3) == bound_of(shuffled, 3)


def test_a_search_without_time_still_returns_a_bound():
    space = lay_out_kinds(crowd(4, rows=80), use_hierarchies=False)
    stopped, full = (Ascent(space, 3, seconds).run() for seconds in (0.0, np.inf))
    assert not stopped.complete
    assert 0 < stopped.units < full.units


def test_a_listener_can_interrupt_the_search():
    space = lay_out_kinds(crowd(5, rows=80), use_hierarchies=False)

    def stop(progress):
        assert progress.stage == "bound"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(stop):
        Ascent(space, 3, np.inf).run()


def test_widths_keep_their_order_if_a_label_is_wider_than_the_one_above_it():
    table = shoal.datasets.patients(60, seed=1)
    kinds = lay_out_kinds(replace(table), use_hierarchies=True).kinds
    for tree in range(kinds.leaf.shape[1]):
        first, domain, levels = kinds.first[tree], kinds.domain[tree], kinds.levels[tree]
        cost = kinds.cost[first : first + domain * levels].reshape(levels, domain)
        assert (np.diff(cost, axis=0) >= 0).all()
        assert (cost[0] == 0).all()
