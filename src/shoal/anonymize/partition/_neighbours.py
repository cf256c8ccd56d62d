# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: random neighbours of a record."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support._random import draw_below
from shoal.support.compiling import njit

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
def draw_copy(near, random, point):
    """Return a random record of the point."""
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
