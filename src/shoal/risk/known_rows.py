"""Re-identification by an attacker who knows several rows of one person.

The rows of one person are published without a link between them, but few people may have rows in
the same classes: a person who was in hospital in March and in June has a row in both classes.

    known_rows      the attacker knows the classes of 1 to m rows of a person
    linked_events   kᵐ-anonymity: the same rows are linked by a published identifier; all multisets
                    of at most m rows of a person are counted, so the check is exact

Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008,
here for multisets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from shoal.errors import InputError, UnknownColumn
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_whole
from shoal.support.progress import report
from shoal.table import encoding
from shoal.table.classes import Classes
from shoal.table.frames import from_frame
from shoal.table.linked import count_combinations
from shoal.table.members import Members
from shoal.table.people import group
from shoal.table.roles import as_names

_BLOCK = 4_096  # sets whose candidates are counted at once


@dataclass(frozen=True)
class KnownRows:
    """Risk if an attacker knows some rows of a person and their classes, from `known_rows`.

    The candidates are all people with at least as many rows in each of these classes; the risk is 1
    divided by their number.

    Attributes:
        rows: Number of known rows.
        people: People with at least this many released rows.
        average: The risk with the most identifying rows of each person, averaged over people.
        random: The same with randomly drawn rows.
        highest: The highest risk of a person.
        singled_out: People with no other candidate.
        complete: Whether all sets of rows were evaluated; if not, sets were sampled for people with
            many rows, and `average`, `highest` and `singled_out` are lower bounds.
    """

    rows: int
    people: int
    average: float
    random: float
    highest: float
    singled_out: int
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


def known_rows(
    classes: Classes, most: int = 3, *, max_sets: int = 200_000, seed: int = 0
) -> tuple[KnownRows, ...]:
    """Return the risk if an attacker knows 1 to `most` rows of a person.

    The attacker is assumed to know the original rows of everyone, and so who has rows in which
    class. That is more than most attackers know: without it there are more candidates.

    Parameters:
        classes: Classes of a release or of an unprotected table, with declared people.
        most: Maximum number of known rows.
        max_sets: Approximate maximum number of sets of two or more rows to evaluate; beyond that,
            sets are sampled.
        seed: Seed of sampled sets.

    Returns:
        One entry for each number of rows that someone has; none if each row is a person.

    Raises:
        InputError: `most` or `max_sets` is less than 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> visits = pa.table({"id": [1, 1, 2, 2, 3, 3], "month": [3, 6, 3, 9, 6, 9]})
    >>> table = shoal.read(visits, roles={"month": "quasi"}, person="id")
    >>> [(each.rows, each.average) for each in known_rows(shoal.Classes.by_quasi(table))]
    [(1, 0.5), (2, 1.0)]
    """
    check_whole("most", most, 1)
    check_whole("max_sets", max_sets, 1)
    person = classes.table.person
    if person is None:
        return ()
    members = Members.of(classes.ids, person, classes.table.counts)
    figures = []
    for rows in range(1, most + 1):
        report("known rows", rows - 1, most)
        one = _Sets(members, rows, max_sets, seed).measure()
        if one is not None:
            figures.append(one)
    return tuple(figures)


class _Sets:
    """The sets of `rows` rows of each person, rows of one class being alike.

    A requirement is a class with a number of rows in it: the people who meet it have as many there.
    """

    def __init__(self, members: Members, rows: int, max_sets: int, seed: int) -> None:
        self.members, self.rows = members, rows
        self.random = np.random.default_rng(seed)
        self.order = np.argsort(members.person, kind="stable")
        self.ends = np.searchsorted(members.person[self.order], np.arange(members.count + 1))
        total = np.bincount(members.person, members.rows, minlength=members.count)
        self.people = np.flatnonzero(total >= rows)
        sets = [comb(int(many), rows) for many in total[self.people]]
        self.limit = max(sets, default=1) if rows == 1 else _share(sets, max_sets)
        self.complete = True

    def measure(self) -> KnownRows | None:
        """Return the figures, None if no one has this many rows."""
        if not len(self.people):
            return None
        owner, sets, weights = [], [], []
        for place, person in enumerate(self.people.tolist()):
            for known, times in self._sets_of(person):
                owner.append(place)
                sets.append(known)
                weights.append(times)
        risks = 1 / self._candidates(sets)
        people, owners = len(self.people), np.array(owner)
        highest = np.zeros(people)
        np.maximum.at(highest, owners, risks)
        drawn = np.bincount(owners, risks * weights, minlength=people) / np.bincount(
            owners, weights, minlength=people
        )
        return KnownRows(
            rows=self.rows,
            people=people,
            average=float(highest.mean()),
            random=float(drawn.mean()),
            highest=float(highest.max()),
            singled_out=int((highest == 1).sum()),
            complete=self.complete,
        )

    def _sets_of(self, person: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield different sets of a person's rows by their classes, and how often each occurs."""
        entries = self.order[self.ends[person] : self.ends[person + 1]]
        rows = np.repeat(self.members.place[entries], self.members.rows[entries])
        if comb(len(rows), self.rows) <= self.limit:
            yield from Counter(combinations(rows.tolist(), self.rows)).items()
            return
        self.complete = False
        drawn = (
            np.sort(self.random.choice(rows, self.rows, replace=False)).tolist()
            for _ in range(self.limit)
        )
        yield from Counter(map(tuple, drawn)).items()

    def _candidates(self, sets: list[tuple[int, ...]]) -> Floats:
        """Return, for each set, the people with as many rows in each of its classes."""
        from scipy.sparse import csr_array

        # a person has r rows of a class exactly if they hold the key (class, rank r − 1), so the
        # people who fit a set are those who hold the keys of all its rows
        wanted = np.array(sets, dtype=np.int64).reshape(-1, self.rows)
        place, person, rank = self._ranked()
        ranks = int(rank.max()) + 1
        shape = (int(self.members.place.max()) + 1) * ranks, self.members.count
        ones = np.ones(len(place), dtype=np.int32)
        holders = csr_array((ones, (place * ranks + rank, person)), shape=shape)
        keys = wanted * ranks + _repeats(wanted)
        counts = []
        for begin in range(0, len(keys), _BLOCK):
            block = keys[begin : begin + _BLOCK]
            met = holders[block[:, 0]]
            for known in range(1, self.rows):
                met = met.multiply(holders[block[:, known]]).tocsr()
            counts.append(np.diff(met.indptr))
        return np.concatenate(counts).astype(np.float64)

    def _ranked(self) -> tuple[Counts, Codes, Counts]:
        """Return class, person and rank of rows; ranks of a person in a class start at 0."""
        many = np.minimum(self.members.rows, self.rows)
        entry = np.repeat(np.arange(len(many)), many)
        rank = np.arange(len(entry)) - np.repeat(np.cumsum(many) - many, many)
        return self.members.place[entry].astype(np.int64), self.members.person[entry], rank


