"""Identical rows and columns of a matrix: kinds of people and kinds of records.

Identical rows are interchangeable in every matching. So it matters how many rows of a kind are
used, not which: counts replace subsets, and with few kinds their number is polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.risk.matchings.structure import Component, Edges
from shoal.support.arrays import Counts, Floats


@dataclass(frozen=True, eq=False)
class KindMatrix:
    """A matrix between kinds of rows and kinds of columns.

    Parameters:
        row_kinds, column_kinds: (rows,), (columns,) the kind of each line.
        row_counts, column_counts: (kinds,) the people and records of each kind.
        edges: The positive entries between kinds, by kind of rows.
    """

    row_kinds: Counts
    column_kinds: Counts
    row_counts: Counts
    column_counts: Counts
    edges: Edges

    @property
    def transposed(self) -> KindMatrix:
        """The transposed matrix."""
        indptr, indices, weights = self.edges
        heads = np.repeat(np.arange(len(self.row_counts)), np.diff(indptr))
        order = np.lexsort((heads, indices))
        begins = np.searchsorted(indices[order], np.arange(len(self.column_counts) + 1))
        return KindMatrix(
            self.column_kinds,
            self.row_kinds,
            self.column_counts,
            self.row_counts,
            Edges(begins, heads[order], weights[order]),
        )


def collapse(component: Component) -> KindMatrix:
    """Return the kinds of rows and of columns: lines of one kind have identical entries."""
    ones = np.ones(component.size, dtype=np.int64)
    row_counts, column_counts = (component.multiplicity or (ones, ones))[:2]
    edges = component.edges
    from scipy.sparse import csr_array

    shape = len(row_counts), len(column_counts)
    row_kinds, row_first = _kinds(*edges)
    matrix = csr_array((edges.weights, edges.indices, edges.indptr), shape=shape)
    across = csr_array(matrix.T.tocsr())
    across.sort_indices()
    column_kinds, column_first = _kinds(across.indptr, across.indices, across.data)
    small = csr_array(csr_array(matrix[row_first])[:, column_first])
    small.sort_indices()
    return KindMatrix(
        row_kinds,
        column_kinds,
        _sums(row_kinds, row_counts),
        _sums(column_kinds, column_counts),
        Edges(small.indptr.astype(np.int64), small.indices.astype(np.int64), small.data),
    )


def _sums(kinds: Counts, counts: Counts) -> Counts:
    return np.bincount(kinds, counts).astype(np.int64)


def _kinds(indptr: Counts, indices: Counts, weights: Floats) -> tuple[Counts, Counts]:
    """(lines,) the kind of each line by its entries, and the first line of each kind."""
    seen: dict[tuple[bytes, bytes], int] = {}
    kinds = np.empty(len(indptr) - 1, dtype=np.int64)
    first: list[int] = []
    for line, (begin, end) in enumerate(pairwise(indptr.tolist())):
        entries = (indices[begin:end].tobytes(), weights[begin:end].tobytes())
        kinds[line] = seen.setdefault(entries, len(seen))
        if kinds[line] == len(first):
            first.append(line)
    return kinds, np.array(first)
