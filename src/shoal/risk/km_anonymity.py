"""kᵐ-anonymity: what an attacker with m linked rows of a person finds.

Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008. The
check is exact: all combinations of at most m events that a person has are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.core.grouping import group
from shoal.core.publishing.frames import from_frame
from shoal.core.roles import as_names
from shoal.core.values import encoding
from shoal.errors import InputError, UnknownColumn
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.options import check_whole
from shoal.support.progress import report

_MAX_COMBINATIONS = 5_000_000_000  # counted in all
_PART = 40_000_000  # combinations held at once, about 1 GB
_MAX_KEY = 2**62

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LinkedEvents:
    """How well people hide if an attacker knows some of their linked rows.

    Parameters:
        events: The number of rows that the attacker knows, m.
        k: The number of people that every combination of them should fit.
        people: People in the file.
        fewest: The fewest people that fit a combination of at most m rows of a person.
        below: People with a combination that fits fewer than k people.
        alone: People with a combination that fits nobody else.
    """

    events: int
    k: int
    people: int
    fewest: int
    below: int
    alone: int

    @property
    def holds(self) -> bool:
        """Whether every combination fits at least k people."""
        return self.below == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "events": self.events,
            "k": self.k,
            "holds": self.holds,
            "people": self.people,
            "fewest": self.fewest,
            "below": self.below,
            "below_share": self.below / max(self.people, 1),
            "alone": self.alone,
            "alone_share": self.alone / max(self.people, 1),
        }


def linked_events(
    data: Any,
    person: str | Sequence[str],
    known: str | Sequence[str] = (),
    *,
    events: int = 2,
    k: int = 5,
) -> LinkedEvents:
    """Count the people whom an attacker with some of their rows finds.

    Rows are linked by a column that identifies people, such as a pseudonym. An event is the
    combination of values that a row has in the known columns; how often a person has the same
    event makes no difference.

    Parameters:
        data: A data frame.
        person: The columns that link the rows of a person.
        known: The columns that an attacker knows of a row; by default all others.
        events: The number of rows that the attacker knows.
        k: The number of people that every combination of rows should fit.

    Returns:
        The counts.

    Raises:
        InputError: There are too many combinations to count.

    >>> import pyarrow as pa
    >>> visits = pa.table({"who": list("aabbcc"), "ward": [1, 2, 1, 2, 1, 3]})
    >>> linked_events(visits, "who", events=1, k=2).alone
    1
    >>> linked_events(visits, "who", events=2, k=2).fewest
    1
    """
    check_whole("events", events, 1)
    check_whole("k", k, 1)
    rows = from_frame(data)
    people, items = _encoded(rows, as_names(person), as_names(known))
    return count_events(people, items, events=events, k=k)


def count_events(people: Codes, items: Codes, *, events: int, k: int) -> LinkedEvents:
    """Count people by the combinations of at most `events` items that they have.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
    """
    if not len(people):
        return LinkedEvents(events, k, 0, 0, 0, 0)
    total, count = int(people.max()) + 1, int(items.max()) + 1
    pairs = group([people, items], [total, count]).first
    owners, held = people[pairs], items[pairs].astype(np.int64)
    support = np.bincount(held, minlength=count)
    below: Bools = np.zeros(total, dtype=np.bool_)
    alone: Bools = np.zeros(total, dtype=np.bool_)
    below[owners[support[held] < k]] = True
    alone[owners[support[held] == 1]] = True
    fewest = int(support.min())
    # an event that nobody else has decides every combination with it, so larger ones leave it out
    shared = support[held] > 1
    owners, held = owners[shared], held[shared]
    dense = np.cumsum(support > 1) - 1
    sets = _Sets.of(owners, dense[held], total, int((support > 1).sum()))
    for size in range(2, events + 1):
        for keys, holders in sets.combinations(size):
            least = _mark(keys, holders, k, below, alone)
            fewest = min(fewest, least)
    return LinkedEvents(events, k, total, fewest, int(below.sum()), int(alone.sum()))


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


def _mark(keys: Keys, holders: Codes, k: int, below: Bools, alone: Bools) -> int:
    """Mark the people of combinations that few people have; return the fewest."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    support = np.diff(np.append(starts, len(ordered)))
    for limit, marked in ((k - 1, below), (1, alone)):
        rare = np.repeat(support <= limit, support)
        marked[holders[order[rare]]] = True
    return int(support.min())


def _encoded(rows: Any, person: Sequence[str], known: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the person and the event of each row as numbers without gaps."""
    names = list(rows.column_names)
    chosen = known or [name for name in names if name not in person]
    for name in (*person, *chosen):
        if name not in names:
            raise UnknownColumn(f"no column {name!r}; there are {', '.join(names)}")
    if not person or not chosen:
        raise InputError("name the column that links the rows of a person, and a known column")
    return _numbers(rows, person), _numbers(rows, chosen)


def _numbers(rows: Any, names: Sequence[str]) -> Codes:
    encoded = [encoding.encode(rows.column(name), name) for name in names]
    return group([codes for codes, _ in encoded], [len(values) for _, values in encoded]).ids
