"""Frequencies: the attacker knows roughly how often each item occurs and sees the true frequencies.

Items are released under other names, transactions unchanged. An item may be any released item whose
frequency lies in the interval that the attacker believes, so the graph has intervals on one side
and points on the other.

    frequency_attack   intervals and true frequencies as a matrix of possible matches
    FrequencyAttack    Ψ by the sweep if few items are open at a time, as of any matrix otherwise
    sweep              released items in order; between two of them only the number of original
                       items that still wait matters, by their deadline, the last position they may
                       have

All terms of the sweep are positive, so nothing cancels. When an item began to wait no longer
matters for the future, so the chance of one item is found by marking it and going back. Lakshmanan,
Ng & Ramesh, "To do or not to do: the dilemma of disclosing anonymized data", 2005.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.attacks.matching_attack import EVEN, EVERYBODY, TRUE, MatchingAttack
from shoal.risk.matchings.profile import MAX_STATE_BITS, free_shift, states_by_sum
from shoal.risk.matchings.structure import NOWHERE, ROUNDOFF, check_mapping, split
from shoal.support.arrays import Bools, Counts, Floats, frozen
from shoal.support.options import check_range
from shoal.support.progress import report
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.risk.attacks._interval_sweep import Levels
    from shoal.risk.matchings.psi import Method, Psi


_DENSE = 2000  # maximum number of items for a dense matrix


@dataclass(frozen=True, eq=False)
class FrequencyAttack(MatchingAttack):
    """An attack by frequencies.

    Parameters:
        first, last: (items,) the range of positions of each item among the released items, which
            are ordered by frequency.
        own: (items,) its true position.
    """

    first: Counts = field(repr=False)
    last: Counts = field(repr=False)
    own: Counts = field(repr=False)

    @cached_property
    def swept(self) -> IntervalSolution | None:
        """The exact values, None if too many items are open at a time."""
        return sweep(self.first, self.last, self.own)

    def psi(self, *, method: Method = "auto", **options: Any) -> Psi:
        """Return the expected number of re-identified items: exact if the sweep is possible.

        Otherwise as in `shoal.risk.psi`, which may be a random walk with an interval: see `method`
        and `guarantee` of the result.
        """
        from shoal.risk.matchings.psi import Psi

        if method not in ("auto", "exact") or self.swept is None:
            return super().psi(method=method, **options)
        chances = self.swept.marginals
        value = math.fsum(chances)
        error = (self.swept.error + 2.0**-52) * value
        parts = split(self.matrix, self.mapping).components
        forced = sum(part.size == 1 and part.mapping[0] != NOWHERE for part in parts)
        return Psi(value, value - error, value + error, "exact", "exact", chances, int(forced))

    @property
    def compliant(self) -> int:
        """Number of items whose true frequency lies in the interval."""
        return int(self._possible.sum())

    @property
    def o_estimate(self) -> float:
        """Σ 1/degree over compliant items: the estimate of the cracks by Lakshmanan et al.

        Fast, without any guarantee: it may be too high or too low.
        """
        degrees = (self.last - self.first + 1)[self._possible]
        return float((1 / degrees).sum())

    @property
    def _possible(self) -> Any:
        return (self.first <= self.own) & (self.own <= self.last)


def frequency_attack(beliefs: Any, observed: Any, *, mapping: Any = None) -> FrequencyAttack:
    """Return the attack of an attacker who believes that each item's frequency is in an interval.

    Parameters:
        beliefs: (items, 2) the lowest and the highest frequency of each original item.
        observed: (items,) the frequency of each released item, in the same unit.
        mapping: (items,) the released item of each original item, by default at the same position.
    """
    low, high = _check_beliefs(beliefs)
    seen = _check_frequencies(observed)
    if len(seen) != len(low):
        raise InputError(
            f"beliefs must cover each released item: there are {len(low)} beliefs and {len(seen)} "
            "released items"
        )
    true = check_mapping(mapping, len(seen))
    order = np.argsort(seen, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    first = np.searchsorted(seen[order], low, side="left")
    last = np.searchsorted(seen[order], high, side="right") - 1
    assumptions = (
        "The attacker believes that the frequency of each item lies in an interval, and sees the "
        "frequencies of all released items.",
        EVERYBODY,
        TRUE,
        EVEN,
    )
    ends = (frozen(first), frozen(last), frozen(places[true]))
    return FrequencyAttack(_matrix(first, last, order), true, assumptions, *ends)


def beliefs_around(frequencies: Any, within: float) -> Floats:
    """(items, 2) the intervals of an attacker whose error is at most `within`."""
    check_range("within", within, 0)
    known = _check_frequencies(frequencies)
    return np.column_stack([known - within, known + within])


def item_frequencies(
    transactions: Iterable[Iterable[Hashable]] | Table,
    *,
    transaction: str | None = None,
    item: str | None = None,
) -> Mapping[Any, float]:
    """Return the share of transactions that contain each item.

    Parameters:
        transactions: Collections of items, or a table with a row for each item of a transaction.
        transaction, item: The columns of such a table.
    """
    if isinstance(transactions, Table):
        return _of_table(transactions, transaction, item)
    held: Counter[Hashable] = Counter()
    size = 0
    for each in transactions:
        held.update(set(each))
        size += 1
    if not held:
        raise InputError("transactions are empty: no transaction has an item")
    return {name: count / size for name, count in held.items()}


def _of_table(table: Table, transaction: str | None, item: str | None) -> Mapping[Any, float]:
    if transaction is None or item is None:
        raise InputError("name the columns of a table with transaction=… and item=…")
    basket, thing = table[transaction], table[item]
    pairs = np.unique(basket.codes.astype(np.int64) * thing.domain + thing.codes)
    counts = np.bincount(pairs % thing.domain, minlength=thing.domain) / len(
        np.unique(basket.codes)
    )
    listed = zip(thing.values.to_pylist(), counts.tolist(), strict=True)
    return {name: share for name, share in listed if name is not None}


def _check_beliefs(beliefs: Any) -> tuple[Floats, Floats]:
    try:
        intervals = np.asarray(beliefs, dtype=np.float64)
    except (TypeError, ValueError):
        intervals = np.empty(0)
    if intervals.ndim != 2 or intervals.shape[1] != 2 or not len(intervals):
        raise InputError("beliefs must be pairs of numbers, (lowest, highest) for each item")
    low, high = intervals.T
    wrong = int((~(low <= high)).sum())
    if wrong:
        raise InputError(
            f"{wrong} of {len(low)} beliefs are missing, or their lowest frequency exceeds the "
            "highest"
        )
    return low, high


def _check_frequencies(frequencies: Any) -> Floats:
    try:
        numbers = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise InputError("frequencies must be numbers of at least 0, one for each item")
    return numbers


def _matrix(first: Counts, last: Counts, order: Counts) -> Any:
    """Return the matrix of possible matches, dense for few items."""
    size = len(order)
    degrees = np.maximum(last - first + 1, 0)
    begins = np.concatenate([[0], np.cumsum(degrees)])
    rows = np.repeat(np.arange(size), degrees)
    columns = order[np.arange(begins[-1]) - begins[rows] + first[rows]]
    if size <= _DENSE:
        matrix = np.zeros((size, size))
        matrix[rows, columns] = 1
        return matrix
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))


MAX_STEPS = 60_000_000  # bound on the steps; about half of them exist, and take 20 bytes each
MAX_VISITS = 1_000_000_000  # visits of steps while items are marked


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
    # positions between two neighbouring ends of intervals fit the same items: one stretch
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
        # a count keeps its bits from the stretch where its first item begins to its deadline
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
    return IntervalSolution(frozen(marginals), math.fsum(np.log(totals)), rounded * ROUNDOFF)
