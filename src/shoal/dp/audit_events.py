"""Events on which an audit compares two inputs: sets of outcomes that are likelier on one of them.

Events are chosen on runs that are not used for testing, so the test has no selection bias.
Neyman & Pearson, "On the problem of the most efficient tests of statistical hypotheses",
Philosophical Transactions of the Royal Society A 231, 1933.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts
from shoal.support.binomial import lower_bound, upper_bound

Outcomes = NDArray[Any] | Sequence[Hashable]
_BINS = 64  # for outcomes that are real numbers
_TRIED = 2_000  # sets of outcomes that are compared before one is chosen


@dataclass(frozen=True)
class Coded:
    """Outcomes of both inputs as codes, and the outcome of each code."""

    first: Counts
    second: Counts
    labels: tuple[Hashable, ...]

    @classmethod
    def of(cls, first: Outcomes, second: Outcomes, chosen_on: int) -> Coded:
        """Give each outcome a code; real numbers are binned by the runs that choose events."""
        if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
            return cls._numbered(list(first), list(second), chosen_on)
        if first.dtype.kind == "f":
            return cls._binned(first, second, chosen_on)
        rows = np.concatenate([first, second]).reshape(len(first) + len(second), -1)
        if rows.dtype.kind not in "biu":
            raise InputError(
                "outcomes in an array must be numbers; return other outcomes in a list"
            )
        _, where, codes = np.unique(_packed(rows), return_index=True, return_inverse=True)
        labels = (tuple(row) if len(row) > 1 else row[0] for row in rows[where].tolist())
        return cls(codes[: len(first)], codes[len(first) :], tuple(labels))

    @classmethod
    def _numbered(cls, first: list[Hashable], second: list[Hashable], chosen_on: int) -> Coded:
        numbers: dict[Hashable, int] = {}
        for outcome in (*first[:chosen_on], *second[:chosen_on], *first, *second):
            numbers.setdefault(outcome, len(numbers))
        codes = [np.array([numbers[outcome] for outcome in each]) for each in (first, second)]
        return cls(codes[0], codes[1], tuple(numbers))

    @classmethod
    def _binned(cls, first: NDArray[Any], second: NDArray[Any], chosen_on: int) -> Coded:
        if first.ndim > 1:
            raise InputError(
                "an outcome must be one number or a tuple of whole numbers, not several real "
                "numbers; return one of them, or their sum"
            )
        seen = np.concatenate([first[:chosen_on], second[:chosen_on]])
        finite = seen[np.isfinite(seen)]
        shares = np.linspace(0, 1, _BINS + 1)[1:-1]
        cuts = np.unique(np.quantile(finite if len(finite) else np.zeros(1), shares))
        ends = [-np.inf, *cuts.tolist(), np.inf]
        labels = tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(ends))
        places = [np.searchsorted(cuts, each).astype(np.int64) for each in (first, second)]
        return cls(places[0], places[1], labels)


def _packed(rows: NDArray[Any]) -> Counts:
    """(rows,) a code for each row of whole numbers, the same only for equal rows."""
    least = [int(low) for low in rows.min(axis=0)]
    widths = [int(high) - low + 1 for high, low in zip(rows.max(axis=0), least, strict=True)]
    if math.prod(widths) >= 2**62:
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    packed = np.zeros(len(rows), dtype=np.int64)
    for column, low, width in zip(rows.T, least, widths, strict=True):
        packed = packed * width + (column.astype(np.int64) - low)
    return packed


def strongest_sets(
    hits: Counts, others: Counts, claim: tuple[float, float], error: float
) -> list[Bools]:
    """Return the sets of outcomes with the strongest evidence against the claim.

    Outcomes are ranked by how much more likely they are on one input than on the other; the best
    event consists of the first outcomes in this ranking. One set is best against ε, one against δ;
    often they are the same. Only the runs that choose events are used.
    """
    epsilon, delta = claim
    seen = np.flatnonzero(
        hits + others
    )  # outcomes that occur only in tested runs are no candidates
    rank = seen[np.argsort((others[seen] + 0.5) / (hits[seen] + 0.5), kind="stable")]
    ends = np.unique(np.linspace(1, len(rank), min(len(rank), _TRIED)).astype(np.int64))
    low = lower_bound(np.cumsum(hits[rank])[ends - 1], int(hits.sum()), error)
    high = upper_bound(np.cumsum(others[rank])[ends - 1], int(others.sum()), error)
    strongest = {int(np.argmax((low - delta) / high)), int(np.argmax(low - np.exp(epsilon) * high))}
    sets = np.zeros((len(strongest), len(hits)), dtype=np.bool_)
    for inside, end in zip(sets, sorted(strongest), strict=True):
        inside[rank[: ends[end]]] = True
    return list(sets)


def in_words(inside: Bools, hits: Counts, labels: tuple[Hashable, ...]) -> str:
    """Describe the outcomes of an event: their number and the most frequent one."""
    most = reprlib.repr(labels[int(np.argmax(np.where(inside, hits, -1)))])
    size = int(inside.sum())
    return f"outcome {most}" if size == 1 else f"one of {size:,} outcomes, most often {most}"
