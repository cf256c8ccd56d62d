"""How many records have each pair of a published cell and an original value of one column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.support.arrays import Codes, Counts


class Pairs(NamedTuple):
    """How many records have each pair of a published cell and an original value."""

    cells: Codes
    codes: Codes
    counts: Counts

    @classmethod
    def of_counts(cls, cell: int, counts: Counts) -> Pairs:
        """Return the pairs of one cell; counts: (domain,) records with each value."""
        codes = np.flatnonzero(counts).astype(np.int32)
        return cls(np.full(len(codes), cell, dtype=np.int32), codes, counts[codes])

    def joined(self, cell: int, counts: Counts) -> Pairs:
        """Return the pairs with those of a further cell."""
        other = Pairs.of_counts(cell, counts)
        return Pairs(
            np.concatenate((self.cells, other.cells)),
            np.concatenate((self.codes, other.codes)),
            np.concatenate((self.counts, other.counts)),
        )

    @classmethod
    def unmatched(cls, shown: Counts, values: Counts) -> tuple[Pairs, Counts]:
        """Return pairs of cells and values in order, and the values that are left over.

        shown: (cells,) records with each cell. values: (domain,) at least as many records.

        >>> pairs, left = Pairs.unmatched(np.array([2, 1]), np.array([1, 3]))
        >>> pairs.cells.tolist(), pairs.codes.tolist(), pairs.counts.tolist(), left.tolist()
        ([0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 1])
        """
        every = np.append(shown, values.sum() - shown.sum())
        cell_ends, value_ends = np.cumsum(every), np.cumsum(values)
        ends = np.union1d(cell_ends, value_ends)
        ends = ends[ends > 0]
        cells = np.searchsorted(cell_ends, ends).astype(np.int32)
        codes = np.searchsorted(value_ends, ends).astype(np.int32)
        counts, kept = np.diff(ends, prepend=0), cells < len(shown)
        left = np.bincount(codes[~kept], counts[~kept], len(values)).astype(np.int64)
        return cls(cells[kept], codes[kept], counts[kept]), left

    def by_value(self, domain: int) -> Counts:
        """(domain,) records with each original value."""
        return np.bincount(self.codes, self.counts, domain).astype(np.int64)
