"""Permanents by a sweep over the columns: for bands, intervals, sparse and repetitive matrices.

Columns are matched one by one in a good order; between two columns all that matters is how many
rows of each kind are used up, and only of kinds that have had a column and still await one. Where
such counts are few the sweep is quick, at any size. All terms are positive: nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.risk.matchings.collapse import KindMatrix
from shoal.risk.matchings.ordering import orders
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.matchings._profile import Choices, Steps

MOST_STEPS = 50_000_000  # that are kept in memory, 14 bytes each
MOST_BITS = 62  # of a state
_UNIT = 2.0**-53


class SweepPlan(NamedTuple):
    """A way to sweep.

    kinds: states count its rows, steps match its columns; swapped: whether those are columns, rows.
    order: kinds of columns, first to last.
    steps: an upper bound on the steps between states; infinite where the states are too many.
    """

    kinds: KindMatrix
    swapped: bool
    order: Counts
    steps: float


class SweepResult(NamedTuple):
    """What a sweep found.

    log_permanent: of the matrix; error: bound on the permanent's relative error.
    pairs: (row kinds, column kinds) expected matched pairs, as the entries of the planned kinds.
    """

    log_permanent: float
    error: float
    pairs: Floats


def plan(kinds: KindMatrix) -> SweepPlan:
    """Return the sweep with the fewest steps among some orders of columns, or of rows."""
    found = []
    for swapped, oriented in enumerate((kinds, kinds.transposed)):
        if _widest(oriented) > MOST_BITS:
            found.append(SweepPlan(oriented, bool(swapped), np.arange(0), math.inf))
            continue
        for order in orders(oriented):
            most = min([float(MOST_STEPS), *(one.steps for one in found)])
            steps = _steps(oriented, order, most)
            if math.isfinite(steps) and not fits_word(oriented, order):
                steps = math.inf
            found.append(SweepPlan(oriented, bool(swapped), order, steps))
    return min(found, key=lambda one: one.steps)


def sweep(planned: SweepPlan) -> SweepResult:
    """Go forth for the permanent and back for the pairs."""
    from shoal.risk.matchings import _profile as kernels

    lines = planned.kinds.transposed.edges
    levels = _levels(planned)
    ways, logs, rounded = [np.ones(1)], [], 0
    for column, steps, states in levels:
        after = np.empty(states)
        weights = lines.weights[lines.indptr[column] : lines.indptr[column + 1]]
        kernels.push(steps, weights, ways[-1], after)
        total = float(after.sum())
        logs.append(math.log(total))
        ways.append(after / total)
        rounded += len(weights) + 4
    pairs, led = np.zeros(len(lines.indices)), np.ones(1)
    for (column, steps, _), before in zip(reversed(levels), reversed(ways[:-1]), strict=True):
        inside = slice(lines.indptr[column], lines.indptr[column + 1])
        shares, lost = np.zeros((2, inside.stop - inside.start))
        back = np.empty(len(before))
        kernels.pull(steps, lines.weights[inside], before, led, back, shares, lost)
        shares += lost
        led = back / back.max()
        pairs[inside] += shares / shares.sum()
    error = (rounded + sum(map(abs, logs))) * _UNIT
    expected = np.zeros((len(planned.kinds.row_counts), len(planned.kinds.column_counts)))
    expected[lines.indices, np.repeat(np.arange(expected.shape[1]), np.diff(lines.indptr))] = pairs
    return SweepResult(math.fsum(logs), error, expected)


def count(planned: SweepPlan) -> int:
    """Return the number of perfect matchings, whatever their weights, exactly."""
    from shoal.risk.matchings._profile import push_whole

    kinds = planned.kinds
    choices = np.add.reduceat(kinds.column_counts[kinds.edges.indices], kinds.edges.indptr[:-1])
    most = [math.lgamma(n + 1) / n for n in choices.tolist()]  # Bregman's bound, row by row
    bits = weighted_sum(np.array(most), kinds.row_counts) / math.log(2)
    digits = int(bits / 32) + 2
    ways = np.zeros((1, digits), dtype=np.uint64)
    ways[0, 0] = 1
    for _, steps, states in _levels(planned):
        after = np.empty((states, digits), dtype=np.uint64)
        push_whole(steps, ways, after)
        ways = after
    return sum(int(digit) << (32 * place) for place, digit in enumerate(ways[0]))


def _levels(planned: SweepPlan) -> list[tuple[int, Steps, int]]:
    """Return, for each column in turn, its kind, its steps, and the states that they reach."""
    from shoal.risk.matchings._profile import Steps, expand

    levels: list[tuple[int, Steps, int]] = []
    states = np.zeros(1, dtype=np.int64)
    size = len(planned.kinds.row_kinds)
    for column, choices in _columns(planned):
        report("matchings", len(levels), size)
        most = len(states) * len(choices.shifts)
        steps = Steps(*(np.empty(most, dtype=kind) for kind in "iihi"))
        table = np.full(1 << (2 * most).bit_length(), -1, dtype=np.int32)
        found = np.empty(most, dtype=np.int64)
        made, reached = expand(states, choices, steps, table, found)
        states = found[:reached].copy()
        levels.append((column, Steps(*(part[:made].copy() for part in steps)), reached))
    return levels


def _columns(planned: SweepPlan) -> list[tuple[int, Choices]]:
    """Return, for each column in turn, its kind and what it may be matched with."""
    from shoal.risk.matchings._profile import Choices

    kinds, listed = planned.kinds, []
    widths = _widths(kinds)
    for column, rows, ended, shifts in _placed(kinds, planned.order):
        masks = [((1 << int(widths[row])) - 1) << int(shifts[row]) for row in ended]
        full = [int(kinds.row_counts[row]) << int(shifts[row]) for row in ended]
        fields = (1 << widths[rows]) - 1
        parts = (shifts[rows].copy(), fields, kinds.row_counts[rows])
        copies = int(kinds.column_counts[column])
        listed += [(column, Choices(*parts, 0, 0))] * (copies - 1)
        listed.append((column, Choices(*parts, sum(masks), sum(full))))
    return listed


def _placed(kinds: KindMatrix, order: Counts) -> Iterator[tuple[int, Counts, Counts, Counts]]:
    """Give, column by column, its kinds of rows, those that end there, and where each is counted.

    The last, (row kinds,), is the lowest bit of each count in a state, −1 of those not open.
    """
    lines, last, widths = kinds.transposed.edges, _last(kinds, order), _widths(kinds)
    shifts = np.full(len(kinds.row_counts), -1)
    for place, column in enumerate(order.tolist()):
        rows = lines.indices[lines.indptr[column] : lines.indptr[column + 1]]
        for row in rows[shifts[rows] < 0].tolist():
            shifts[row] = free_shift(shifts, widths, int(widths[row]))
        ended = rows[last[rows] == place]
        yield column, rows, ended, shifts
        shifts[ended] = -1


def fits_word(kinds: KindMatrix, order: Counts) -> bool:
    """Return whether every state fits one word, including gaps between counts."""
    widths = _widths(kinds)
    tops = (int((s + widths)[s >= 0].max()) for _, _, _, s in _placed(kinds, order))
    return max(tops) <= MOST_BITS


def _widths(kinds: KindMatrix) -> Counts:
    """(row kinds,) the bits that a count of each takes."""
    return np.array([int(rows).bit_length() for rows in kinds.row_counts])


def free_shift(shifts: Counts, widths: Counts, width: int) -> int:
    """Return the lowest place in a state where a count of so many bits fits between others."""
    place = 0
    used = np.flatnonzero(shifts >= 0)
    for row in used[np.argsort(shifts[used])].tolist():
        if shifts[row] - place >= width:
            break
        place = int(shifts[row] + widths[row])
    return place


def _widest(kinds: KindMatrix) -> int:
    """Return the most bits that the kinds of rows of one column take, whatever the order."""
    indptr, indices, _ = kinds.transposed.edges
    return int(np.add.reduceat(_widths(kinds)[indices], indptr[:-1]).max())


def _last(kinds: KindMatrix, order: Counts) -> Counts:
    """(row kinds,) the place in the order of the last column that each may have."""
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    indptr, indices, _ = kinds.edges
    return np.asarray(np.maximum.reduceat(places[indices], indptr[:-1]))


def _steps(kinds: KindMatrix, order: Counts, most: float) -> float:
    """Return an upper bound on the steps of a sweep, infinity if it is more than `most`."""
    lines, last = kinds.transposed.edges, _last(kinds, order)
    active: set[int] = set()
    matched, ended, states, total = 0, 0, 1.0, 0.0
    counts = kinds.row_counts.tolist()
    widths = [rows.bit_length() for rows in counts]
    for place, column in enumerate(order.tolist()):
        rows = lines.indices[lines.indptr[column] : lines.indptr[column + 1]]
        active.update(rows.tolist())
        if sum(widths[row] for row in active) > MOST_BITS:
            return math.inf
        inside = states_by_sum(tuple(sorted(counts[row] for row in active)))
        for _ in range(int(kinds.column_counts[column])):
            total += states * len(rows)
            matched += 1
            states = float(inside[matched - ended])
        closing = [row for row in rows.tolist() if last[row] == place]
        active.difference_update(closing)
        ended += sum(counts[row] for row in closing)
        states = float(states_by_sum(tuple(sorted(counts[row] for row in active)))[matched - ended])
        if total > most:
            return math.inf
    return total


@lru_cache(maxsize=4096)
def states_by_sum(counts: tuple[int, ...]) -> Floats:
    """Return in how many ways so many rows can be used of kinds with these counts."""
    ways = np.ones(1)
    for rows in counts:
        ways = np.convolve(ways, np.ones(rows + 1))
    return ways
