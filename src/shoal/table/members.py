"""People and the classes of their rows, and which kinds of records their rows fit.

Equivalence classes known by their counts alone, without the rows behind them.

Models are checked on them as on any classes; the counts come from a file that was grouped in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.table.classes import Classes, Histogram
from shoal.table.coverage import count_reached
from shoal.table.people import Unit, group, sum_by
from shoal.table.table import Table


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
        if not len(kept):
            none = np.zeros(0, dtype=np.int32)
            return cls(none, none, np.zeros(0, dtype=np.int64), person.count)
        classes = int(ids.max()) + 1
        pairs = group([ids[kept], person.ids[kept]], [classes, person.count])
        first = kept[pairs.first]
        rows = pairs.sizes(None if counts is None else counts[kept])
        return cls(frozen(ids[first]), frozen(person.ids[first]), frozen(rows), person.count)

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


@dataclass(frozen=True)
class Tallies:
    """What was counted in each class of a release.

    rows: (classes,) records; people, households: (classes,) different ones, None if every record
        is one person or there are no households.
    released_people, released_households: different ones in the whole release.
    histograms: for each sensitive column, the people of each class with each value.
    row_histograms: the same in records.
    with_value: for each of these columns, (classes,) different people with a value.
    count_people: counts the different people of some classes, None if people are in one class each
        or it is not known.
    """

    rows: Counts
    people: Counts | None = None
    households: Counts | None = None
    released_people: int | None = None
    released_households: int | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    row_histograms: Mapping[str, Histogram] = field(default_factory=dict)
    with_value: Mapping[str, Counts] = field(default_factory=dict)
    count_people: Callable[[Bools], int] | None = None


@dataclass(frozen=True)
class CountedMembers:
    """The people of classes, known by their number and by a function that counts them.

    total: people with a row in some class. count_people: counts those of some classes.
    """

    total: int
    count_people: Callable[[Bools], int]


@dataclass(frozen=True, eq=False, repr=False)
class CountedClasses(Classes):
    """Classes with one row each.

    Attributes:
        tallies: What was counted in each class.

    >>> from shoal import Column
    >>> one = Table((Column.encode("age", ["30-39", "40-49"]),), np.array([5, 7]))
    >>> CountedClasses.counted(one, Tallies(np.array([5, 7]))).sizes.tolist()
    [5, 7]
    """

    tallies: Tallies

    @cached_property
    def heaviest(self) -> Counts:
        """(classes,) the most records that one person has in each class.

        Raises:
            InputError: People have several records, of which only the classes were counted.
        """
        if not np.array_equal(self.rows, self.people):
            raise InputError(
                "the rows of each person were not counted on disk, so their risk is not known; "
                "use k-anonymity, or a table that fits in memory"
            )
        return np.ones(len(self), dtype=np.int64)

    @classmethod
    def counted(cls, table: Table, tallies: Tallies, origin: Table | None = None) -> CountedClasses:
        """Return classes whose table has one row for each class, in the order of the counts."""
        ids = np.arange(len(tallies.rows), dtype=np.int32)
        return cls(table, ids, table if origin is None else origin, tallies)

    @cached_property
    def rows(self) -> Counts:
        """(classes,) records in each class."""
        return self.tallies.rows

    @cached_property
    def people(self) -> Counts:
        """(classes,) different people in each class."""
        return self.rows if self.tallies.people is None else self.tallies.people

    @cached_property
    def households(self) -> Counts | None:
        """(classes,) different households in each class, None if the table has no households."""
        return self.tallies.households

    @cached_property
    def released_people(self) -> int:
        """Number of people with a released record."""
        known = self.tallies.released_people
        return int(self.rows.sum()) if known is None else known

    @property
    def members(self) -> CountedMembers | None:
        """The people of each class, None if everyone is in one class."""
        count = self.tallies.count_people
        return None if count is None else CountedMembers(self.released_people, count)

    def histogram(self, name: str) -> Histogram:
        """Return how many people of each class have each value of a column."""
        return self.tallies.histograms[name]

    def row_histogram(self, name: str) -> Histogram:
        """Return how many records of each class have each value of a column."""
        return self.tallies.row_histograms[name]

    def shown(self, name: str) -> Counts:
        """(classes,) the sum of each class's histogram: its people, each once for every value."""
        found = self.histogram(name)
        return np.add.reduceat(found.counts, found.indptr[:-1]) if len(self) else self.rows

    def people_with_value(self, name: str) -> Counts:
        """(classes,) different people of each class with a known value of a column."""
        return self.tallies.with_value[name]


@dataclass(frozen=True, eq=False, repr=False)
class Marginals(Table):
    """A table known by the number of people with each value of its columns.

    Attributes:
        total: Number of people.
        by_value: For each column, (domain,) people with each value.
    """

    total: int = 0
    by_value: Mapping[str, Counts] = field(default_factory=dict)

    @property
    def people(self) -> int:
        """Number of people."""
        return self.total

    def people_with(self, name: str) -> Counts:
        """(domain,) number of people with each value of a column."""
        return self.by_value[name]
