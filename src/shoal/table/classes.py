"""Equivalence classes: rows with equal published values, and their sensitive values.

    Table ─ group by quasi-identifiers ─→ Classes ─ count values ─→ Histogram of a sensitive column
    file grouped where it is ───────────→ CountedClasses: one row a class, only counts are known

Privacy models and metrics are computed from classes. Models count people, metrics count rows; the
two are the same if each row is a different person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.table.column import Column
from shoal.table.linked import EventCounts, count_combinations
from shoal.table.members import Members
from shoal.table.people import Unit, count_distinct, distinct_rows, group, sum_by
from shoal.table.table import Table

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table's rows; `Release.classes` returns those of a release.

    Attributes:
        table: The rows; its sensitive columns are counted in each class.
        ids: (rows,) the class of each row, −1 for a row that is not released.
        origin: The table whose distributions are assumed to be public: the input, including
            suppressed rows.

    >>> from shoal import Column
    >>> table = Table((Column.encode("age", [31, 31, 42]),))
    >>> Classes.by_quasi(table).sizes.tolist()
    [2, 1]
    """

    table: Table
    ids: Codes
    origin: Table

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozen(self.ids))
        object.__setattr__(self, "_histograms", {})
        object.__setattr__(self, "_row_histograms", {})
        object.__setattr__(self, "_combinations", {})

    @classmethod
    def of(cls, table: Table, ids: Codes, origin: Table | None = None) -> Classes:
        """Return the classes with these ids, which run from 0 without gaps."""
        return cls(table, ids, table if origin is None else origin)

    @classmethod
    def by_quasi(cls, table: Table, origin: Table | None = None) -> Classes:
        """Return the classes of rows with equal quasi-identifiers."""
        quasi = table.quasi_columns
        grouping = group([c.codes for c in quasi], [c.domain for c in quasi])
        return cls.of(table, grouping.ids, origin)

    def __repr__(self) -> str:
        return f"Classes({len(self)} classes of {len(self.ids)} rows)"

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def rows(self) -> Counts:
        """(classes,) records in each class."""
        classes = int(self.ids.max()) + 1 if len(self.ids) else 0
        rows = sum_by(self.ids, classes, self.table.counts)
        if not rows.all():
            raise ValueError("class ids must run from 0 without gaps")
        return frozen(rows)

    @cached_property
    def people(self) -> Counts:
        """(classes,) different people in each class."""
        person = self.table.person
        return self.rows if person is None else frozen(self._distinct(person))

    @cached_property
    def households(self) -> Counts | None:
        """(classes,) different households in each class, None if the table has no households."""
        household = self.table.household
        return None if household is None else frozen(self._distinct(household))

    @cached_property
    def sizes(self) -> Counts:
        """(classes,) the number compared with k: people, or households if there are fewer."""
        if self.households is None:
            return self.people
        return frozen(np.minimum(self.people, self.households))

    def _distinct(self, unit: Unit) -> Counts:
        return count_distinct(self.ids, len(self), unit)

    @cached_property
    def heaviest(self) -> Counts:
        """(classes,) the most records that one person has in each class."""
        members = self.members
        if members is None or not len(self):
            return np.ones(len(self), dtype=np.int64)
        starts = np.searchsorted(members.place, np.arange(len(self)))
        return np.maximum.reduceat(members.rows, starts)

    @cached_property
    def represented(self) -> Floats:
        """(classes,) sum of the sampling weights of the people in each class.

        Raises:
            InputError: The table has no sampling weights.
        """
        table, weights = self.table, self.table.weights
        if weights is None:
            raise InputError("the table has no sampling weights; give a column the role weight")
        rows = np.flatnonzero(self.ids >= 0)
        each = weights.values if table.counts is None else weights.values * table.counts
        if table.person is not None:
            pairs = distinct_rows(
                self.ids[rows], len(self), table.person.ids[rows], table.person.count
            )
            rows, each = rows[pairs], weights.values
        sums = np.bincount(self.ids[rows], each[rows], minlength=len(self))
        return frozen(sums.astype(np.float64))

    @cached_property
    def suppressed(self) -> int:
        """Number of records that are not released."""
        return self.table.records - int(self.rows.sum())

    @cached_property
    def released_people(self) -> int:
        """Number of people with a released record."""
        person = self.table.person
        if person is None:
            return int(self.rows.sum())
        return int(np.count_nonzero(np.bincount(person.ids[self.ids >= 0], minlength=1)))

    @property
    def members(self) -> Any:
        """The people of each class, None if each record is a different person."""
        person = self.table.person
        return None if person is None else Members.of(self.ids, person, self.table.counts)

    def histogram(self, name: str) -> Histogram:
        """Return how many people of each class have each value of a column.

        A person with several rows of one value counts once for it; a person with several values
        counts once for each.
        """
        person = self.table.person
        if person is None:
            return self.row_histogram(name)
        cache: dict[str, Histogram] = self.__dict__["_histograms"]
        if name not in cache:
            column, kept = self.table[name], np.flatnonzero(self.ids >= 0)
            # one row for each class, value and person
            codes = [self.ids[kept], column.codes[kept], person.ids[kept]]
            domains = [len(self), column.domain, person.count]
            once = kept[group(codes, domains).first] if len(kept) else kept
            cache[name] = count_values(column.take(once), self.ids[once], len(self))
        return cache[name]

    def combinations(self, rows: int, k: int) -> EventCounts:
        """Count the people with each multiset of at most `rows` rows that one person has.

        Rows are equal if they are in one class. The table must have people with several rows.
        """
        cache: dict[tuple[int, int], EventCounts] = self.__dict__["_combinations"]
        if (rows, k) not in cache:
            unit, counts, kept = self.table.unit, self.table.counts, np.flatnonzero(self.ids >= 0)
            assert unit is not None
            cache[rows, k] = count_combinations(
                unit.take(kept).ids,
                self.ids[kept],
                events=rows,
                k=k,
                counts=None if counts is None else counts[kept],
            )
        return cache[rows, k]

    def people_with_value(self, name: str) -> Counts:
        """(classes,) different people of each class with a known value of a column."""
        person, column = self.table.person, self.table[name]
        if column.missing is None:
            return self.people
        if person is None:
            histogram = self.row_histogram(name)
            with_value = np.where(histogram.codes == column.missing, 0, histogram.counts)
            return np.add.reduceat(with_value, histogram.indptr[:-1]) if len(self) else self.rows
        known = np.where(column.codes == column.missing, np.int32(SUPPRESSED), self.ids)
        return count_distinct(known, len(self), person)

    def with_histograms(self, histograms: Mapping[str, Histogram]) -> Classes:
        """Return the classes with histograms of records that were counted elsewhere."""
        classes = replace(self)
        classes.__dict__["_row_histograms"].update(histograms)
        return classes

    def row_histogram(self, name: str) -> Histogram:
        """Return how many records of each class have each value of a column."""
        cache: dict[str, Histogram] = self.__dict__["_row_histograms"]
        if name not in cache:
            column = self.table[name]
            cache[name] = count_values(column, self.ids, len(self), self.table.counts)
        return cache[name]

    def distinct(self, name: str) -> Counts:
        """(classes,) number of different values of a column in each class."""
        return np.diff(self.histogram(name).indptr)

    def shares(self, name: str) -> Floats:
        """Return, for each histogram entry, the share of the class's people who have the value.

        If people have several values each, the shares add up to more than 1.
        """
        histogram = self.histogram(name)
        return histogram.counts / np.repeat(self.people, np.diff(histogram.indptr))

    def distribution(self, name: str) -> Floats:
        """Return the histogram of each class, scaled to sum to 1."""
        histogram = self.histogram(name)
        return histogram.counts / np.repeat(self.shown(name), np.diff(histogram.indptr))

    def shown(self, name: str) -> Counts:
        """(classes,) the sum of each class's histogram: its people, each once for every value."""
        if self.table.person is None:
            return self.rows
        histogram = self.histogram(name)
        return np.add.reduceat(histogram.counts, histogram.indptr[:-1]) if len(self) else self.rows

    def reference(self, name: str) -> Floats:
        """(domain,) share of the input table's people who have each value."""
        return self.origin.people_with(name) / max(self.origin.people, 1)

    def reference_distribution(self, name: str) -> Floats:
        """(domain,) distribution of a column in the input table, summing to 1."""
        shown = self.origin.people_with(name)
        return shown / max(int(shown.sum()), 1)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Nonzero counts of the values of one column in each class (or any group of rows).

    indptr: (classes + 1,) start and end of the entries of each class.
    codes, counts: (entries,) the values of each class, ascending, and the records with each.
    """

    indptr: Counts
    codes: Codes
    counts: Counts

    def totals(self) -> Counts:
        """(classes,) the sum of the counts of each class."""
        sums = np.concatenate(([0], np.cumsum(self.counts)))
        return np.diff(sums[self.indptr])

    def dense(self, domain: int, first: int, last: int) -> Counts:
        """Return the counts of classes first … last − 1 as a (last − first, domain) matrix."""
        begin, end = int(self.indptr[first]), int(self.indptr[last])
        matrix = np.zeros((last - first, domain), dtype=np.int64)
        owners = np.repeat(np.arange(last - first), np.diff(self.indptr[first : last + 1]))
        matrix[owners, self.codes[begin:end]] = self.counts[begin:end]
        return matrix

    def dense_rows(self, domain: int, classes: Counts) -> Counts:
        """Return the counts of some classes as a (classes, domain) matrix."""
        widths = np.diff(self.indptr)[classes]
        owners = np.repeat(np.arange(len(classes)), widths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(widths) - widths, widths)
        entries = np.repeat(self.indptr[classes], widths) + within
        matrix = np.zeros((len(classes), domain), dtype=np.int64)
        matrix[owners, self.codes[entries]] = self.counts[entries]
        return matrix


def count_values(
    column: Column, ids: Codes, groups: int, counts: Counts | None = None
) -> Histogram:
    """Count the values of a column in each group; rows of group −1 are ignored.

    Parameters:
        counts: (rows,) records behind each row.
    """
    keys = ids.astype(np.int64)
    keys *= column.domain
    keys += column.codes
    if len(ids) and ids.min() < 0:
        kept = ids >= 0
        keys = keys[kept]
        counts = None if counts is None else counts[kept]
    # few possible keys: count them all without sorting
    if groups * column.domain <= 4 * max(len(ids), 1024):
        every = sum_by(keys, groups * column.domain, counts)
        found = np.flatnonzero(every)
        totals = every[found]
    else:
        found, totals = _distinct_keys(keys, counts)
    owners = found // column.domain
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=groups))))
    codes = (found - owners * column.domain).astype(np.int32)
    return Histogram(frozen(indptr), frozen(codes), frozen(totals))


def _distinct_keys(keys: Counts, counts: Counts | None) -> tuple[Counts, Counts]:
    """Return the distinct keys in order, and the records behind each."""
    if counts is None:
        return np.unique(keys, return_counts=True)
    found, inverse = np.unique(keys, return_inverse=True)
    return found, sum_by(inverse.astype(np.int32), len(found), counts)


@dataclass(frozen=True)
class Tallies:
    """What was counted in each class of a release.

    rows: (classes,) records.
    people, households: (classes,) different people and households; None if every record is one
        person, or if there are no households.
    released_people, released_households: different ones in the whole release.
    histograms: for each sensitive column, the people of each class with each value.
    row_histograms: for each sensitive column, the records of each class with each value.
    with_value: for each sensitive column, (classes,) different people with a value.
    count_people: counts the different people of some classes; None if everyone is in one class, or
        if it is not known.
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
    """Classes known by their counts alone, without the rows behind them.

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
