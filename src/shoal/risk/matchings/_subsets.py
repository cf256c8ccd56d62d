# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: weights of matchings of the first rows with each set of columns.

A set of columns is an integer whose bits are its members; `ways` has one number for each set. Sets
of m columns are matched with the first m rows.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def fill(matrix, ways):
    """Write, for each set of columns, the sum of the weights of its matchings with the first rows.

    matrix: (n, n). ways: (2ⁿ,) written. Subsets of a set have smaller numbers, so that ways[s] is
    final for all s below `chosen`.
    """
    ways[0] = 1.0
    for chosen in range(1, len(ways)):
        row = _members(chosen) - 1
        total, rest = 0.0, chosen
        while rest:
            bit = rest & -rest
            total += matrix[row, _place(bit)] * ways[chosen ^ bit]
            rest ^= bit
        ways[chosen] = total


@njit(cache=True, nogil=True, error_model="numpy")
def empty(matrix, ways, shares):
    """Add the weight of all matchings through each pair to `shares`.

    matrix: (n, n). ways: (2ⁿ,) from `fill`, replaced. shares: (n, n) added to.
    Invariant: for sets above `chosen`, ways[s] is the weight of matching the remaining rows with
    the remaining columns; for the others it is still that of `fill`.
    """
    ways[len(ways) - 1] = 1.0
    for step in range(1, len(ways)):
        chosen = len(ways) - 1 - step
        row = _members(chosen)
        total, rest = 0.0, ~chosen & (len(ways) - 1)
        here = ways[chosen]
        while rest:
            bit = rest & -rest
            column = _place(bit)
            through = matrix[row, column] * ways[chosen | bit]
            total += through
            shares[row, column] += here * through
            rest ^= bit
        ways[chosen] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _members(chosen):
    """Return the number of bits that are set."""
    count = np.int64(0)
    while chosen:
        chosen &= chosen - 1
        count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _place(bit):
    """Return the position of the only set bit; the compiler replaces the loop by an instruction."""
    left, place = np.uint64(bit), np.int64(-1)
    while left:
        left >>= np.uint64(1)
        place += 1
    return place
