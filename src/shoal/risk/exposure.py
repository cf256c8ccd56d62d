"""Exposure: which attributes re-identify the most people if an attacker knows them.

A record is linked to the right person with probability at most one in the number of records that
are published alike in the known attributes. So at most as many people are re-identified as there
are kinds of records; if people have several records, the bound is the largest number of records of
one person in each kind, summed over kinds. Fewer attributes never increase this bound, so sets that
cannot rank high enough are skipped.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from shoal.core.classes import SUPPRESSED
from shoal.core.coverage import as_published
from shoal.core.grouping import Grouping, group
from shoal.core.members import Members
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.risk.assessment import Method, assess
from shoal.risk.graphs import check_known, published_as
from shoal.support.options import check_whole
from shoal.support.progress import report

_MAX_SETS = 20_000  # sets of one size
Names = tuple[str, ...]


@dataclass(frozen=True)
class Exposed:
    """The risk if an attacker knows these attributes, from `exposure`.

    Attributes:
        known: The attributes.
        value: Expected number of re-identified people, as in an assessment.
        low: Lower end of its interval.
        high: Upper end of its interval.
        method: How it was computed.
        forced: People with a row that can only be matched with their own records.
        bound: Upper bound on the number of re-identified people.
    """

    known: Names
    value: float
    low: float | None
    high: float | None
    method: str
    forced: int
    bound: int


@dataclass(frozen=True)
class Exposure:
    """Result of `exposure`: the sets of attributes that re-identify the most people, worst first.

    Attributes:
        people: Number of released people.
        exposed: The worst sets of each size.
        sets: Number of possible sets.
        assessed: Number of sets that were assessed.
        complete: Whether no other set can be worse; otherwise the limit was reached.
    """

    people: int
    exposed: tuple[Exposed, ...]
    sets: int
    assessed: int
    complete: bool

    def of_size(self, size: int) -> tuple[Exposed, ...]:
        """Return the sets with this number of attributes."""
        return tuple(each for each in self.exposed if len(each.known) == size)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self)


def exposure(
    release: Release,
    among: Iterable[str] | None = None,
    *,
    most: int = 3,
    top: int = 3,
    limit: int = 100,
    method: Method = "auto",
    half_width: float = 0.05,
    present: bool = True,
    seed: int | None = None,
    threads: int | None = None,
) -> Exposure:
    """Return, for each number of attributes, the sets that re-identify the most people.

    Parameters:
        release: The release.
        among: Attributes that may be known, by default the quasi-identifiers.
        most: Maximum number of attributes in a set.
        top: Number of sets to return for each size.
        limit: Maximum number of sets to assess.
        method: As for `assess`.
        half_width: As for `assess`.
        present: As for `assess`.
        seed: As for `assess`.
        threads: As for `assess`.

    Returns:
        The worst sets of each size.

    Raises:
        InputError: An option is wrong, or there are too many sets.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "sex": ["f", "m", "f", "m"]})
    >>> release = shoal.anonymize(rows, k=2, quasi=["age", "sex"])
    >>> [(each.known, each.value) for each in exposure(release).exposed]
    [(('sex',), 2.0), (('age',), 1.5), (('age', 'sex'), 2.0)]
    """
    for name, value in (("most", most), ("top", top), ("limit", limit)):
        check_whole(name, value, 1)
    names = check_known(release, among)
    most = min(most, len(names))
    if max((math.comb(len(names), size) for size in range(1, most + 1)), default=0) > _MAX_SETS:
        raise InputError(
            f"{len(names)} attributes have too many sets of up to {most}; name fewer attributes, "
            "or lower `most`"
        )
    options = {
        "method": method,
        "half_width": half_width,
        "present": present,
        "seed": seed,
        "threads": threads,
    }
    kinds, found, left, complete = _Kinds(release), [], limit, True
    for size in range(most, 0, -1):
        best, used, finished = _search(release, names, size, top, left, kinds, options)
        found += best
        left -= used
        complete &= finished
    sets = sum(math.comb(len(names), size) for size in range(1, most + 1))
    found.sort(key=lambda each: (len(each.known), -each.value, each.known))
    return Exposure(release.classes.released_people, tuple(found), sets, limit - left, complete)


def _search(
    release: Release,
    names: Names,
    size: int,
    top: int,
    limit: int,
    kinds: _Kinds,
    options: dict[str, Any],
) -> tuple[list[Exposed], int, bool]:
    """Return the worst sets of a size, how many were assessed, and whether none can be worse."""
    every = list(combinations(names, size))
    waiting = [(-kinds.at_most(each, names), at, False) for at, each in enumerate(every)]
    heapq.heapify(waiting)
    best: list[Exposed] = []
    used = 0
    while waiting:
        bound, at, sure = heapq.heappop(waiting)
        if len(best) == top and -bound <= best[-1].value:
            return best, used, True
        if not sure:
            heapq.heappush(waiting, (-kinds.count(every[at]), at, True))
            continue
        if used == limit:
            return best, used, False
        report("attributes", used)
        risk = assess(release, every[at], **options)
        figures = risk.value, risk.low, risk.high, risk.method, risk.forced
        best = sorted(
            [*best, Exposed(every[at], *figures, -bound)],
            key=lambda each: (-each.value, each.known),
        )[:top]
        used += 1
    return best, used, True


class _Kinds:
    """Upper bounds on the people that a set of attributes can re-identify, counted on demand."""

    def __init__(self, release: Release) -> None:
        self.release, self.ids = release, release.classes.ids
        self.kept = np.flatnonzero(self.ids != SUPPRESSED)
        self.known: dict[Names, int] = {}
        self.columns: dict[str, tuple[Any, int]] = {}

    def at_most(self, known: Names, names: Names) -> int:
        """Return a bound without counting, from supersets that were already counted."""
        more = [tuple(n for n in names if n in known or n == one) for one in names]
        return min(
            (self.known[each] for each in more if each in self.known),
            default=self.release.original.records,
        )

    def count(self, known: Names) -> int:
        """Return the number of kinds, or the largest records of one person summed over kinds."""
        if known not in self.known:
            for name in known:
                if name not in self.columns:
                    said = as_published(published_as(self.release, name), self.ids)
                    self.columns[name] = said.codes[self.kept], len(said.labels)
            codes, domains = zip(*(self.columns[name] for name in known), strict=True)
            self.known[known] = self._bound(group(codes, domains))
        return self.known[known]

    def _bound(self, kinds: Grouping) -> int:
        table = self.release.original
        if table.person is None:
            return len(kinds)
        person = Unit(table.person.columns, table.person.ids[self.kept], table.person.count)
        counts = None if table.counts is None else table.counts[self.kept]
        members = Members.of(kinds.ids, person, counts)
        most = np.zeros(len(kinds), dtype=np.int64)
        np.maximum.at(most, members.place, members.rows)
        return int(most.sum())
