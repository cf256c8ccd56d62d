# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: sweeps that bring row and column sums to 1."""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_dense(weights, rows, columns, sums):
    """Set the rows' factors by the columns', then the other way; return the error before.

    rows, columns: (size,) factors; sums: (size,) room for the columns' sums. The rows' sums are 1
    after a sweep but for what the columns' new factors change, which the next sweep returns.
    """
    size = len(rows)
    worst = 0.0
    sums[:] = 0.0
    for i in range(size):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(0, size - 3, 4):
            one += weights[i, j] * columns[j]
            two += weights[i, j + 1] * columns[j + 1]
            three += weights[i, j + 2] * columns[j + 2]
            four += weights[i, j + 3] * columns[j + 3]
        for j in range(size - size % 4, size):
            one += weights[i, j] * columns[j]
        total = (one + two) + (three + four)
        worst = max(worst, abs(rows[i] * total - 1.0))
        rows[i] = 1.0 / total
        for j in range(size):
            sums[j] += weights[i, j] * rows[i]
    for j in range(size):
        columns[j] = 1.0 / sums[j]
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_edges(edges, rows, columns, sums):
    """As `sweep_dense`, for entries listed row by row."""
    size = len(rows)
    worst = 0.0
    sums[:] = 0.0
    for i in range(size):
        first, last = edges.indptr[i], edges.indptr[i + 1]
        total = 0.0
        for e in range(first, last):
            total += edges.weights[e] * columns[edges.indices[e]]
        worst = max(worst, abs(rows[i] * total - 1.0))
        rows[i] = 1.0 / total
        for e in range(first, last):
            sums[edges.indices[e]] += edges.weights[e] * rows[i]
    for j in range(size):
        columns[j] = 1.0 / sums[j]
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def apply_dense(weights, rows, columns, scaled):
    """Write the entries times the factors of their row and column."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            scaled[i, j] = weights[i, j] * rows[i] * columns[j]


@njit(cache=True, nogil=True, error_model="numpy")
def apply_edges(edges, rows, columns, scaled):
    """As `apply_dense`, for entries listed row by row."""
    for i in range(len(rows)):
        for e in range(edges.indptr[i], edges.indptr[i + 1]):
            scaled[e] = edges.weights[e] * rows[i] * columns[edges.indices[e]]
