"""The sensitive values that an attacker who knows a person's quasi-identifiers is left with.

One histogram for each group of indistinguishable people says how many of the candidates, the people
whose records may be theirs, have each value. A person with rows in several groups is in each of
them.

    Candidates    the histograms, from classes or, for freeform releases, from who fits which record
    homogeneity   all candidates have one value, or nearly all: the attacker knows it
    similarity    values differ but mean nearly the same, such as three stomach diseases
    skewness      no value is certain, but one is far likelier than in the table

Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007 (homogeneity);
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007
(similarity, skewness).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from shoal.errors import InputError
from shoal.metrics.metric import class_width
from shoal.privacy.model import ROUNDING
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.table.classes import Classes, CountedMembers, Histogram, count_values
from shoal.table.column import Column
from shoal.table.coverage import Fits
from shoal.table.hierarchy import Hierarchy
from shoal.table.members import KindEdges, Members
from shoal.table.people import group

Source = Release | Classes


@dataclass(frozen=True, eq=False)
class Candidates:
    """A sensitive column as seen by an attacker who finds a person's group.

    Parameters:
        column: The sensitive column.
        people: (groups,) number of people who have the same candidates.
        sizes: (groups,) number of these candidates.
        values: Number of candidates with each value; a person with several values counts for each.
        own: Number of people of a group with each value; the same as `values` in classes.
        usual: (domain,) the share of the people of the original table with each value.
        members: The people of each group, None if everyone is in one group.
    """

    column: Column
    people: Counts
    sizes: Counts
    values: Histogram
    own: Histogram
    usual: Floats
    members: Members | CountedMembers | None = None

    @classmethod
    def of(cls, source: Source, name: str) -> Candidates:
        """Return the candidates by classes, or by coverage if classes do not carry the guarantee.

        That is the case if the release claims a coverage model that its classes alone do not meet.
        """
        if isinstance(source, Release) and is_freeform(source):
            return cls._by_coverage(source, name)
        classes = source.classes if isinstance(source, Release) else source
        values, usual, table = classes.histogram(name), classes.reference(name), classes.table
        people = classes.people
        return cls(table[name], people, people, values, values, usual, classes.members)

    @classmethod
    def _by_coverage(cls, release: Release, name: str) -> Candidates:
        from scipy.sparse import csr_array

        table, coverage = release.original, release.coverage
        column, fits = table[name], coverage.fits
        if table.person is not None:
            return cls._of_people(release, name)
        boxes = count_values(column, coverage.boxes, len(fits.copies), table.counts)
        shape = (len(fits.copies), column.domain)
        shown = csr_array((boxes.counts, boxes.codes, boxes.indptr), shape=shape)
        values = _as_histogram(_links(fits) @ shown)
        own = count_values(column, coverage.tuples, len(fits.people), table.counts)
        sizes = np.bincount(_owners(values), values.counts, minlength=len(fits.people))
        return cls(column, fits.people, sizes.astype(np.int64), values, own, table.shares(name))

    @classmethod
    def _of_people(cls, release: Release, name: str) -> Candidates:
        """Return the candidates by coverage, counted as people."""
        from scipy.sparse import csr_array

        table, coverage = release.original, release.coverage
        column, fits, person = table[name], coverage.fits, table.person
        assert person is not None
        rows = np.flatnonzero(coverage.boxes >= 0)
        shown = group([column.codes[rows], person.ids[rows]], [column.domain, person.count])
        # kinds of records × pairs of a person and a value that they hold; kinds of people × pairs
        # that they reach; pairs × values: the product counts people, not records
        value = column.codes[rows[shown.first]]  # (pairs,)
        ones = np.ones(len(rows), dtype=np.int32)
        shape = len(fits.copies), len(shown)
        held = csr_array((ones, (coverage.boxes[rows], shown.ids)), shape=shape)
        held.sum_duplicates()
        reached = csr_array(_links(fits) @ held)
        reached.data[:] = 1
        once = np.ones(len(shown), dtype=np.int64)
        of_value = csr_array((once, (np.arange(len(shown)), value)), (len(shown), column.domain))
        members = Members.of(coverage.tuples, person)
        mine = group(
            [coverage.tuples[rows], column.codes[rows], person.ids[rows]],
            [len(fits.people), column.domain, person.count],
        ).first
        edges = KindEdges(*fits.edges, len(fits.copies))
        return cls(
            column,
            np.bincount(members.place, minlength=len(fits.people)).astype(np.int64),
            edges.count_people(Members.of(coverage.boxes, person)),
            _as_histogram(reached @ of_value),
            count_values(column.take(rows[mine]), coverage.tuples[rows[mine]], len(fits.people)),
            table.people_with(name) / max(table.people, 1),
            members,
        )

    def __repr__(self) -> str:
        return f"Candidates({self.column.name!r}, groups={len(self)})"

    def __len__(self) -> int:
        return len(self.people)

    @property
    def total(self) -> int:
        """Number of people whose records are released."""
        members = self.members
        return int(self.people.sum()) if members is None else members.total

    @cached_property
    def owners(self) -> Codes:
        """The group of each entry of `values`."""
        return _owners(self.values)

    @cached_property
    def shares(self) -> Floats:
        """For each entry of `values`, the share of the group's candidates who have it."""
        return np.asarray(self.values.counts / self.sizes[self.owners], dtype=np.float64)

    @cached_property
    def largest(self) -> Floats:
        """(groups,) the largest share of one value."""
        return self.by_group(np.maximum, self.shares)

    @cached_property
    def single(self) -> Bools:
        """(groups,) whether all candidates have one value, ignoring those with none."""
        shown = np.diff(self.values.indptr)
        if self.column.missing is not None and len(self):
            blank = (self.values.codes == self.column.missing).astype(np.int64)
            shown = shown - np.where(shown > 1, np.add.reduceat(blank, self.values.indptr[:-1]), 0)
        alone: Bools = shown == 1
        return alone

    def by_group(self, combine: np.ufunc, entries: Floats) -> Floats:
        """Return, for each group, the combined figures of its entries of `values`."""
        if not len(self):
            return np.zeros(0)
        return np.asarray(combine.reduceat(entries, self.values.indptr[:-1]), dtype=np.float64)

    def over_own(self, entries: Floats) -> float:
        """Return the mean over people of the figure at their own value, 0 if none is released.

        A person with several values, or in several groups, counts for each.

        entries: a figure for each entry of `values`.
        """
        keys = self.owners.astype(np.int64) * self.column.domain + self.values.codes
        asked = _owners(self.own).astype(np.int64) * self.column.domain + self.own.codes
        entry = np.searchsorted(keys, asked)  # a person's own record is among the candidates
        return float((entries[entry] * self.own.counts).sum() / self.shown)

    @property
    def shown(self) -> int:
        """Number of people, each counted once for every value in every group; at least 1."""
        return max(int(self.own.counts.sum()), 1)

    def count(self, groups: Bools) -> int:
        """Return how many people are in one of these groups."""
        if self.members is not None:
            return self.members.count_people(groups)
        return int(self.people[groups].sum())


