# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: Ryser's formula for zeros and ones, in integers modulo 2⁶⁴.

The sum runs over all subsets of columns. The subsets of the first LANE_COLUMNS columns differ from
lane to lane; those of the later columns are visited in the order of a Gray code, which changes one
column at a time.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit

LANES = 32
LANE_COLUMNS = 5  # each lane has one of their 32 subsets
_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def sum_subsets(first, last, matrix, offsets, base, sums):
    """Return the sum over the subsets first … last − 1 of the later columns, over all lanes.

    matrix: (rows, n) uint64 of zeros and ones; rows is n, rounded up to a multiple of four.
    offsets: (rows · LANES,) row by row, what the columns of each lane add to the sum of the row.
    base: (rows,) scratch: the sum of each row over the later columns of the current subset; 1 for
        rows that only fill up.
    sums: (2 · LANES,) scratch: the products of the current subset, then the signed sums of lanes.
    Invariant: before each subset but the first `base` is that of the Gray code of subset − 1, and
    sums[LANES:] has the products of all earlier subsets, each with the sign of its later columns.
    """
    total = np.uint64(0)
    rows, columns = matrix.shape
    for row in range(rows):
        base[row] = np.uint64(0) if row < columns else _ONE
    before = first ^ (first >> 1)
    for j in range(LANE_COLUMNS, columns):
        if before >> (j - LANE_COLUMNS) & 1:
            for row in range(columns):
                base[row] += matrix[row, j]
    for lane in range(2 * LANES):
        sums[lane] = np.uint64(0)
    for subset in range(first, last):
        odd = subset & 1
        gray = subset ^ (subset >> 1)
        if subset > first:
            changed, rest = LANE_COLUMNS, subset
            while rest & 1 == 0:
                changed += 1
                rest >>= 1
            for row in range(columns):
                if gray >> (changed - LANE_COLUMNS) & 1:
                    base[row] += matrix[row, changed]
                else:
                    base[row] -= matrix[row, changed]
        for lane in range(LANES):
            sums[lane] = _ONE
        for r in range(0, rows, 4):
            near = offsets[r * LANES : (r + 4) * LANES]
            _multiply(near, base[r], base[r + 1], base[r + 2], base[r + 3], sums)
        for lane in range(LANES):
            if odd:
                sums[LANES + lane] -= sums[lane]
            else:
                sums[LANES + lane] += sums[lane]
    for lane in range(LANES):
        total += sums[LANES + lane] * _sign(lane)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply(near, base0, base1, base2, base3, sums):
    """Multiply the sums of four rows into the product of each lane; near: (4 · LANES,) offsets."""
    for lane in range(LANES):
        one = (base0 + near[lane]) * (base1 + near[LANES + lane])
        two = (base2 + near[2 * LANES + lane]) * (base3 + near[3 * LANES + lane])
        sums[lane] *= one * two


@njit(cache=True, nogil=True, error_model="numpy")
def _sign(subset):
    """Return 1 for an even number of members, −1 modulo 2⁶⁴ for an odd one."""
    sign = _ONE
    while subset:
        sign = np.uint64(0) - sign
        subset &= subset - 1
    return sign
