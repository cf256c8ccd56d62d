"""Orders of columns in which few kinds of rows are half used up at any time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.risk.matchings.collapse import KindMatrix
from shoal.support.arrays import Counts

_LOOKS = 30_000_000  # entries that the greedy order may look at


def orders(kinds: KindMatrix) -> Iterator[Counts]:
    """Give some orders of the kinds of columns: as they stand, narrow, greedy."""
    columns = len(kinds.column_counts)
    yield np.arange(columns)
    if columns > 2:
        yield _narrow(kinds)
        if columns * len(kinds.edges.indices) <= _LOOKS:
            yield _greedy(kinds)


def _narrow(kinds: KindMatrix) -> Counts:
    """Return the reverse Cuthill–McKee order, which keeps neighbours close."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows, columns = len(kinds.row_counts), len(kinds.column_counts)
    heads = np.repeat(np.arange(rows), np.diff(kinds.edges.indptr))
    tails = kinds.edges.indices + rows
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(rows + columns, rows + columns))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    return np.asarray(order[order >= rows] - rows, dtype=np.int64)


def _greedy(kinds: KindMatrix) -> Counts:
    """Take the column next that leaves the fewest counts open."""
    indptr, indices, _ = kinds.transposed.edges
    width = np.log(kinds.row_counts + 1.0)
    awaited = np.bincount(indices, minlength=len(width))
    begun = np.zeros(len(width), dtype=np.bool_)
    left = np.zeros(len(indptr) - 1)  # infinity once a column is taken
    order = np.empty(len(left), dtype=np.int64)
    for place in range(len(order)):
        change = np.where(begun, 0.0, width) - np.where(awaited == 1, width, 0.0)
        column = int((np.add.reduceat(change[indices], indptr[:-1]) + left).argmin())
        rows = indices[indptr[column] : indptr[column + 1]]
        begun[rows] = True
        awaited[rows] -= 1
        left[column] = np.inf
        order[place] = column
    return order