def is_freeform(release: Release) -> bool:
    """Return whether a release claims a coverage model that its classes alone do not meet."""
    return bool(loose_parts(release))


def loose_parts(release: Release) -> list[Any]:
    """Return the coverage models that a release claims and its classes alone do not meet."""
    return [
        part
        for part in release.model.parts
        if not part.by_class and not part.holds(release.classes).all()
    ]


def _links(fits: Fits) -> Any:
    """(kinds of people, kinds of records) a 1 where they fit."""
    from scipy.sparse import csr_array

    indptr, indices = fits.edges
    ones = np.ones(len(indices), dtype=np.int64)
    return csr_array((ones, indices, indptr), shape=(len(fits.people), len(fits.copies)))


def _as_histogram(seen: Any) -> Histogram:
    """Return a sparse matrix of groups and values as a histogram."""
    seen.sort_indices()
    return Histogram(
        seen.indptr.astype(np.int64), seen.indices.astype(np.int32), seen.data.astype(np.int64)
    )


def _owners(values: Histogram) -> Codes:
    groups = np.arange(len(values.indptr) - 1, dtype=np.int32)
    return np.repeat(groups, np.diff(values.indptr))


NEARLY = 0.9  # share of one value that makes it nearly certain


@dataclass(frozen=True)
class Homogeneity:
    """Result of `homogeneity`: people whose value of a column is certain, or nearly so.

    Attributes:
        column: The sensitive column.
        people: Released people.
        groups: Number of classes, or of kinds of people if each record is generalized on its own.
        certain: People whose candidates all have one value, not counting missing values.
        certain_groups: Groups of such people.
        nearly: People with at least 90 % of their candidates sharing one value.
        largest: Largest share of one value in a group.
        usual: Largest share of one value in the original table.
    """

    column: str
    people: int
    groups: int
    certain: int
    certain_groups: int
    nearly: int
    largest: float
    usual: float

    @property
    def certain_share(self) -> float:
        """Share of the released people whose value is certain."""
        return self.certain / max(self.people, 1)

    @property
    def nearly_share(self) -> float:
        """Share of the released people whose value is nearly certain."""
        return self.nearly / max(self.people, 1)


