"""Permanents by a sweep over the columns: for bands, intervals, sparse and repetitive matrices.

Columns are matched one by one in a planned order. Between two columns only the number of used rows
of each open kind matters. If such counts are few, the sweep is fast at any size. All terms are
positive: no digits cancel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.risk.matchings.sweep_plan import SweepPlan, count_bits, open_counts
from shoal.support.arrays import Floats, weighted_sum
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.matchings._profile import Choices, Steps

_UNIT = 2.0**-53


class SweepResult(NamedTuple):
    """The result of a sweep.

    Parameters:
        log_permanent: Natural logarithm of the permanent.
        error: Bound on the relative error of the permanent.
        pairs: (kinds of rows, kinds of columns) expected matched pairs, for the planned kinds.
    """

    log_permanent: float
    error: float
    pairs: Floats


class _Level(NamedTuple):
    """One column of a sweep: its kind, the steps that match it, and the states they reach."""

    column: int
    steps: Steps
    states: int


def sweep(plan: SweepPlan) -> SweepResult:
    """Sweep forward for the permanent and backward for the pairs."""
    from shoal.risk.matchings import _profile as kernels

    lines = plan.kinds.transposed.edges
    levels = _levels(plan)
    weights_before, logs, rounded = [np.ones(1)], [], 0
    for level in levels:
        after = np.empty(level.states)
        weights = lines.weights[lines.indptr[level.column] : lines.indptr[level.column + 1]]
        kernels.push(level.steps, weights, weights_before[-1], after)
        total = float(after.sum())
        logs.append(math.log(total))
        weights_before.append(after / total)
        rounded += len(weights) + 4
    pairs, weights_after = np.zeros(len(lines.indices)), np.ones(1)
    for level, before in zip(reversed(levels), reversed(weights_before[:-1]), strict=True):
        inside = slice(lines.indptr[level.column], lines.indptr[level.column + 1])
        shares, lost = np.zeros((2, inside.stop - inside.start))
        back = np.empty(len(before))
        kernels.pull(level.steps, lines.weights[inside], before, weights_after, back, shares, lost)
        shares += lost
        weights_after = back / back.max()
        pairs[inside] += shares / shares.sum()
    error = (rounded + sum(map(abs, logs))) * _UNIT
    expected = np.zeros((len(plan.kinds.row_counts), len(plan.kinds.column_counts)))
    expected[lines.indices, np.repeat(np.arange(expected.shape[1]), np.diff(lines.indptr))] = pairs
    return SweepResult(math.fsum(logs), error, expected)


def count(plan: SweepPlan) -> int:
    """Return the exact number of perfect matchings, whatever their weights."""
    from shoal.risk.matchings._profile import push_whole

    kinds = plan.kinds
    choices = np.add.reduceat(kinds.column_counts[kinds.edges.indices], kinds.edges.indptr[:-1])
    bounds = [math.lgamma(n + 1) / n for n in choices.tolist()]  # Bregman's bound, row by row
    bits = weighted_sum(np.array(bounds), kinds.row_counts) / math.log(2)
    digits = int(bits / 32) + 2
    before = np.zeros((1, digits), dtype=np.uint64)
    before[0, 0] = 1
    for level in _levels(plan):
        after = np.empty((level.states, digits), dtype=np.uint64)
        push_whole(level.steps, before, after)
        before = after
    return sum(int(digit) << (32 * power) for power, digit in enumerate(before[0]))


def _levels(plan: SweepPlan) -> list[_Level]:
    """Return the levels of a sweep, one for each column in order."""
    from shoal.risk.matchings._profile import Steps, expand

    levels: list[_Level] = []
    states = np.zeros(1, dtype=np.int64)
    size = len(plan.kinds.row_kinds)
    for column, choices in _columns(plan):
        report("matchings", len(levels), size)
        room = len(states) * len(choices.shifts)
        steps = Steps(*(np.empty(room, dtype=kind) for kind in "iihi"))
        table = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int32)
        reached = np.empty(room, dtype=np.int64)
        step_count, state_count = expand(states, choices, steps, table, reached)
        states = reached[:state_count].copy()
        used = Steps(*(part[:step_count].copy() for part in steps))
        levels.append(_Level(column, used, state_count))
    return levels


def _columns(plan: SweepPlan) -> list[tuple[int, Choices]]:
    """Return, for each column in order, its kind and the rows it can be matched with."""
    from shoal.risk.matchings._profile import Choices

    kinds, columns = plan.kinds, []
    widths = count_bits(kinds)
    for column, rows, closing, shifts in open_counts(kinds, plan.order):
        masks = [((1 << int(widths[row])) - 1) << int(shifts[row]) for row in closing]
        full = [int(kinds.row_counts[row]) << int(shifts[row]) for row in closing]
        fields = (1 << widths[rows]) - 1
        counts = shifts[rows].copy(), fields, kinds.row_counts[rows]
        copies = int(kinds.column_counts[column])
        columns += [(column, Choices(*counts, 0, 0))] * (copies - 1)
        columns.append((column, Choices(*counts, sum(masks), sum(full))))
    return columns
