# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: random numbers that depend only on a seed, the same on every machine.

SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
`random` is always the state: an array of one uint64, which each draw advances.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def draw(random):
    """Return 64 random bits (SplitMix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)  # odd, so the state takes all 2^64 values
    # the rest mixes the state without loss: equal outputs would need equal states
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_below(random, limit):
    """Return a random number from 0 to limit − 1, for a limit below 2^32."""
    # 32 random bits as a share of 2^32, times the limit; the odds differ by at most limit / 2^32
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_share(random):
    """Return a random number above 0 and at most 1: a multiple of 2^-53, as floats can hold."""
    return (np.float64(draw(random) >> np.uint64(11)) + 1.0) * 2.0**-53
