"""People and the classes of their rows, and which kinds of records their rows fit.

A kind is a group of rows, or of records, that are alike: a class, a distinct original, a distinct
published row. Two relations answer how many people stand behind a kind, and are both sparse:

    Members    (kind, person) pairs, with the number of that person's rows
    KindEdges  (kind of rows, kind of records) pairs that fit each other
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.support.progress import report
from shoal.table.people import Unit, group_keys, sum_by

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 4_096  # kinds of rows whose partners are counted at once


@dataclass(frozen=True, eq=False)
class Members:
    """People and the classes of their rows: one entry for each pair of a class and a person.

    Parameters:
        place, person: (pairs,) the class and the person.
        rows: (pairs,) the records of the person in that class.
        count: Number of people, including those without a row in any class.
    """

    place: Codes
    person: Codes
    rows: Counts
    count: int

    @classmethod
    def of(cls, ids: Codes, person: Unit, counts: Counts | None = None) -> Members:
        """Return the members of the classes of some rows.

        Parameters:
            ids: (rows,) the class of each row, −1 for rows to leave out.
            person: The person of each row.
            counts: (rows,) records behind each row of a weighted table.
        """
        kept = np.flatnonzero(ids >= 0)
        records = None if counts is None else counts[kept]
        return cls.of_pairs(ids[kept], person.ids[kept], person.count, records)

    @classmethod
    def of_pairs(
        cls, places: Codes, persons: Codes, count: int, counts: Counts | None = None
    ) -> Members:
        """Return the distinct pairs of a class and a person, ordered by class, then by person.

        Parameters:
            places, persons: (rows,) the class and the person of each row.
            count: Number of people.
            counts: (rows,) records behind each row of a weighted table.
        """
        pairs = group_keys(places.astype(np.int64) * count + persons)
        first, rows = pairs.first, pairs.sizes(counts)
        return cls(frozen(places[first]), frozen(persons[first]), frozen(rows), count)

    def __len__(self) -> int:
        return len(self.place)

    @property
    def present(self) -> Bools:
        """(people,) whether the person has a row in some class."""
        present = np.zeros(self.count, dtype=np.bool_)
        present[self.person] = True
        return present

    @property
    def total(self) -> int:
        """Number of people with a row in some class."""
        return int(self.present.sum())

    def count_people(self, classes: Bools) -> int:
        """Return the number of people with a row in one of these classes."""
        return len(np.unique(self.person[classes[self.place]]))


@dataclass(frozen=True, eq=False)
class KindEdges:
    """Which kinds of records each kind of rows fits.

    Parameters:
        indptr, indices: The kinds of records of each kind of rows, ascending.
        kinds: Number of kinds of records.
    """

    indptr: Counts
    indices: Codes
    kinds: int

    @property
    def heads(self) -> Codes:
        """(edges,) the kind of rows of each edge."""
        rows = np.arange(len(self.indptr) - 1, dtype=np.int32)
        return np.repeat(rows, np.diff(self.indptr))

    def turned(self) -> KindEdges:
        """Return the reversed edges: the kinds of rows that fit each kind of records."""
        order = np.argsort(self.indices, kind="stable")
        widths = np.bincount(self.indices, minlength=self.kinds)
        indptr = np.concatenate(([0], np.cumsum(widths)))
        return KindEdges(indptr, self.heads[order], len(self.indptr) - 1)

    def sum_records(self, copies: Counts) -> Counts:
        """(kinds of rows,) the records that each fits; copies: records of each kind."""
        return sum_by(self.heads, len(self.indptr) - 1, copies[self.indices])

    def count_people(self, members: Members) -> Counts:
        """(kinds of rows,) the number of people with a record that each kind fits."""
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
        """(rows,) the number of records of the row's person among those that the row fits.

        Parameters:
            rows: (rows,) the kind of each row.
            records: (rows,) the kind of each row's own record, −1 if it is not released.
            person: The person of each row.
            counts: (rows,) records behind each row of a weighted table.
            weights: (edges,) the weight of each record of an edge, by default 1.
        """
        asking = Members.of(rows, person)
        own = self.own_of(asking, Members.of(records, person, counts), weights)
        keys = asking.place.astype(np.int64) * person.count + asking.person
        wanted = rows.astype(np.int64) * person.count + person.ids
        return own[np.searchsorted(keys, wanted)]

    def own_of(self, asking: Members, holding: Members, weights: Floats | None = None) -> Floats:
        """(pairs of `asking`,) the number of records of the person among those that the kind fits.

        Parameters:
            asking: The people of the kinds of rows.
            holding: The people of the kinds of records.
            weights: (edges,) the weight of each record of an edge, by default 1.
        """
        # join the two relations on the person: the kinds of records of each person are
        # order[ends[person] : ends[person + 1]]
        order = np.argsort(holding.person, kind="stable")
        ends = np.searchsorted(holding.person[order], np.arange(holding.count + 1))
        held = np.diff(ends)[asking.person]  # kinds of records of each person
        asks = np.repeat(np.arange(len(asking)), held)
        rank = np.arange(len(asks)) - np.repeat(np.cumsum(held) - held, held)
        offers = order[rank + ends[asking.person[asks]]]
        values = self._weigh(asking.place[asks], holding.place[offers], weights)
        own = np.bincount(asks, values * holding.rows[offers], minlength=len(asking))
        return np.asarray(own, dtype=np.float64)

    def _weigh(self, rows: Codes, records: Codes, weights: Floats | None) -> Floats:
        """(pairs,) the weight of each pair of kinds, 0 for pairs without an edge."""
        if not len(self.indices):
            return np.zeros(len(rows))
        keys = self.heads.astype(np.int64) * self.kinds + self.indices
        asked = rows.astype(np.int64) * self.kinds + records
        edge = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[edge] == asked, 1.0 if weights is None else weights[edge], 0.0)


def count_reached(graph: csr_array, holders: csr_array) -> Counts:
    """Return, for each row of the graph, the number of people that it reaches."""
    counts = []
    for begin in range(0, graph.shape[0], _BLOCK):
        report("verify", begin, graph.shape[0])
        counts.append(np.diff((graph[begin : begin + _BLOCK] @ holders).indptr))
    return np.concatenate([*counts, np.zeros(0, np.int64)]).astype(np.int64)