def homogeneity(source: Source, column: str) -> Homogeneity:
    """Count the people whose class reveals their value of a sensitive column.

    A missing value next to one other value does not hide it: a class counts if l-diversity with
    l = 2 fails. A class of only missing values has one value, and so does a class of one record. A
    person with rows in several classes counts if one of them reveals a value.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The number of people and classes, and the largest shares of one value.

    Raises:
        UnknownColumn: The table has no such column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> homogeneity(release, "ill").certain
    2
    """
    candidates = Candidates.of(source, column)
    return Homogeneity(
        column,
        people=candidates.total,
        groups=len(candidates),
        certain=candidates.count(candidates.single),
        certain_groups=int(candidates.single.sum()),
        nearly=candidates.count(candidates.single | (candidates.largest >= NEARLY)),
        largest=float(candidates.largest.max(initial=0.0)),
        usual=float(candidates.usual.max(initial=0.0)),
    )


NARROW = 0.1  # share of the people of the table inside a narrow range


@dataclass(frozen=True)
class Similarity:
    """Result of `similarity`: people whose candidates have similar sensitive values.

    Attributes:
        column: The sensitive column.
        by: How values are compared: by their order or their hierarchy.
        people: Released people.
        alike: People with only similar values, including equal ones.
        different: Those of them with more than one value, which homogeneity does not count.
        width: Width of the narrowest range of values relative to the column; None by hierarchy.
        between: Smallest share of people of the original inside a range; None by hierarchy.
    """

    column: str
    by: Literal["order", "hierarchy"]
    people: int
    alike: int
    different: int
    width: float | None = None
    between: float | None = None

    @property
    def alike_share(self) -> float:
        """Share of the released people with only similar values."""
        return self.alike / max(self.people, 1)

    @property
    def different_share(self) -> float:
        """Share of the released people with different values that are all similar."""
        return self.different / max(self.people, 1)


def similarity(source: Source, column: str) -> Similarity:
    """Count the people whose candidates have similar values.

    In a numeric or ordinal column, values are similar if at most 10 % of the people of the original
    are in their range. Widths would not do: a tenth of the range of incomes may contain nearly
    everyone. A missing value is similar to no other. In a nominal column with a hierarchy, values
    are similar if one label below the root covers them.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The number of people with similar values.

    Raises:
        InputError: The column is nominal and has no hierarchy.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": range(30, 62), "income": range(20, 52)})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="income")
    >>> similarity(release, "income").different_share
    1.0
    """
    candidates = Candidates.of(source, column)
    if candidates.column.ordered:
        return _in_order(candidates)
    if candidates.column.hierarchy is None:
        raise InputError(
            f"column {column!r} is nominal and has no hierarchy, so its values have no distances; "
            "give it a hierarchy or an order"
        )
    alike = candidates.single | _under_one_label(candidates, candidates.column.hierarchy)
    return _counted(candidates, "hierarchy", alike)


def is_comparable(source: Source, column: str) -> bool:
    """Return whether values of a column can be compared: by an order or a hierarchy."""
    table = source.original if isinstance(source, Release) else source.table
    return table[column].ordered or table[column].hierarchy is not None


def _in_order(candidates: Candidates) -> Similarity:
    widths = class_width(candidates.column, candidates.values) if len(candidates) else np.zeros(0)
    between = _people_between(candidates)
    return _counted(
        candidates,
        "order",
        candidates.single | (between <= NARROW + ROUNDING),
        width=float(widths.min()) if len(candidates) else None,
        between=float(between.min()) if len(candidates) else None,
    )


