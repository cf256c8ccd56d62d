"""The possible sensitive values of a person for an attacker who knows their quasi-identifiers.

One histogram for each group of indistinguishable people: how many of the candidates (the people
whose records may be theirs) have each value. A person with rows in several groups is in each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.column import Column
from shoal.core.counted_classes import CountedMembers
from shoal.core.coverage import Fits
from shoal.core.grouping import group
from shoal.core.histogram import Histogram, count_values
from shoal.core.members import KindEdges, Members
from shoal.core.release import Release
from shoal.support.arrays import Bools, Codes, Counts, Floats

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
        value = column.codes[
            rows[shown.first]
        ]  # (pairs,) a value of each pair of a person and a value
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
