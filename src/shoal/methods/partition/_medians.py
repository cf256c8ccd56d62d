# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: cuts at the median of the attribute with the widest normalized range.

`bounds` is (nodes, 5): low, high and records of a range of rows, then the middle of the divided
node and the records before it. `seen` counts records by value and is all zero between columns.
"""

from __future__ import annotations

import numpy as np

from shoal.methods.partition._nodes import NOMINAL, TREE, sort_keys, spread
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def list_medians(rows, bounds, space, scratch, columns, places):
    """Store the columns of each node that have an allowed cut, widest first, −1 after the last.

    columns: (nodes, ranks) the column; places: (nodes, ranks) its last code on the left side.
    """
    rank_medians(rows, bounds, space, scratch, columns, places, True)


@njit(cache=True, error_model="numpy")
def list_relaxed_medians(rows, bounds, space, scratch, columns, places):
    """Store all columns with several values, widest first; records at the median may be divided."""
    rank_medians(rows, bounds, space, scratch, columns, places, False)


@njit(cache=True, error_model="numpy", allocates=True)
def rank_medians(rows, bounds, space, scratch, columns, places, strict):
    """Store the columns of each node in descending order of their range, with their medians."""
    width = rows.codes.shape[1]
    values = 0  # of the column with the most
    for j in range(width):
        values = max(values, space.domain[j])
    listed = np.empty(min(values, len(rows.weight)), np.int64)  # distinct codes
    extent, median = np.empty(width), np.empty(width, np.int64)
    for node in range(len(bounds)):
        columns[node] = -1
        low, high, records = bounds[node, 0], bounds[node, 1], bounds[node, 2]
        if records < 2 * space.k or high - low < 2:
            continue
        for j in range(width):
            extent[j], median[j] = find_median(
                rows, low, high, records, j, space, scratch.seen, listed, strict
            )
        for rank in range(width):
            # selection sort: there are few columns
            widest = 0
            for j in range(1, width):
                if extent[j] > extent[widest]:
                    widest = j
            if extent[widest] <= 0:
                break
            columns[node, rank], places[node, rank] = widest, median[widest]
            extent[widest] = 0.0


@njit(cache=True, error_model="numpy")
def find_median(rows, low, high, records, j, space, seen, listed, strict):
    """Return the normalized range of column j in a node and its median; 0 if it has no cut."""
    first, size = space.first[j], 0
    for i in range(low, high):
        code = rows.codes[i, j]
        if seen[first + code] == 0:
            listed[size] = code
            size += 1
        seen[first + code] += rows.weight[i]
    # `listed` are the distinct codes of the node, `seen` their records
    sort_keys(listed, 0, size)
    extent, median, left = 0.0, np.int64(-1), np.int64(0)
    if size > 1:
        if space.kind[j] == NOMINAL:
            extent = space.unit[j] * (size - 1)
        else:
            extent = spread(space, j, listed[0], listed[size - 1])
        if strict and space.kind[j] == TREE:
            median, left = middle_branch(records, j, space, seen, listed, size)
        else:
            before = np.int64(0)
            for a in range(size):  # before: the records below listed[a]
                before += seen[first + listed[a]]
                if 2 * before >= records:
                    median, left = listed[a], before
                    break
        if strict and (left < space.k or records - left < space.k):
            extent = 0.0
    for a in range(size):
        seen[first + listed[a]] = 0
    return extent, median


@njit(cache=True, error_model="numpy")
def middle_branch(records, j, space, seen, listed, size):
    """Return the end of a branch below the common ancestor that is nearest to the median.

    Also returns the records up to there. The codes of a branch are adjacent.
    """
    at, domain, first = space.tree_first[j], space.domain[j], space.first[j]
    # up to the level below the common ancestor: the last at which first and last code differ
    while space.groups[at + domain + listed[0]] != space.groups[at + domain + listed[size - 1]]:
        at += domain
    nearest, end, left, before = records, np.int64(-1), np.int64(0), np.int64(0)
    for a in range(size - 1):
        before += seen[first + listed[a]]
        if space.groups[at + listed[a]] != space.groups[at + listed[a + 1]]:
            distance = abs(2 * before - records)
            if distance < nearest:
                nearest, end, left = distance, listed[a], before
    return end, left


@njit(cache=True, error_model="numpy")
def divide_at_medians(rows, bounds, column, place, space, scratch):
    """Divide each node: codes up to its place are the left side."""
    for node in range(len(bounds)):
        j, last = column[node], place[node]
        a, b, left = bounds[node, 0], bounds[node, 1], np.int64(0)
        while a < b:  # rows before a are left, rows from b on are right
            if rows.codes[a, j] <= last:
                left += rows.weight[a]
                a += 1
            else:
                b -= 1
                swap_rows(rows, a, b)
        bounds[node, 3], bounds[node, 4] = a, left


@njit(cache=True, error_model="numpy")
def divide_in_halves(rows, bounds, column, place, space, scratch):
    """Divide each node in two halves; records at the median fill the left one. Weights are 1."""
    for node in range(len(bounds)):
        j, median = column[node], place[node]
        low, high = bounds[node, 0], bounds[node, 1]
        half = (high - low) // 2
        ties = half  # records at the median that go left
        for i in range(low, high):
            ties -= rows.codes[i, j] < median
        a, b = low, high
        while a < b:  # rows before a are left, rows from b on are right
            if rows.codes[a, j] < median:
                a += 1
            elif rows.codes[a, j] == median and ties > 0:
                ties -= 1
                a += 1
            else:
                b -= 1
                swap_rows(rows, a, b)
        bounds[node, 3], bounds[node, 4] = a, a - low


@njit(cache=True, error_model="numpy")
def swap_rows(rows, a, b):
    """Exchange two rows."""
    for j in range(rows.codes.shape[1]):
        rows.codes[a, j], rows.codes[b, j] = rows.codes[b, j], rows.codes[a, j]
    rows.weight[a], rows.weight[b] = rows.weight[b], rows.weight[a]
    rows.where[a], rows.where[b] = rows.where[b], rows.where[a]
