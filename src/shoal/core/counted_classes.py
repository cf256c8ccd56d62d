"""Equivalence classes known by their counts alone, without the rows behind them.

Models are checked on them as on any classes; the counts come from a file that was grouped in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.core.classes import Classes
from shoal.core.histogram import Histogram
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts


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
