# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: sweeps of Sinkhorn scaling, which bring the sums of rows and columns to 1.

The scaled matrix is never stored during sweeps: its entry (i, j) is weights[i, j] · rows[i] ·
columns[j]. Sparse matrices are `Edges`, listed row by row.
"""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_dense(weights, rows, columns, sums):
    """Set the factors of rows, then those of columns; return the largest error of a row before.

    weights: (size, size) read. rows, columns: (size,) factors, replaced.
    sums: (size,) scratch: the sums of columns with the new factors of rows.
    Invariant: rows before i have their new factor, and `sums` includes exactly those rows. After
    the sweep the sums of columns are 1.
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
