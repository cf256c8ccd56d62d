# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: a tree over distinct points that shrinks as points are used up, and nearest points.

Every node has the box over its live points and the least of their indices, so that a search can
skip it; the values of a nominal column are folded into 64 bits, which may include additional values
but never omit one.

    slots        0 … 7 | 8 … 15 | 16 … 20 | …     the points, leaf after leaf
    nodes        root, its two children, their children, …; children are adjacent

Points, slots and nodes are passed as int64 everywhere, so each kernel is compiled once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import FAR, ONE, Points
from shoal.support.arrays import Codes
from shoal.support.compiling import njit

_LEAF = 8  # largest number of points in a leaf
_SAMPLE = 63  # values whose median is the cut


class Tree(NamedTuple):
    """A k-d tree; node 0 is the root, and children are adjacent.

    first, last: (nodes,) the slots of a node; in a leaf, those of its live points.
    child: (nodes,) the left child, −1 for a leaf.
    parent: (nodes,) −1 for the root.
    low, high: (nodes, ordered columns) the box over the live points.
    fold: (nodes, nominal columns) bits of the live points' codes, modulo 64.
    least: (nodes,) the least live point, FAR if none is left.
    reach: (nodes,) largest distance of a live point from the middle.
    middle: one central point, as Points, from which `away` is measured.
    line, name: (slots, columns) the points in the order of slots.
    away: (slots,) distance of the point from the middle.
    which: (slots,) the point of a slot.
    slot: (points,) the slot of a live point.
    home: (points,) the leaf of a point.
    stack: (2, depth + 2) scratch of a search: nodes and bounds.
    """

    first: Any
    last: Any
    child: Any
    parent: Any
    low: Any
    high: Any
    fold: Any
    least: Any
    reach: Any
    middle: Any
    line: Any
    name: Any
    away: Any
    which: Any
    slot: Any
    home: Any
    stack: Any


def make_tree(points: Points) -> Tree:
    """Return the tree over these points, which are numbered from 0."""
    count, ordered = points.line.shape
    nominal = points.name.shape[1]
    room = 2 * count  # no tree has more nodes; untouched memory costs nothing
    tree = Tree(
        first=_codes(room),
        last=_codes(room),
        child=_codes(room),
        parent=_codes(room),
        low=_codes(room, ordered),
        high=_codes(room, ordered),
        fold=np.empty((room, nominal), dtype=np.uint64),
        least=_codes(room),
        reach=_codes(room),
        middle=_middle(points),
        line=np.empty_like(points.line),
        name=np.empty_like(points.name),
        away=_codes(count),
        which=np.arange(count, dtype=np.int32),
        slot=_codes(count),
        home=_codes(count),
        stack=np.zeros((2, 1), dtype=np.int64),
    )
    depths = np.zeros(room, dtype=np.int32)
    nodes = _plant(tree, points, depths, _codes(count), _codes(_SAMPLE))
    _settle(tree, points, nodes)
    return tree._replace(stack=np.zeros((2, int(depths[:nodes].max()) + 2), dtype=np.int64))


def _middle(points: Points) -> Points:
    """Return one central point: mean positions and frequent codes."""
    line = np.array([[int(place.mean()) for place in points.line.T]], dtype=np.int32)
    name = np.array([[int(np.bincount(codes).argmax()) for codes in points.name.T]], dtype=np.int32)
    return points._replace(line=line.reshape(1, -1), name=name.reshape(1, -1))


def _codes(*shape: int) -> Codes:
    return np.empty(shape, dtype=np.int32)


