"""Permanents by a sweep over the columns: for bands, intervals, sparse and repetitive matrices.

Columns are matched one by one in a planned order. Between two columns only the number of used rows
of each open kind matters: a kind of rows that has had a column and awaits another one.

    column         1      2      3      4
    rows of kind   a b    b      b c    c       a closes with column 1, b with 3
    open           b      b      c      –       the counts that a state packs into one integer

    plan_sweep   the order of columns, or of rows, with the fewest states
    sweep        forward for the permanent, backward for the pairs (`_profile.py`)
    count        forward in exact integers

If few counts are open, the sweep is fast at any size. All terms are positive: no digits cancel.
Cuthill & McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM National Conference,
1969.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.risk.matchings.structure import ROUNDOFF, KindMatrix
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.matchings._profile import Choices, Steps


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
    # backward: sums of states are rescaled at every level, and the shares of a column sum to 1
    for level, before in zip(reversed(levels), reversed(weights_before[:-1]), strict=True):
        inside = slice(lines.indptr[level.column], lines.indptr[level.column + 1])
        shares, lost = np.zeros((2, inside.stop - inside.start))
        back = np.empty(len(before))
        kernels.pull(level.steps, lines.weights[inside], before, weights_after, back, shares, lost)
        shares += lost
        weights_after = back / back.max()
        pairs[inside] += shares / shares.sum()
    error = (rounded + sum(map(abs, logs))) * ROUNDOFF
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
        # 14 bytes a step, which MAX_STEPS counts on: source, target, choice, free
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


MAX_STEPS = 50_000_000  # steps of a sweep, which are kept in memory: 14 bytes each
MAX_STATE_BITS = 62  # bits of a state
_MAX_GREEDY_ENTRIES = 30_000_000  # entries that the greedy order may read


class SweepPlan(NamedTuple):
    """A plan of a sweep.

    Parameters:
        kinds: The matrix; states count its rows, steps match its columns.
        swapped: Whether the rows of `kinds` are the columns of the planned matrix.
        order: Kinds of columns, first to last.
        steps: Upper bound on the steps between states, infinite if there are too many states.
    """

    kinds: KindMatrix
    swapped: bool
    order: Counts
    steps: float


class Opening(NamedTuple):
    """One kind of columns in the order of a plan.

    Parameters:
        column: The kind of columns.
        rows: Its kinds of rows.
        closing: Those of its kinds of rows that have no later column.
        shifts: (kinds of rows,) the lowest bit of each count in a state, −1 for kinds that are not
            open. The array is reused by the next opening.
    """

    column: int
    rows: Counts
    closing: Counts
    shifts: Counts


def plan_sweep(kinds: KindMatrix) -> SweepPlan:
    """Return the plan with the fewest steps among several orders of columns, or of rows."""
    plans: list[SweepPlan] = []
    for swapped, oriented in enumerate((kinds, kinds.transposed)):
        if _widest(oriented) > MAX_STATE_BITS:
            plans.append(SweepPlan(oriented, bool(swapped), np.arange(0), math.inf))
            continue
        for order in orders(oriented):
            limit = min([float(MAX_STEPS), *(plan.steps for plan in plans)])
            steps = _bound_steps(oriented, order, limit)
            if math.isfinite(steps) and not fits_word(oriented, order):
                steps = math.inf
            plans.append(SweepPlan(oriented, bool(swapped), order, steps))
    return min(plans, key=lambda plan: plan.steps)


def orders(kinds: KindMatrix) -> Iterator[Counts]:
    """Yield some orders of the kinds of columns: as they are, of small bandwidth, greedy."""
    columns = len(kinds.column_counts)
    yield np.arange(columns)
    if columns > 2:
        yield _order_by_bandwidth(kinds)
        if columns * len(kinds.edges.indices) <= _MAX_GREEDY_ENTRIES:
            yield _order_greedily(kinds)


def _order_by_bandwidth(kinds: KindMatrix) -> Counts:
    """Return the reverse Cuthill–McKee order, which keeps neighbours close together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows, columns = len(kinds.row_counts), len(kinds.column_counts)
    heads = np.repeat(np.arange(rows), np.diff(kinds.edges.indptr))
    tails = kinds.edges.indices + rows
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(rows + columns, rows + columns))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    return np.asarray(order[order >= rows] - rows, dtype=np.int64)


