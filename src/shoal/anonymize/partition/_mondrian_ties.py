"""Kernels: dividing classes that no cut by value divides, record by record."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.anonymize.partition._mondrian_cuts import (
    NOMINAL,
    SIZE,
    TIE,
    column_loss,
    forget,
    localise,
    spread,
)


@njit(cache=True, error_model="numpy")
def order_rows(codes, rows, low, high, j, space, scratch, count, ordered):
    """Write rows low … high − 1 into `ordered`, by column j's cut order, ties as they stand."""
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
def stretch_loss(codes, ordered, low, high, space, seen):
    """Loss of one record of ordered[low:high], over all columns."""
    loss = 0.0
    for j in range(codes.shape[1]):
        first = space.first[j]
        least = most = np.int64(codes[ordered[low], j])
        more = 0
        for i in range(low, high):
            code = np.int64(codes[ordered[i], j])
            least, most = min(least, code), max(most, code)
            if seen[first + code] == 0:
                seen[first + code] = 1
                more += 1
        for i in range(low, high):
            seen[first + codes[ordered[i], j]] = 0
        if space.kind[j] == NOMINAL:
            loss += space.unit[j] * (more - 1)
        elif least < most:
            loss += spread(space, j, least, most)
    return loss


@njit(cache=True, error_model="numpy")
def divide_records(codes, rows, bounds, space, scratch, count, ordered, best):
    """Divide each node where most is saved: k records off either end of a column's order.

    bounds[i, 3] gets the middle, the node's end where nothing is saved; best the rows rearranged.
    """
    for node in range(len(bounds)):
        low, high = bounds[node, 0], bounds[node, 1]
        records, most, loss = high - low, TIE, 0.0
        bounds[node, 3] = high
        localise_rows(codes, rows, low, high, space, scratch)
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] > 1:
                loss += column_loss(j, space, scratch)
        for i in range(low, high):
            best[i] = rows[i]
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] < 2:
                continue
            order_rows(codes, rows, low, high, j, space, scratch, count, ordered)
            for end in range(2):
                left = space.k if end == 0 else records - space.k
                kept = left * stretch_loss(codes, ordered, 0, left, space, scratch.seen)
                kept += (records - left) * stretch_loss(
                    codes, ordered, left, records, space, scratch.seen
                )
                if records * loss - kept > most:
                    most = records * loss - kept
                    bounds[node, 3] = low + left
                    for i in range(records):
                        best[low + i] = ordered[i]
        forget(space, scratch)


@njit(cache=True, error_model="numpy")
def localise_rows(codes, rows, low, high, space, scratch):
    """Localise a node whose rows do not lie together."""
    picked = np.empty((high - low, codes.shape[1]), codes.dtype)
    ones = np.ones(high - low, np.int64)
    for i in range(low, high):
        for j in range(codes.shape[1]):
            picked[i - low, j] = codes[rows[i], j]
    localise(picked, ones, np.int64(0), high - low, space, scratch)