@njit(cache=True, error_model="numpy")
def _plant(tree, points, depths, spare, sample):
    """Cut until the leaves are small; return the number of nodes, parents before children.

    depths: (nodes,) zeros, receive the depth of each node. spare: (points,) scratch of `_cut`.
    sample: (_SAMPLE,) scratch of `_median`.
    Invariant: nodes before `node` are final; nodes from `node` on have their slots and parent.
    """
    tree.first[0], tree.last[0], tree.parent[0] = 0, len(tree.which), -1
    nodes, node = 1, 0
    while node < nodes:
        first, last = np.int64(tree.first[node]), np.int64(tree.last[node])
        tree.child[node] = -1
        if last - first > _LEAF:
            middle = _cut(tree, points, first, last, spare, sample)
            tree.child[node] = nodes
            for begin, end in ((first, middle), (middle, last)):
                tree.first[nodes], tree.last[nodes] = begin, end
                tree.parent[nodes] = node
                depths[nodes] = depths[node] + 1
                nodes += 1
        node += 1
    return nodes


@njit(cache=True, error_model="numpy")
def _cut(tree, points, first, last, spare, sample):
    """Divide the points of some slots by their widest column; return the first slot above.

    spare: (points,) scratch for the points above. If no column has a width, the slots are
    halved.
    Invariant of the division: slots first … middle − 1 have points below the bar, spare[:beyond]
    those at or above it, both in their earlier order.
    """
    column, widest = -1, np.int64(0)
    ordered = points.line.shape[1]
    for j in range(ordered + points.name.shape[1]):
        low, high = FAR, np.int32(-1)
        for s in range(first, last):
            place = _place(points, tree.which[s], j)
            low, high = min(low, place), max(high, place)
        if j < ordered:
            width = min(np.int64(high) - low, points.cap[j])
        else:
            width = 2 * points.unit[j - ordered] if high > low else np.int64(0)
        if width > widest:
            column, widest, least = j, width, low
    if column < 0:
        return (first + last) // 2
    chosen = np.int64(column)
    # above the least place, so that neither side is empty
    bar = max(_median(tree, points, first, last, chosen, sample), least + 1)
    middle, beyond = first, 0
    for s in range(first, last):
        point = tree.which[s]
        if _place(points, point, chosen) < bar:
            tree.which[middle] = point
            middle += 1
        else:
            spare[beyond] = point
            beyond += 1
    for i in range(beyond):
        tree.which[middle + i] = spare[i]
    return middle


@njit(cache=True, error_model="numpy")
def _place(points, point, j):
    ordered = points.line.shape[1]
    return points.line[point, j] if j < ordered else points.name[point, j - ordered]


