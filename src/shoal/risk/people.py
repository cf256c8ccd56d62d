"""Figures of people from figures of rows: a person is found when one of her rows is.

Rows are what is published and matched. Everything here turns their figures into figures of people,
and is the identity where each row is a person of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.grouping import group, sum_by
from shoal.core.people import Unit
from shoal.core.people_fits import count_reached
from shoal.core.table import Table
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen

Numbers = TypeVar("Numbers", Counts, Floats)


@dataclass(frozen=True, eq=False)
class Members:
    """People and the classes of their rows: one entry for each pair of a class and a person.

    place, person: (pairs,) the class and the person. rows: (pairs,) her records in that class.
    count: how many people there are, those without a row in any class included.
    """

    place: Codes
    person: Codes
    rows: Counts
    count: int

    @classmethod
    def of(cls, ids: Codes, person: Unit, counts: Counts | None = None) -> Members:
        """Return the members of the classes of some rows; rows of class −1 are left out."""
        kept = np.flatnonzero(ids >= 0)
        if not len(kept):
            none = np.zeros(0, dtype=np.int32)
            return cls(none, none, np.zeros(0, dtype=np.int64), person.count)
        classes = int(ids.max()) + 1
        found = group([ids[kept], person.ids[kept]], [classes, person.count])
        first = kept[found.first]
        rows = found.sizes(None if counts is None else counts[kept])
        return cls(frozen(ids[first]), frozen(person.ids[first]), frozen(rows), person.count)

    def __len__(self) -> int:
        return len(self.place)

    @property
    def present(self) -> Bools:
        """(people,) whether each has a row in some class."""
        found = np.zeros(self.count, dtype=np.bool_)
        found[self.person] = True
        return found

    def count_people(self, classes: Bools) -> int:
        """Return how many people have a row in one of these classes."""
        return len(np.unique(self.person[classes[self.place]]))


@dataclass(frozen=True, eq=False)
class KindEdges:
    """Which kinds of records each kind of rows fits; the kinds of each row ascend.

    indptr, indices: the kinds of records of each kind of rows. kinds: how many kinds of records.
    """

    indptr: Counts
    indices: Codes
    kinds: int

    @property
    def heads(self) -> Codes:
        """(edges,) the kind of rows of each."""
        rows = np.arange(len(self.indptr) - 1, dtype=np.int32)
        return np.repeat(rows, np.diff(self.indptr))

    def turned(self) -> KindEdges:
        """Return the edges the other way round: the kinds of rows that fit each kind of records."""
        order = np.argsort(self.indices, kind="stable")
        widths = np.bincount(self.indices, minlength=self.kinds)
        indptr = np.concatenate(([0], np.cumsum(widths)))
        return KindEdges(indptr, self.heads[order], len(self.indptr) - 1)

    def sum_records(self, copies: Counts) -> Counts:
        """(kinds of rows,) the records that each fits."""
        return sum_by(self.heads, len(self.indptr) - 1, copies[self.indices])

    def count_people(self, members: Members) -> Counts:
        """(kinds of rows,) the people who have a record that each fits."""
        from scipy.sparse import csr_array

        shape = len(self.indptr) - 1, self.kinds
        ones = np.ones(len(self.indices), dtype=np.int32)
        graph = csr_array((ones, self.indices, self.indptr), shape=shape)
        held = np.ones(len(members), dtype=np.int32), (members.place, members.person)
        return count_reached(graph, csr_array(held, shape=(self.kinds, members.count)))

    def own_records(
        self,
        rows: Codes,
        records: Codes,
        person: Unit,
        counts: Counts | None,
        weights: Floats | None = None,
    ) -> Floats:
        """(rows,) how many of the records that a row fits are its person's.

        rows, records: (rows,) the kind of each row and of its own record, −1 for a record that is
            not released.
        weights: (edges,) what each record of an edge counts for, by default 1.
        """
        asking = Members.of(rows, person)
        found = self.own_of(asking, Members.of(records, person, counts), weights)
        keys = asking.place.astype(np.int64) * person.count + asking.person
        wanted = rows.astype(np.int64) * person.count + person.ids
        return found[np.searchsorted(keys, wanted)]

    def own_of(self, asking: Members, holding: Members, weights: Floats | None = None) -> Floats:
        """(asking pairs,) how many of the records that a kind of rows fits are the same person's.

        asking, holding: the people of kinds of rows, and of kinds of records.
        """
        order = np.argsort(holding.person, kind="stable")
        ends = np.searchsorted(holding.person[order], np.arange(holding.count + 1))
        many = np.diff(ends)[asking.person]  # kinds of records of the person who asks
        asks = np.repeat(np.arange(len(asking)), many)
        place = np.arange(len(asks)) - np.repeat(np.cumsum(many) - many, many)
        offers = order[place + ends[asking.person[asks]]]
        values = self._weigh(asking.place[asks], holding.place[offers], weights)
        found = np.bincount(asks, values * holding.rows[offers], minlength=len(asking))
        return np.asarray(found, dtype=np.float64)

    def _weigh(self, rows: Codes, records: Codes, weights: Floats | None) -> Floats:
        """(pairs,) the weight of each pair of kinds, 0 for pairs that are no edge."""
        if not len(self.indices):
            return np.zeros(len(rows))
        keys = self.heads.astype(np.int64) * self.kinds + self.indices
        asked = rows.astype(np.int64) * self.kinds + records
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[place] == asked, 1.0 if weights is None else weights[place], 0.0)


def by_person(
    figures: Numbers, weights: Counts, person: Unit | None, choose: np.ufunc
) -> tuple[Numbers, Counts]:
    """Return one figure for each person, chosen among those of her rows, and how many people.

    figures: (rows,). weights: (rows,) the people behind each row, where each record is a person;
    these figures are returned as they are.
    choose: np.maximum or np.minimum.
    """
    if person is None:
        return figures, weights
    order = np.argsort(person.ids, kind="stable")
    starts = np.searchsorted(person.ids[order], np.arange(person.count))
    if not len(order):
        return figures, weights
    chosen = choose.reduceat(figures[order], starts)
    return chosen, np.ones(person.count, dtype=np.int64)


def row_weights(table: Table) -> Counts:
    """(rows,) the records behind each row."""
    return np.ones(len(table), dtype=np.int64) if table.counts is None else table.counts


def chance_of_rows(members: Members, classes: Classes) -> Floats:
    """(pairs,) the chance to find a person in a class, for an attacker who knows she is in it.

    The larger of two chances: an attacker who picks one of the n rows of the class finds one of
    her m rows with m/n; one who names one of its people for a row of hers is right with 1/people.
    """
    picked = members.rows / classes.rows[members.place]
    return np.maximum(picked, 1 / classes.people[members.place])


def highest_by_person(figures: Floats, members: Members) -> Floats:
    """(people,) the largest of each person's figures, 0 for people without any."""
    highest = np.zeros(members.count)
    np.maximum.at(highest, members.person, figures)
    return highest


def lowest_by_person(figures: Counts, members: Members) -> Counts:
    """(people,) the smallest of each person's figures, 0 for people without any."""
    lowest = np.full(members.count, np.iinfo(np.int64).max)
    np.minimum.at(lowest, members.person, figures)
    return np.where(members.present, lowest, 0)


def at_least_once(chances: NDArray[np.float64], owner: Codes, owners: int) -> Floats:
    """(owners,) the chance that one of several events happens, if they are independent."""
    with np.errstate(divide="ignore"):  # a certain event: log 0
        missed = np.bincount(owner, np.log1p(-chances.clip(0.0, 1.0)), minlength=owners)
    return np.asarray(-np.expm1(missed))