def _share(wanted: list[int], total: int) -> int:
    """Return the most that everybody can get, at least 1, if nobody gets more than they want."""
    left = total
    for place, amount in enumerate(ordered := sorted(wanted)):
        share = left // (len(ordered) - place)
        if amount > share:
            return max(share, 1)
        left -= amount
    return max(ordered, default=1)


def _repeats(sets: Counts) -> Counts:
    """Return how often the class of each known row occurs before it in its set."""
    ranks = np.zeros_like(sets)
    for row in range(1, sets.shape[1]):
        ranks[:, row] = (sets[:, :row] == sets[:, [row]]).sum(axis=1)
    return ranks


@dataclass(frozen=True)
class LinkedEvents:
    """How well people hide if an attacker knows some of their linked rows.

    Parameters:
        events: The number of rows that the attacker knows, m.
        k: The number of people that every combination of them should fit.
        people: People in the file.
        fewest: The fewest people that fit a combination of at most m rows of a person; they have
            each of these rows at least as often.
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
    combination of values that a row has in the known columns. Known rows may be equal: two known
    rows of one event fit the people who have at least two rows of it.

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
    >>> often = pa.table({"who": list("aabc"), "ward": [1, 1, 1, 1]})
    >>> linked_events(often, "who", events=2, k=2).alone
    1
    """
    check_whole("events", events, 1)
    check_whole("k", k, 1)
    rows = from_frame(data)
    people, items = _encoded(rows, as_names(person), as_names(known))
    return count_events(people, items, events=events, k=k)


def count_events(people: Codes, items: Codes, *, events: int, k: int) -> LinkedEvents:
    """Count people by the multisets of at most `events` items that they have.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
    """
    counts = count_combinations(people, items, events=events, k=k)
    below, alone = int(counts.below.sum()), int(counts.alone.sum())
    return LinkedEvents(events, k, len(counts.below), counts.fewest, below, alone)


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