@njit(cache=True, error_model="numpy")
def _median(tree, points, first, last, column, sample):
    """Return the median of some values, of an even sample if there are many.

    sample: (_SAMPLE,) scratch. Invariant: sample[:i] is sorted.
    """
    taken = min(last - first, _SAMPLE)
    for i in range(taken):
        value = _place(points, tree.which[first + i * (last - first) // taken], column)
        at = i
        while at > 0 and sample[at - 1] > value:
            sample[at] = sample[at - 1]
            at -= 1
        sample[at] = value
    return sample[taken // 2]


@njit(cache=True, error_model="numpy")
def _settle(tree, points, nodes):
    """Store the points by slots and fill every node's box, children before parents.

    Invariant of the last loop: all nodes after `node` are filled.
    """
    for s in range(len(tree.which)):
        point = tree.which[s]
        _lay(tree, s, points.line, points.name, np.int64(point))
        tree.slot[point] = s
        tree.away[s] = pair_width(tree.middle, np.int64(0), tree.line, tree.name, s)
    for node in range(nodes - 1, -1, -1):
        if tree.child[node] < 0:
            _fill_leaf(tree, node)
            for s in range(tree.first[node], tree.last[node]):
                tree.home[tree.which[s]] = node
        else:
            _fill_node(tree, node)


@njit(cache=True, error_model="numpy")
def _lay(tree, slot, line, name, point):
    """Write a point, of `line` and `name`, into a slot."""
    for j in range(line.shape[1]):
        tree.line[slot, j] = line[point, j]
    for j in range(name.shape[1]):
        tree.name[slot, j] = name[point, j]


@njit(cache=True, error_model="numpy")
def _fill_leaf(tree, node):
    """Compute a leaf's box, codes, least point and reach from its live points."""
    first, last = tree.first[node], tree.last[node]
    for j in range(tree.low.shape[1]):
        low, high = FAR, np.int32(-1)
        for s in range(first, last):
            low, high = min(low, tree.line[s, j]), max(high, tree.line[s, j])
        tree.low[node, j], tree.high[node, j] = low, high
    for j in range(tree.fold.shape[1]):
        bits = np.uint64(0)
        for s in range(first, last):
            bits |= ONE << np.uint64(tree.name[s, j] & 63)
        tree.fold[node, j] = bits
    least, reach = FAR, np.int32(-1)
    for s in range(first, last):
        least = min(least, tree.which[s])
        reach = max(reach, tree.away[s])
    tree.least[node], tree.reach[node] = least, reach


@njit(cache=True, error_model="numpy")
def _fill_node(tree, node):
    """Compute a node from its two children; return whether it changed."""
    left, right = tree.child[node], tree.child[node] + 1
    changed = False
    for j in range(tree.low.shape[1]):
        low = min(tree.low[left, j], tree.low[right, j])
        high = max(tree.high[left, j], tree.high[right, j])
        # compared before it is overwritten: an unchanged node ends the way up
        changed |= low != tree.low[node, j] or high != tree.high[node, j]
        tree.low[node, j], tree.high[node, j] = low, high
    for j in range(tree.fold.shape[1]):
        bits = tree.fold[left, j] | tree.fold[right, j]
        changed |= bits != tree.fold[node, j]
        tree.fold[node, j] = bits
    least = min(tree.least[left], tree.least[right])
    reach = max(tree.reach[left], tree.reach[right])
    changed |= least != tree.least[node] or reach != tree.reach[node]
    tree.least[node], tree.reach[node] = least, reach
    return changed


@njit(cache=True, error_model="numpy", nogil=True)
def pair_width(points, point, line, name, other):
    """Return the width of a box over a point and another, of `line` and `name`."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        gap = abs(np.int64(points.line[point, j]) - line[other, j])
        total += min(gap, points.cap[j])
    for j in range(points.name.shape[1]):
        if points.name[point, j] != name[other, j]:
            total += points.unit[j]
    return total


@njit(cache=True, error_model="numpy")
def retire(tree, point):
    """Remove a used-up point and tighten the boxes above it.

    The last live point of the leaf takes its slot. Invariant: all nodes below `node` are up to
    date; a node that did not change leaves its ancestors unchanged.
    """
    node, hole = np.int64(tree.home[point]), np.int64(tree.slot[point])
    last = np.int64(tree.last[node]) - 1
    tree.last[node] = last
    if hole != last:
        _lay(tree, hole, tree.line, tree.name, last)
        tree.which[hole], tree.away[hole] = tree.which[last], tree.away[last]
        tree.slot[tree.which[hole]] = hole
    _fill_leaf(tree, node)
    node = np.int64(tree.parent[node])
    while node >= 0 and _fill_node(tree, node):
        node = np.int64(tree.parent[node])


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
        # the list was full of nearer points by the time the node came up
        if bound > widths[few] or (bound == widths[few] and tree.least[node] > nearest[few]):
            continue
        left = np.int64(tree.child[node])
        if left < 0:
            for s in range(tree.first[node], tree.last[node]):
                if tree.which[s] != point:
                    width = pair_width(points, point, tree.line, tree.name, np.int64(s))
                    _insert(tree.which[s], width, nearest, widths)
            continue
        # the nearer child is visited first; of equal ones, the child with the point itself
        near, far = left, left + 1
        low = _least_width(tree, points, point, near)
        high = _least_width(tree, points, point, far)
        if high < low or (high == low and tree.slot[point] >= tree.first[far]):
            near, far, low, high = far, near, high, low
        if high <= widths[few]:
            # pushed first, so visited last
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
