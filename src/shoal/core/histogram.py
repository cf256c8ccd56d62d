"""Counts of the values of a column in each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.column import Column
from shoal.core.grouping import sum_by
from shoal.support.arrays import Codes, Counts, frozen


@dataclass(frozen=True, eq=False)
class Histogram:
    """Nonzero counts of the values of one column in each class (or any group of rows).

    indptr: (classes + 1,) start and end of the values of each class.
    codes, counts: the values of each class, ascending, and the number of records with each.
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