def _people_between(candidates: Candidates) -> Floats:
    """Return, for each group, the share of people of the original in the range of its values."""
    column, values = candidates.column, candidates.values
    # people may have several values, so that the shares may add up to more than 1
    usual = candidates.usual / max(float(candidates.usual.sum()), 1.0)
    upto = np.concatenate(([0.0], np.cumsum(usual)))
    first, last = values.codes[values.indptr[:-1]], values.codes[values.indptr[1:] - 1]
    between: Floats = upto[last + 1] - upto[first]
    if column.missing is not None:
        between[(last == column.missing) & (first < last)] = 1.0
    return between


def _under_one_label(candidates: Candidates, hierarchy: Hierarchy) -> Bools:
    """Return, for each group, whether one label below the root covers all its values.

    The highest level with several labels decides: those below it are finer.
    """
    several = [level for level in hierarchy.levels if len(level) > 1]
    if not several or not len(candidates):
        return np.zeros(len(candidates), dtype=np.bool_)
    labels = several[-1].groups[candidates.values.codes]
    starts = candidates.values.indptr[:-1]
    same: Bools = np.minimum.reduceat(labels, starts) == np.maximum.reduceat(labels, starts)
    return same


def _counted(
    candidates: Candidates,
    by: Literal["order", "hierarchy"],
    alike: Bools,
    width: float | None = None,
    between: float | None = None,
) -> Similarity:
    return Similarity(
        candidates.column.name,
        by,
        people=candidates.total,
        alike=candidates.count(alike),
        different=candidates.count(alike & ~candidates.single),
        width=width,
        between=between,
    )


MUCH = 0.5  # rise of a share that counts as large


@dataclass(frozen=True)
class Skewness:
    """Result of `skewness`: how much likelier sensitive values become in a person's class.

    A value with the share p in the input table and q among a person's candidates gains q / p and
    rises by q − p.

    Attributes:
        column: The sensitive column.
        people: Released people.
        gain: Largest gain of a value.
        rise: Largest rise of a value.
        own_gain: Average gain of people's own value; 1 if classes reveal nothing.
        raised: People with a value that rises by 0.5 or more.
        guessed: Share of people whose value is the most common among their candidates; a person
            with several values, or in several classes, counts for each.
        blind: The same with the most common value of the original table, without the release.
    """

    column: str
    people: int
    gain: float
    rise: float
    own_gain: float
    raised: int
    guessed: float
    blind: float

    @property
    def raised_share(self) -> float:
        """Share of the released people with a value that rises by 0.5 or more."""
        return self.raised / max(self.people, 1)

    @property
    def advantage(self) -> float:
        """Increase of the share of correct guesses by the release, at least 0."""
        return max(self.guessed - self.blind, 0.0)


def skewness(source: Source, column: str) -> Skewness:
    """Measure how the distribution of a sensitive column differs between a class and the table.

    Small classes necessarily raise rare values: one of five is 20 %. Guesses are the most common
    value; if several are equally common, one of them at random.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The largest gains and rises, and the share of correct guesses.

    Raises:
        UnknownColumn: The table has no such column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> skewness(release, "ill").rise
    0.25
    """
    candidates = Candidates.of(source, column)
    usual = candidates.usual[candidates.values.codes]
    with np.errstate(divide="ignore"):  # infinite for values that the original does not have
        gains = candidates.shares / usual
    rises = candidates.shares - usual
    highest = candidates.by_group(np.maximum, rises)
    return Skewness(
        column,
        people=candidates.total,
        gain=float(gains.max(initial=0.0)),
        rise=float(rises.max(initial=0.0)),
        own_gain=candidates.over_own(gains),
        raised=candidates.count(highest >= MUCH - ROUNDING),
        guessed=candidates.over_own(_guesses(candidates)),
        blind=_blind(candidates),
    )


def _guesses(candidates: Candidates) -> Floats:
    """Return, for each value of a group, the probability that it is guessed."""
    commonest = candidates.shares >= candidates.largest[candidates.owners]
    ties = candidates.by_group(np.add, commonest.astype(np.float64))
    return commonest / ties[candidates.owners]


def _blind(candidates: Candidates) -> float:
    """Return the share of released people with the most common value of the original table."""
    commonest = candidates.usual >= candidates.usual.max(initial=0.0)
    mine = int(candidates.own.counts[commonest[candidates.own.codes]].sum())
    return mine / max(int(commonest.sum()), 1) / candidates.shown
