# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: matchings of the first rows into each set of columns, and of the others elsewhere."""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def fill(matrix, ways):
    """Write, for each set of columns, the weight of matching as many first rows into it."""
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
    """Add up the weight of all matchings through each pair; `ways` ends as the other way round.

    A set's `ways` is read for the last time when the set is reached from above, and then replaced
    by the weight of matching the rows that are left into the columns that are left.
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
    """Return how many bits are set."""
    count = np.int64(0)
    while chosen:
        chosen &= chosen - 1
        count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _place(bit):
    """Return the number of the one bit that is set; the compiler knows this loop."""
    left, place = np.uint64(bit), np.int64(-1)
    while left:
        left >>= np.uint64(1)
        place += 1
    return place
