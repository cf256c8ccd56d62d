"""What a sensitive value of a person may be, to somebody who knows their quasi-identifiers.

One histogram for each group of people who cannot be told apart: the values of all records that may
be theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Codes, Counts, Floats
from shoal.core.classes import Classes
from shoal.core.column import Column
from shoal.core.histogram import Histogram, count_values
from shoal.core.release import Release

Source = Release | Classes


@dataclass(frozen=True, eq=False)
class Candidates:
    """A sensitive column as seen by those who find a person's group.

    column: the sensitive column.
    people: (groups,) people who have the same candidates.
    values: what the records that may be theirs show.
    own: what these people's own records show; the same as `values` where groups are classes.
    usual: (domain,) the share of each value in the input table.
    """

    column: Column
    people: Counts
    values: Histogram
    own: Histogram
    usual: Floats

    @classmethod
    def of(cls, source: Source, name: str) -> Candidates:
        """Return the candidates by classes, or by coverage where a release is not about classes.

        That is so where it claims a model of who may be whom that its classes alone do not keep.
        """
        if isinstance(source, Release) and is_freeform(source):
            return cls._by_coverage(source, name)
        classes = source.classes if isinstance(source, Release) else source
        values, usual = classes.histogram(name), classes.reference(name)
        return cls(classes.table[name], classes.sizes, values, values, usual)

    @classmethod
    def _by_coverage(cls, release: Release, name: str) -> Candidates:
        from scipy.sparse import csr_array

        table, coverage = release.original, release.coverage
        column, fits = table[name], coverage.fits
        boxes = count_values(column, coverage.boxes, len(fits.copies), table.counts)
        shape = (len(fits.copies), column.domain)
        shown = csr_array((boxes.counts, boxes.codes, boxes.indptr), shape=shape)
        indptr, indices = fits.edges
        ones = np.ones(len(indices), dtype=np.int64)
        links = csr_array((ones, indices, indptr), shape=(len(fits.people), len(fits.copies)))
        seen = links @ shown
        seen.sort_indices()
        values = Histogram(
            seen.indptr.astype(np.int64), seen.indices.astype(np.int32), seen.data.astype(np.int64)
        )
        own = count_values(column, coverage.tuples, len(fits.people), table.counts)
        return cls(column, fits.people, values, own, table.shares(name))

    def __repr__(self) -> str:
        return f"Candidates({self.column.name!r}, groups={len(self)})"

    def __len__(self) -> int:
        return len(self.people)

    @property
    def total(self) -> int:
        """Number of people whose records are released."""
        return int(self.people.sum())

    @cached_property
    def owners(self) -> Codes:
        """The group of each entry of `values`."""
        return _owners(self.values)

    @cached_property
    def shares(self) -> Floats:
        """Beside each entry of `values`, its share of the group's candidates."""
        sizes = np.bincount(self.owners, self.values.counts, minlength=len(self))
        return np.asarray(self.values.counts / sizes[self.owners], dtype=np.float64)

    @cached_property
    def largest(self) -> Floats:
        """(groups,) the largest share of one value."""
        return self.by_group(np.maximum, self.shares)

    @cached_property
    def single(self) -> Bools:
        """(groups,) whether all candidates show one value."""
        alone: Bools = np.diff(self.values.indptr) == 1
        return alone

    def by_group(self, combine: np.ufunc, entries: Floats) -> Floats:
        """Return, group by group, the figures of its entries of `values`, summed or otherwise."""
        if not len(self):
            return np.zeros(0)
        return np.asarray(combine.reduceat(entries, self.values.indptr[:-1]), dtype=np.float64)

    def over_own(self, entries: Floats) -> float:
        """Return the mean over people of the figure at their own value, 0 where none is released.

        entries: a figure of each entry of `values`.
        """
        keys = self.owners.astype(np.int64) * self.column.domain + self.values.codes
        asked = _owners(self.own).astype(np.int64) * self.column.domain + self.own.codes
        place = np.searchsorted(keys, asked)  # a person's own record is among the candidates
        return float((entries[place] * self.own.counts).sum() / max(self.total, 1))

    def count(self, groups: Bools) -> int:
        """Return how many people are in these groups."""
        return int(self.people[groups].sum())


def is_freeform(release: Release) -> bool:
    """Whether a release claims a model of who may be whom that its classes alone do not keep."""
    return bool(loose_parts(release))


def loose_parts(release: Release) -> list[Any]:
    """Return the models of who may be whom that a release claims and its classes do not keep."""
    return [
        part
        for part in release.model.parts
        if not part.by_class and not part.holds(release.classes).all()
    ]


def _owners(values: Histogram) -> Codes:
    groups = np.arange(len(values.indptr) - 1, dtype=np.int32)
    return np.repeat(groups, np.diff(values.indptr))
