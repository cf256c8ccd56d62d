# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the points nearest to each of many points."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._boxes import FAR, ONE
from shoal.anonymize.partition.neighbours._kd_tree import pair_width
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy", nogil=True)
def _least_width(tree, points, point, node):
    """Return a lower bound of the distance to a point of a node."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        place = points.line[point, j]
        gap = max(tree.low[node, j] - place, place - tree.high[node, j])
        total += min(np.int64(max(gap, 0)), points.cap[j])
    for j in range(points.name.shape[1]):
        if not (tree.fold[node, j] >> np.uint64(points.name[point, j] & 63)) & ONE:
            total += points.unit[j]
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def _insert(other, width, nearest, widths):
    """Insert a point into a full list sorted by width and index; the last one is dropped.

    nearest, widths: (count,) points and their distances.
    """
    at = len(nearest) - 1
    if width > widths[at] or (width == widths[at] and other > nearest[at]):
        return
    while at > 0 and (
        width < widths[at - 1] or (width == widths[at - 1] and other < nearest[at - 1])
    ):
        nearest[at], widths[at] = nearest[at - 1], widths[at - 1]
        at -= 1
    nearest[at], widths[at] = other, width


@njit(cache=True, error_model="numpy", nogil=True)
def _visit(tree, points, point, stack, nearest, widths):
    """Fill the list of the points nearest to one point.

    stack: (2, depth + 2) nodes to visit and lower bounds of their distances.
    nearest, widths: (count,) the list, at first FAR everywhere.
    Invariant: the list has the nearest points of all nodes visited so far; every other point is in
    a node on the stack or is too far for the list.
    """
    few = len(nearest) - 1
    nodes, bounds = stack
    nodes[0], bounds[0], depth = 0, 0, 1
    while depth:
        depth -= 1
        node, bound = nodes[depth], bounds[depth]
        if bound > widths[few] or (bound == widths[few] and tree.least[node] > nearest[few]):
            continue
        left = np.int64(tree.child[node])
        if left < 0:
            for s in range(tree.first[node], tree.last[node]):
                if tree.which[s] != point:
                    width = pair_width(points, point, tree.line, tree.name, np.int64(s))
                    _insert(tree.which[s], width, nearest, widths)
            continue
        near, far = left, left + 1
        low = _least_width(tree, points, point, near)
        high = _least_width(tree, points, point, far)
        if high < low or (high == low and tree.slot[point] >= tree.first[far]):
            near, far, low, high = far, near, high, low
        if high <= widths[few]:
            nodes[depth], bounds[depth] = far, high
            depth += 1
        if low <= widths[few]:
            nodes[depth], bounds[depth] = near, low
            depth += 1


@njit(cache=True, error_model="numpy", nogil=True)
def fill_nearest(tree, points, first, last, stack, nearest, widths):
    """Fill the lists of the points in slots first … last − 1.

    stack: scratch of `_visit`. nearest, widths: (points, count) indices and distances, nearest
    first, −1 if there are fewer points.
    """
    for s in range(first, last):
        point = np.int64(tree.which[s])
        for i in range(nearest.shape[1]):
            nearest[point, i] = widths[point, i] = FAR
        _visit(tree, points, point, stack, nearest[point], widths[point])
        for i in range(nearest.shape[1]):
            if nearest[point, i] == FAR:
                nearest[point, i] = -1
                widths[point, i] = -1
