"""Matchings between intervals and points in a row: an exact sweep from one end to the other.

Released items are taken in order; all that matters between two of them is how many of the original
items that may have been taken still wait, by their deadline: the last place that they may have.
Nothing cancels. Where an item began to wait no longer matters for the future, so the chance of one
item is found by marking it and going back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.sweep_plan import MAX_STATE_BITS, free_shift, states_by_sum
from shoal.support.arrays import Bools, Counts, Floats, frozen
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.attacks._interval_sweep import Levels

MAX_STEPS = 60_000_000  # bound on the steps; about half of them exist, and take 20 bytes each
MAX_VISITS = 1_000_000_000  # visits of steps while items are marked
_UNIT = 2.0**-53


@dataclass(frozen=True)
class IntervalSolution:
    """Exact values of an attack by intervals.

    Parameters:
        marginals: (items,) the probability that each item is matched with its own released item.
        log_matchings: Natural logarithm of the number of perfect matchings.
        error: Bound on the relative error of each marginal.
    """

    marginals: Floats
    log_matchings: float
    error: float


class _Queue(NamedTuple):
    """Items, with positions grouped into stretches that no interval separates.

    sizes: (stretches,) the number of positions of each.
    begin, deadline, own: (items,) the first and last stretch of its interval, and its true stretch.
    possible: (items,) whether the true position is in the interval.
    """

    sizes: Counts
    begin: Counts
    deadline: Counts
    own: Counts
    possible: Bools

    @property
    def mirrored(self) -> _Queue:
        """The same items with positions in reverse order."""
        end = len(self.sizes) - 1
        turned = (end - self.deadline, end - self.begin, end - self.own)
        return _Queue(self.sizes[::-1], *turned, self.possible)

    @property
    def levels(self) -> Counts:
        """(stretches + 1,) the first level of each stretch."""
        return np.concatenate([[0], np.cumsum(self.sizes)])


def sweep(first: Counts, last: Counts, own: Counts) -> IntervalSolution | None:
    """Return the exact values of an attack by intervals.

    Parameters:
        first, last: (items,) the first and last position that each item may have, from 0.
        own: (items,) the true position of each item.

    Returns:
        The values, None if there are too many states.

    Raises:
        InputError: There is no perfect matching.
    """
    if (first > last).any():
        raise InputError(
            f"no perfect matching: {int((first > last).sum())} items fit no released item"
        )
    queue = _queue(first, last, own)
    steps, cheaper = min(
        ((_cost(each), each) for each in (queue, queue.mirrored)), key=lambda pair: pair[0]
    )
    if steps > MAX_STEPS:
        return None
    levels = _levels(cheaper)
    if _visits(cheaper, levels) > MAX_VISITS:
        return None
    return _sums(cheaper, levels)


def _queue(first: Counts, last: Counts, own: Counts) -> _Queue:
    edges = np.unique(np.concatenate([[0, len(own)], first, last + 1]))
    begin, deadline, true = (
        np.searchsorted(edges, places, side="right") - 1 for places in (first, last, own)
    )
    return _Queue(np.diff(edges), begin, deadline, true, (first <= own) & (own <= last))


class _Stretch(NamedTuple):
    """One stretch in a sweep.

    places: number of positions.
    deadlines: the deadlines of waiting items, ascending.
    started: (deadlines,) the items of each deadline whose interval has begun.
    shifts, widths: (deadlines,) the bits of a state that count the matched ones of these.
    closes: whether the first deadline is this stretch.
    """

    places: int
    deadlines: Counts
    started: Counts
    shifts: Counts
    widths: Counts
    closes: bool

    @property
    def bits(self) -> int:
        """Number of bits of a state."""
        return int((self.shifts + self.widths).max(initial=0))


def _stretches(queue: _Queue) -> Iterator[_Stretch]:
    totals = np.bincount(queue.deadline, minlength=len(queue.sizes))
    widths = np.array([total.bit_length() for total in totals.tolist()])
    order = np.argsort(queue.begin, kind="stable")
    ends = np.searchsorted(queue.begin[order], np.arange(1, len(totals)))
    started, shifts = np.zeros_like(totals), np.full(len(totals), -1)
    for stretch, items in enumerate(np.split(order, ends)):
        np.add.at(started, queue.deadline[items], 1)
        awaited = stretch + np.flatnonzero(started[stretch:])
        for deadline in awaited[shifts[awaited] < 0].tolist():
            shifts[deadline] = free_shift(shifts, widths, int(widths[deadline]))
        bits = (shifts[awaited], widths[awaited])
        places, closes = int(queue.sizes[stretch]), bool(totals[stretch])
        yield _Stretch(places, awaited, started[awaited], *bits, closes)
        shifts[stretch] = -1


def _cost(queue: _Queue) -> float:
    """Return an upper bound on the steps, infinity if there are too many."""
    total, states, matched, ended = 0.0, 1.0, 0, 0
    for each in _stretches(queue):
        if each.bits > MAX_STATE_BITS:
            return math.inf
        by_sum = states_by_sum(tuple(sorted(each.started.tolist())))
        for _ in range(each.places):
            total += states * len(each.started)
            matched += 1
            if matched - ended >= len(by_sum):
                return 0.0  # no perfect matching: the sweep raises the error
            states = float(by_sum[matched - ended])
        if total > MAX_STEPS:
            return math.inf
        if each.closes:
            ended += int(each.started[0])
            if matched < ended:
                return 0.0
            later = tuple(sorted(each.started[1:].tolist()))
            states = float(states_by_sum(later)[matched - ended])
    return total


def _levels(queue: _Queue) -> Levels:
    """Return all steps; raise an error if there is no perfect matching."""
    from shoal.risk.attacks._interval_sweep import Levels
    from shoal.risk.matchings._profile import Choices, Steps, expand

    states, counts, parts = np.zeros(1, dtype=np.int64), [0, 1], []
    for stretch, each in enumerate(_stretches(queue)):
        report("matchings", stretch, len(queue.sizes))
        fields = (1 << each.widths) - 1
        ending = [
            int(part[0]) << int(each.shifts[0]) if each.closes else 0
            for part in (fields, each.started)
        ]
        for left in reversed(range(each.places)):
            closing = (0, 0) if left else ending
            choices = Choices(each.shifts, fields, each.started, *closing)
            room = len(states) * len(fields)
            steps = Steps(*(np.empty(room, dtype=kind) for kind in "iihi"))
            table = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int32)
            after = np.empty(room, dtype=np.int64)
            made, reached = expand(states, choices, steps, table, after)
            if not reached:
                raise InputError(
                    "no perfect matching: not every item can have a released item of its own, so "
                    "the attacker's intervals contradict the released frequencies"
                )
            states = after[:reached].copy()
            counts.append(reached)
            source, target, choice, free = (part[:made].copy() for part in steps)
            parts.append((source, target, each.deadlines[choice].astype(np.int32), free))
    begins = np.cumsum([0, *(len(part[0]) for part in parts)])
    joined = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Levels(begins, np.cumsum(counts), *joined)


def _marks(queue: _Queue) -> dict[tuple[int, int], int]:
    """Return, for each deadline and true stretch of items, the first stretch where one begins."""
    marks: dict[tuple[int, int], int] = {}
    chosen = (part[queue.possible].tolist() for part in (queue.deadline, queue.own, queue.begin))
    for deadline, own, begin in zip(*chosen, strict=True):
        marks[deadline, own] = min(begin, marks.get((deadline, own), begin))
    return marks


def _visits(queue: _Queue, levels: Levels) -> int:
    """Return the number of steps that marking all items visits."""
    at = queue.levels
    return sum(
        int(levels.begins[at[own] + 1] - levels.begins[at[begin]])
        for (_, own), begin in _marks(queue).items()
    )


def _sums(queue: _Queue, levels: Levels) -> IntervalSolution:
    from shoal.risk.attacks import _interval_sweep as kernels

    size, at = len(queue.own), queue.levels
    ways, led = np.empty((2, levels.states[-1]))
    totals, peaks = np.empty((2, size))
    kernels.forth(levels, ways, totals)
    kernels.back(levels, led, peaks)
    widest = int(np.diff(levels.states).max())
    room, marginals = np.empty((2, widest)), np.zeros(size)
    chances: dict[tuple[int, int, int], float] = {}
    for (deadline, own), begin in _marks(queue).items():
        bottom, top = int(at[begin]), int(at[own])
        taken = np.empty(top - bottom + 1)
        kernels.mark(levels, ways, led, peaks, deadline, bottom, top, room, taken)
        for stretch in range(begin, own + 1):
            chances[stretch, deadline, own] = float(taken[at[stretch] - bottom])
    for item in np.flatnonzero(queue.possible).tolist():
        key = (int(queue.begin[item]), int(queue.deadline[item]), int(queue.own[item]))
        marginals[item] = chances[key]
    widest_choice = max(len(each.started) for each in _stretches(queue))
    rounded = 4 * size * (widest_choice + 2) + 2 * widest  # forward and backward, in both sums
    return IntervalSolution(frozen(marginals), math.fsum(np.log(totals)), rounded * _UNIT)
