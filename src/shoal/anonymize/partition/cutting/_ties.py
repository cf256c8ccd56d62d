# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: dividing classes that no cut by value divides, record by record."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition.cutting._cuts import TIE
from shoal.anonymize.partition.cutting._nodes import (
    SIZE,
    column_loss,
    forget,
    localise,
    rows_loss,
)
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def order_rows(codes, rows, low, high, j, space, scratch, count, ordered):
    """Write rows low … high − 1 into `ordered` by column j's cut order, with a stable sort.

    codes: (rows of the table, columns). rows: (rows,) indices in codes, node after node.
    count: scratch with room for a column's values + 1; at first, count[rank] is the number of rows
    of a rank (from 1), then count[rank − 1] is where the next row of the rank is written.
    ordered: (rows of a node,) receives the result from its start.
    """
    first, size = space.first[j], scratch.columns[SIZE, j]
    for a in range(size + 1):
        count[a] = 0
    for i in range(low, high):
        count[scratch.rank[first + codes[rows[i], j]]] += 1
    for a in range(size):
        count[a + 1] += count[a]
    for i in range(low, high):
        rank = scratch.rank[first + codes[rows[i], j]] - 1
        ordered[count[rank]] = rows[i]
        count[rank] += 1


@njit(cache=True, error_model="numpy")
def pick(codes, rows, low, high, picked):
    """Write the codes of rows[low:high] one after the other."""
    for i in range(low, high):
        for j in range(codes.shape[1]):
            picked[i - low, j] = codes[rows[i], j]


@njit(cache=True, error_model="numpy", allocates=True)
def divide_records(codes, rows, bounds, space, scratch, count, ordered, picked, best):
    """Divide each node where it saves most: k records from either end of a column's order.

    codes: (rows of the table, columns). rows: (rows,) indices in codes, node after node.
    bounds: (nodes, 4 or more) first row and end of each node; bounds[i, 3] gets the middle, or the
        node's end if nothing is saved.
    best: (rows,) receives the rearranged rows.
    count, ordered: scratch of `order_rows`. picked: (rows of a node, columns) scratch for codes.
    Invariant: `most` is the largest saving of the cuts tried so far, and best[low:high] and
    bounds[node, 3] describe that cut.
    """
    begin = np.int64(0)
    for node in range(len(bounds)):
        low, high = bounds[node, 0], bounds[node, 1]
        records, most, loss = high - low, TIE, 0.0
        bounds[node, 3] = high
        pick(codes, rows, low, high, picked)
        localise(picked, np.ones(records, np.int64), begin, records, space, scratch)
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] > 1:
                loss += column_loss(j, space, scratch)
        for i in range(low, high):
            best[i] = rows[i]
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] < 2:
                continue
            order_rows(codes, rows, low, high, j, space, scratch, count, ordered)
            pick(codes, ordered, begin, records, picked)
            for end in range(2):
                left = space.k if end == 0 else records - space.k
                kept = left * rows_loss(picked, begin, left, space, scratch.seen)
                kept += (records - left) * rows_loss(picked, left, records, space, scratch.seen)
                if records * loss - kept > most:
                    most = records * loss - kept
                    bounds[node, 3] = low + left
                    for i in range(records):
                        best[low + i] = ordered[i]
        forget(space, scratch)
