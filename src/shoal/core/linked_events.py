"""Combinations of events: how many people have each set of at most m rows that one person has.

The counting behind kᵐ-anonymity. An event is the class of a row; how often a person has it makes no
difference. Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data",
VLDB 2008.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from shoal.core.grouping import group
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.progress import report

_MAX_COMBINATIONS = 5_000_000_000  # counted in all
_PART = 40_000_000  # combinations held at once, about 1 GB
_MAX_KEY = 2**62

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EventCounts:
    """What the combinations of at most m events show.

    fewest: the fewest people who have a combination that a person has, 0 if nobody has an event.
    below: (people,) who has a combination that fewer than k people have.
    alone: (people,) who has a combination that nobody else has.
    rare: (events,) which are part of a combination that fewer than k people have.
    """

    fewest: int
    below: Bools
    alone: Bools
    rare: Bools


def count_combinations(people: Codes, items: Codes, *, events: int, k: int) -> EventCounts:
    """Count the people with each combination of at most `events` events that a person has.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
        events: The most events of a combination.
        k: The number of people who should have each combination.

    Raises:
        InputError: There are too many combinations to count.

    >>> import numpy as np
    >>> people, wards = np.array([0, 0, 1, 1, 2], np.int32), np.array([0, 1, 0, 1, 0], np.int32)
    >>> count_combinations(people, wards, events=1, k=3).rare.tolist()
    [False, True]
    """
    total = int(people.max()) + 1 if len(people) else 0
    count = int(items.max()) + 1 if len(items) else 0
    below, alone = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    rare = np.zeros(count, np.bool_)
    if not len(people):
        return EventCounts(0, below, alone, rare)
    pairs = group([people, items], [total, count]).first
    owners, held = people[pairs], items[pairs].astype(np.int64)
    support = np.bincount(held, minlength=count)
    rare |= support < k
    below[owners[support[held] < k]] = True
    alone[owners[support[held] == 1]] = True
    fewest = int(support.min())
    # an event that nobody else has decides every combination with it, so larger ones leave it out:
    # but their other events are then rare too, if a combination of two is asked for
    shared = support[held] > 1
    if events > 1 and k > 1:
        rare[held[np.isin(owners, owners[~shared])]] = True
    owners, held = owners[shared], held[shared]
    dense = np.cumsum(support > 1) - 1
    names = np.flatnonzero(support > 1)
    sets = _Sets.of(owners, dense[held], total, len(names))
    for size in range(2, events + 1):
        for keys, holders in sets.combinations(size):
            found = _count(keys, k)
            fewest = min(fewest, found.fewest)
            below[holders[found.below]] = True
            alone[holders[found.alone]] = True
            for place in range(size):
                rare[names[found.keys // len(names) ** place % len(names)]] = True
    return EventCounts(fewest, below, alone, rare)


@dataclass(frozen=True, eq=False)
class _Sets:
    """The events of each person in ascending order, one matrix for each number of events.

    by_size: for each number, the people and (people, number) their events.
    count: number of different events.
    """

    by_size: dict[int, tuple[Codes, Counts]]
    count: int

    @classmethod
    def of(cls, owners: Codes, items: Counts, people: int, count: int) -> _Sets:
        sizes = np.bincount(owners, minlength=people)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        by_size = {}
        for size in np.unique(sizes[sizes > 1]).tolist():
            who = np.flatnonzero(sizes == size).astype(np.int32)
            by_size[size] = (who, items[starts[who][:, None] + np.arange(size)])
        return cls(by_size, count)

    def combinations(self, size: int) -> Iterator[tuple[Keys, Codes]]:
        """Yield all combinations of events as keys, with their people, equal keys together."""
        total = sum(len(who) * comb(each, size) for each, (who, _) in self.by_size.items())
        if total > _MAX_COMBINATIONS or self.count**size > _MAX_KEY:
            raise InputError(
                f"there are too many combinations of {size} events to count; lower events, or name "
                "fewer known columns"
            )
        parts = max(-(-total // _PART), 1)
        for part in range(parts):
            report("count combinations", part, parts)
            found = [each for each in self._part(size, part, parts) if len(each[0])]
            if found:
                keys, holders = zip(*found, strict=True)
                yield np.concatenate(keys), np.concatenate(holders)

    def _part(self, size: int, part: int, parts: int) -> Iterator[tuple[Keys, Codes]]:
        for each, (who, items) in self.by_size.items():
            if each < size:
                continue
            step = max(_PART // comb(each, size), 1)
            for start in range(0, len(who), step):
                rows = slice(start, start + step)
                yield from self._keys(who[rows], items[rows], size, part, parts)

    def _keys(
        self, who: Codes, items: Counts, size: int, part: int, parts: int
    ) -> Iterator[tuple[Keys, Codes]]:
        """Yield the combinations of some people, at most a part of all at once."""
        for places in combinations(range(items.shape[1]), size):
            keys = items[:, places[0]]
            for place in places[1:]:
                keys = keys * self.count + items[:, place]
            if parts == 1:
                yield keys, who
            else:
                mine = keys % parts == part
                yield keys[mine], who[mine]


@dataclass(frozen=True, eq=False)
class _Rare:
    """Rare combinations: their keys, and the places of the rows that hold rare or single ones."""

    fewest: int
    keys: Keys
    below: Counts
    alone: Counts


def _count(keys: Keys, k: int) -> _Rare:
    """Count equal keys, and find those that fewer than k rows hold."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    support = np.diff(np.append(starts, len(ordered)))
    below = order[np.repeat(support < k, support)]
    alone = order[np.repeat(support == 1, support)]
    return _Rare(int(support.min()), ordered[starts[support < k]], below, alone)
