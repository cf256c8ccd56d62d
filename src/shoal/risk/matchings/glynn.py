"""Permanents by Glynn's formula, for matrices without structure.

Half of all 2ⁿ sign patterns, each with one product of n row sums: up to about n = 30. The products
without one row, which give the probability of each true pair, take half as long again.
Glynn, "The permanent of a square matrix", European Journal of Combinatorics 31(7), 2010.

The matrix is scaled so that rows sum to at most 1 and rounded to multiples of 2⁻⁵², which makes all
row sums exact. The effect of this rounding, and the rounding errors of products and sums, are
bounded by sums of absolute products, which are at least the minor of each entry.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Floats, weighted_sum
from shoal.support.progress import report

_UNIT = 2.0**-53
_MIN_ROWS = 6  # the kernel has a fixed sign and five lane columns; smaller matrices are padded
_REPORTED_CHUNKS = 64  # chunks between two reports of progress
_MAX_ADDENDS = 1200  # numbers that are added one after the other


class Sums(NamedTuple):
    """The results of Glynn's formula.

    Parameters:
        permanent: The permanent of the given matrix.
        marginals: (size,) the probability of each pair (i, i).
        error: Bound on the relative error of the permanent, and on the absolute error that the
            rounding of the matrix adds to a marginal.
        own_errors: (size,) bounds on the errors that products and sums add to each marginal.
    """

    permanent: float
    marginals: Floats
    error: float
    own_errors: Floats


def glynn(matrix: Floats, *, threads: int = 1) -> Sums:
    """Return the permanent and the probability of each pair (i, i).

    Parameters:
        matrix: (size, size) weights with rows and columns that sum to about 1.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: The permanent is too small for floating point.
    """
    size = len(matrix)
    columns = max(size, _MIN_ROWS)
    largest = float(matrix.sum(axis=1).max())
    padded = np.eye(columns)
    padded[:size, :size] = matrix / largest
    rounded = np.rint(padded * 2.0**52) * 2.0**-52
    totals = _totals(rounded, threads)
    if not totals[0] > 0:
        raise InputError("the permanent is too small for floating point; scale the matrix first")
    whole, without, bounds = totals[0], totals[1 : 1 + columns], totals[1 + columns :]
    by_row = np.repeat(bounds, 4)[:columns]  # at least the absolute products without that row
    moved = np.abs(rounded - padded).sum(axis=1)
    rounding = weighted_sum(moved, by_row) / whole
    lost = (columns + _MAX_ADDENDS) * _UNIT / whole  # of absolute products
    own = np.diagonal(padded)
    marginals = np.clip(own * without / whole, 0.0, 1.0)
    summed = lost * bounds.sum() / (2 * len(bounds))  # each is at least that of whole products
    return Sums(
        permanent=float(whole * 2.0 ** (1 - columns)) * largest**size,
        marginals=marginals[:size],
        error=float(rounding + summed + 4 * size * _UNIT),
        own_errors=(own * lost * by_row + marginals * summed)[:size],
    )


def _totals(matrix: Floats, threads: int) -> Floats:
    """(1 + columns + groups,) the sums over all signs, in the layout of the kernel."""
    from shoal.risk.matchings import _glynn as kernels

    columns, groups = len(matrix), -(-len(matrix) // 4)
    lane_signs = np.ones((1 + kernels.LANE_COLUMNS, kernels.LANES))
    for column in range(1, 1 + kernels.LANE_COLUMNS):
        lane_signs[column] -= 2 * (np.arange(kernels.LANES) >> (column - 1) & 1)
        lane_signs[0] *= lane_signs[column]
    offsets = np.zeros((4 * groups, kernels.LANES))
    offsets[:columns] = (matrix[:, 1:_MIN_ROWS, None] * lane_signs[1:]).sum(axis=1)
    chunks = 1 << max(columns - _MIN_ROWS - kernels.STEPS, 0)
    sums = np.empty((chunks, 1 + columns + groups))

    def add(first: int) -> None:
        work = np.empty((groups + 2) * kernels.GROUP)
        scratch = work, np.empty(4 * groups), np.empty(columns)
        last = min(first + _REPORTED_CHUNKS, chunks)
        by_group = offsets.reshape(groups, 4, kernels.LANES)
        kernels.sum_chunks(first, last, matrix, by_group, *scratch, lane_signs, sums)

    begins = range(0, chunks, _REPORTED_CHUNKS)
    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(add, begins)):
            report("matchings", done, len(begins))
    return np.asarray(np.ascontiguousarray(sums.T).sum(axis=1))