def _order_greedily(kinds: KindMatrix) -> Counts:
    """Return the order whose next column always leaves the fewest counts open."""
    indptr, indices, _ = kinds.transposed.edges
    width = np.log(kinds.row_counts + 1.0)
    remaining = np.bincount(indices, minlength=len(width))
    opened = np.zeros(len(width), dtype=np.bool_)
    taken = np.zeros(len(indptr) - 1)  # infinity for columns in the order
    order = np.empty(len(taken), dtype=np.int64)
    for position in range(len(order)):
        change = np.where(opened, 0.0, width) - np.where(remaining == 1, width, 0.0)
        column = int((np.add.reduceat(change[indices], indptr[:-1]) + taken).argmin())
        rows = indices[indptr[column] : indptr[column + 1]]
        opened[rows] = True
        remaining[rows] -= 1
        taken[column] = np.inf
        order[position] = column
    return order


def open_counts(kinds: KindMatrix, order: Counts) -> Iterator[Opening]:
    """Yield, column by column, which counts are open and where a state keeps them."""
    lines, last, widths = kinds.transposed.edges, _last_columns(kinds, order), count_bits(kinds)
    shifts = np.full(len(kinds.row_counts), -1)
    for position, column in enumerate(order.tolist()):
        rows = lines.indices[lines.indptr[column] : lines.indptr[column + 1]]
        for row in rows[shifts[rows] < 0].tolist():
            shifts[row] = free_shift(shifts, widths, int(widths[row]))
        closing = rows[last[rows] == position]
        yield Opening(column, rows, closing, shifts)
        shifts[closing] = -1


def fits_word(kinds: KindMatrix, order: Counts) -> bool:
    """Return whether every state fits into one integer, including gaps between counts."""
    widths = count_bits(kinds)
    shifts = (opening.shifts for opening in open_counts(kinds, order))
    tops = (int((each + widths)[each >= 0].max()) for each in shifts)
    return max(tops) <= MAX_STATE_BITS


def count_bits(kinds: KindMatrix) -> Counts:
    """(kinds of rows,) the bits that the count of each kind takes."""
    return np.array([int(rows).bit_length() for rows in kinds.row_counts])


def free_shift(shifts: Counts, widths: Counts, width: int) -> int:
    """Return the lowest bit of a state at which a count of `width` bits fits between others.

    Parameters:
        shifts: The lowest bit of each count, −1 for counts that are not open.
        widths: The bits of each count.
        width: The bits of the new count.
    """
    # first fit: the lowest gap between the open counts, or the place above the highest
    bit = 0
    used = np.flatnonzero(shifts >= 0)
    for row in used[np.argsort(shifts[used])].tolist():
        if shifts[row] - bit >= width:
            break
        bit = int(shifts[row] + widths[row])
    return bit


def _widest(kinds: KindMatrix) -> int:
    """Return the most bits that the rows of one column take; every order needs as many."""
    indptr, indices, _ = kinds.transposed.edges
    return int(np.add.reduceat(count_bits(kinds)[indices], indptr[:-1]).max())


def _last_columns(kinds: KindMatrix, order: Counts) -> Counts:
    """(kinds of rows,) the position in the order of the last column of each kind."""
    positions = np.empty(len(order), dtype=np.int64)
    positions[order] = np.arange(len(order))
    indptr, indices, _ = kinds.edges
    return np.asarray(np.maximum.reduceat(positions[indices], indptr[:-1]))


def _bound_steps(kinds: KindMatrix, order: Counts, limit: float) -> float:
    """Return an upper bound on the steps of a sweep, infinity if it exceeds the limit."""
    lines, last = kinds.transposed.edges, _last_columns(kinds, order)
    active: set[int] = set()
    matched, closed, states, total = 0, 0, 1.0, 0.0
    counts = kinds.row_counts.tolist()
    widths = [rows.bit_length() for rows in counts]
    for position, column in enumerate(order.tolist()):
        rows = lines.indices[lines.indptr[column] : lines.indptr[column + 1]]
        active.update(rows.tolist())
        if sum(widths[row] for row in active) > MAX_STATE_BITS:
            return math.inf
        # all states after n matched columns use n rows in all; closed kinds account for `closed`
        inside = states_by_sum(tuple(sorted(counts[row] for row in active)))
        for _ in range(int(kinds.column_counts[column])):
            total += states * len(rows)
            matched += 1
            states = float(inside[matched - closed])
        closing = [row for row in rows.tolist() if last[row] == position]
        active.difference_update(closing)
        closed += sum(counts[row] for row in closing)
        left = states_by_sum(tuple(sorted(counts[row] for row in active)))
        states = float(left[matched - closed])
        if total > limit:
            return math.inf
    return total


@lru_cache(maxsize=4096)
def states_by_sum(counts: tuple[int, ...]) -> Floats:
    """Return, for each number of used rows, the number of states of kinds with these counts."""
    states = np.ones(1)
    for rows in counts:
        states = np.convolve(states, np.ones(rows + 1))
    return states
