# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: neighbours of records, and random numbers that depend only on a seed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.core.compiling import njit

NO_INDEX = np.int32(-1)


class Near(NamedTuple):
    """Neighbours by distinct point.

    point: (records,) the point of each record; copies are adjacent.
    first: (points + 1,) first copy of each point.
    others: (points, near) the nearest other points, −1 if there are fewer.
    """

    point: Any
    first: Any
    others: Any


@njit(cache=True, nogil=True, error_model="numpy")
def draw(random):
    """Return 64 random bits (SplitMix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_below(random, limit):
    """Return a random number from 0 to limit − 1."""
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_share(random):
    """Return a random number above 0 and at most 1."""
    return (np.float64(draw(random) >> np.uint64(11)) + 1.0) * 2.0**-53


@njit(cache=True, nogil=True, error_model="numpy")
def draw_copy(near, random, point):
    """Return a record of the point."""
    first = near.first[point]
    return np.int32(first + draw_below(random, near.first[point + 1] - first))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_neighbour(near, random, record):
    """Return a record near this one, of its own point or a neighbouring one; −1 if none."""
    point = near.point[record]
    which = draw_below(random, near.others.shape[1] + 1)
    if which > 0:
        point = near.others[point, which - 1]
    return draw_copy(near, random, point) if point >= 0 else NO_INDEX
