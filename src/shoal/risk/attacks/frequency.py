"""Frequencies: the attacker knows roughly how often each item occurs and sees the true frequencies.

Items are released under other names, transactions unchanged. An item may be any released item whose
frequency lies in the interval that the attacker believes, so the graph consists of intervals and
points; a sweep over the frequencies is exact if not too many items are open at a time.
Lakshmanan, Ng & Ramesh, "To do or not to do: the dilemma of disclosing anonymized data", 2005.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.table import Table
from shoal.errors import InputError
from shoal.risk.attacks.attack import EVERYBODY, TRUE, MatchingAttack
from shoal.risk.attacks.infeasibility import EVEN
from shoal.risk.attacks.interval_sweep import IntervalSolution, sweep
from shoal.risk.matchings.structure import NOWHERE, check_mapping, split
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_range

if TYPE_CHECKING:
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
