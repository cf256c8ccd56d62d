"""Combinations of rows: how many people have each multiset of at most m rows that one person has.

The counting behind kᵐ-anonymity. An event is the class of a row: all cells that the row publishes.
A person has a multiset of events if she has each of them at least as often. The set form is by
Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008; it
does not cover two rows with equal cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.grouping import group
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.progress import report

_MAX_OF_PERSON = 1_000_000_000  # combinations of the rows of one person
_MAX_IN_ALL = 10_000_000_000  # combinations of the rows of each person, added up
_STEPS = 50  # reports of progress


@dataclass(frozen=True, eq=False)
class EventCounts:
    """What the multisets of at most m events show.

    fewest: the fewest people who have a multiset that a person has, 0 if nobody has an event.
    below: (people,) who has a multiset that fewer than k people have.
    alone: (people,) who has a multiset that nobody else has.
    rare: (events,) which are part of a multiset that fewer than k people have.
    """

    fewest: int
    below: Bools
    alone: Bools
    rare: Bools


def count_combinations(
    people: Codes, items: Codes, *, events: int, k: int, counts: Counts | None = None
) -> EventCounts:
    """Count the people with each multiset of at most `events` events that a person has.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
        events: The most events of a multiset.
        k: The number of people who should have each multiset.
        counts: (rows,) how many equal rows each row stands for; None for one.

    Raises:
        InputError: There are too many multisets to count.

    >>> import numpy as np
    >>> people, wards = np.array([0, 0, 1, 1, 2], np.int32), np.array([0, 1, 0, 1, 0], np.int32)
    >>> count_combinations(people, wards, events=1, k=3).rare.tolist()
    [False, True]
    >>> count_combinations(people, np.zeros(5, np.int32), events=2, k=3).fewest
    2
    """
    total = int(people.max()) + 1 if len(people) else 0
    count = int(items.max()) + 1 if len(items) else 0
    below, alone = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    rare = np.zeros(count, np.bool_)
    if not len(people):
        return EventCounts(0, below, alone, rare)
    pairs = group([people, items], [total, count])
    owners, held, sizes = people[pairs.first], items[pairs.first], pairs.sizes(counts)
    rows = np.bincount(owners, weights=sizes, minlength=total)
    most = int(min(events, rows.max()))
    times = np.minimum(sizes, most).astype(np.int32)
    _refuse_many(owners, times, total, most)
    support = np.bincount(held, minlength=count)
    rare |= support < k
    below[owners[support[held] < k]] = True
    alone[owners[support[held] == 1]] = True
    fewest = int(support.min())
    if most > 1:
        # an event that nobody else has decides every multiset with it, so the walk leaves it out:
        # but all other events of its owner are then rare too, in a multiset of two
        whole = below.copy()
        shared = support[held] > 1
        found = _walk(owners[shared], held[shared], times[shared], total, count, most, k)
        fewest = min(fewest, int(found.fewest[0]))
        whole |= found.whole
        below |= found.below
        alone |= found.alone
        rare |= found.rare
        rare[held[whole[owners]]] = True
    return EventCounts(fewest, below, alone, rare)


def _walk(
    owners: Codes, held: Codes, times: Codes, people: int, events: int, most: int, k: int
) -> Any:
    """Return what all multisets show; owners, held: (pairs,) ordered by person.

    Events with few people come first, because their multisets have the fewest extensions.
    """
    from shoal.core._combinations import Entries, Found, Walk, walk_cells

    fewest = np.full(1, len(owners) + 1, np.int64)
    below, alone, whole = (np.zeros(people, np.bool_) for _ in range(3))
    found = Found(fewest, below, alone, whole, np.zeros(events, np.bool_))
    if not len(owners):
        return found
    support = np.bincount(held, minlength=events)
    names = np.argsort(support, kind="stable")
    place = np.empty(events, np.int32)
    place[names] = np.arange(events, dtype=np.int32)
    order = group([owners, place[held]], [people, events]).first
    owners, cells, times = owners[order], place[held[order]], times[order]
    begins = np.concatenate([[0], np.cumsum(support[names])])
    by_cell = np.argsort(cells, kind="stable")
    later = _later(owners, cells, times, people, events)
    lists, opened = int(max(support.max(), later.max())), int(later.max()) if most > 2 else 0
    depths = max(most - 1, 1)
    work = Walk(
        np.zeros(events * most, np.int64),
        np.empty(min(int(later.max()), events * most), np.int64),
        np.empty((depths, lists), np.int64),
        *(np.empty((depths, opened), np.int64) for _ in range(3)),
        *(np.zeros(depths, np.int64) for _ in range(4)),
    )
    entries = Entries(owners, cells, times, begins, by_cell)
    ends = np.searchsorted(np.cumsum(later), np.linspace(0, later.sum(), _STEPS + 1)[1:])
    begin = 0
    for step, end in enumerate([*(ends[:-1] + 1).tolist(), events]):
        report("count combinations", step, _STEPS)
        walk_cells(begin, max(end, begin), k, most, entries, found, work)
        begin = max(end, begin)
    return found._replace(rare=found.rare[place])


def _later(owners: Codes, cells: Codes, times: Codes, people: int, events: int) -> Counts:
    """(events,) the occurrences of later events that the people with each event have, in all."""
    before = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])
    ends = np.cumsum(np.bincount(owners, minlength=people))
    after = before[ends[owners]] - before[1:]
    return np.bincount(cells, weights=after, minlength=events).astype(np.int64)


def _refuse_many(owners: Codes, times: Codes, people: int, most: int) -> None:
    """Reject people with more combinations than can be counted.

    Raises:
        InputError: One person has too many, or all together.
    """
    each = count_multisets(owners, times, people, most)
    for number, limit, whose in (
        (each.max(), _MAX_OF_PERSON, "the rows of one person have"),
        (each.sum(), _MAX_IN_ALL, "the rows of each person have, added up,"),
    ):
        if number > limit:
            raise InputError(
                f"{whose} {number:,.0f} combinations of at most {most:,} rows, but at most "
                f"{limit:,} can be counted; choose a smaller m, name fewer known columns, or leave "
                "out people with very many rows"
            )


def count_multisets(owners: Codes, times: Codes, people: int, most: int) -> Floats:
    """(people,) the number of different multisets of 1 to `most` events that each person has.

    Parameters:
        owners: (pairs,) a person with an event.
        times: (pairs,) how often she has it, at most `most`.

    >>> owners, times = np.array([0, 0, 1], np.int32), np.array([1, 1, 2], np.int32)
    >>> count_multisets(owners, times, 2, 2).tolist()
    [3.0, 2.0]
    """
    # The number of multisets of size n is the coefficient of z^n in the product of 1 + z + … + z^t
    # over the person's events. Its logarithmic derivative adds up over the events: the power sum i
    # of 1 + z + … + z^t is 1, or −t if t + 1 divides i. Newton's identities give the coefficients.
    with_times = [
        np.bincount(owners[times == t], minlength=people).astype(np.float64)
        for t in range(1, most + 1)
    ]
    every = np.sum(with_times, axis=0)
    sums = []
    for i in range(1, most + 1):
        dividing = [(t + 1) * number for t, number in enumerate(with_times, 1) if i % (t + 1) == 0]
        sums.append(every - np.sum(dividing, axis=0))
    of_size = [np.ones(people)]
    for n in range(1, most + 1):
        of_size.append(np.sum([sums[i - 1] * of_size[n - i] for i in range(1, n + 1)], axis=0) / n)
    found: Floats = np.sum(of_size[1:], axis=0)
    return found
