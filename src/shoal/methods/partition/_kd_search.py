# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: groups of exactly k records, one after the other, from a tree of the remaining points.

    gather_from, gather_far    seeds in a given order, or each the point furthest from the last one
    cheapest, furthest         the live point that widens a group least, or is furthest from a point
    price_all                  the costs of leftovers

A search is depth first, the nearer child first; a node is skipped if it cannot contain the best
point. Ties go to the point with the least index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import FAR, ONE, Points
from shoal.methods.partition._kd_tree import pair_width, retire
from shoal.support.compiling import njit


class Draft(NamedTuple):
    """The box of the group that is being formed, and the cost of widening it.

    low, high: (ordered columns,) the box.
    room: (ordered columns,) how much its width can still grow.
    seen: (words,) the codes in it, as bits.
    fold: (nominal columns,) the same modulo 64.
    step: (nominal columns,) cost of another value.
    second: (nominal columns,) cost of a second value; from the third on, it is the unit.
    """

    low: Any
    high: Any
    room: Any
    seen: Any
    fold: Any
    step: Any
    second: Any


def make_draft(points: Points, second: Any) -> Draft:
    """Return an empty draft."""
    ordered, nominal = points.line.shape[1], points.name.shape[1]
    return Draft(
        np.zeros(ordered, dtype=np.int32),
        np.zeros(ordered, dtype=np.int32),
        np.zeros(ordered, dtype=np.int32),
        np.zeros(int(points.word[-1]), dtype=np.uint64),
        np.zeros(nominal, dtype=np.uint64),
        np.zeros(nominal, dtype=np.int64),
        second.astype(np.int64),
    )


@njit(cache=True, error_model="numpy")
def begin(draft, points, point):
    """Start the draft with a single point."""
    for j in range(len(draft.low)):
        draft.low[j] = draft.high[j] = points.line[point, j]
        draft.room[j] = points.cap[j]
    for w in range(len(draft.seen)):
        draft.seen[w] = np.uint64(0)
    for j in range(len(draft.fold)):
        code = points.name[point, j]
        draft.seen[points.word[j] + (code >> 6)] = ONE << np.uint64(code & 63)
        draft.fold[j] = ONE << np.uint64(code & 63)
        draft.step[j] = draft.second[j]


@njit(cache=True, error_model="numpy")
def stretch(draft, points, point):
    """Widen the draft to cover one more point."""
    for j in range(len(draft.low)):
        place = points.line[point, j]
        low, high = min(draft.low[j], place), max(draft.high[j], place)
        draft.low[j], draft.high[j] = low, high
        draft.room[j] = max(points.cap[j] - (np.int64(high) - low), 0)
    for j in range(len(draft.fold)):
        code = points.name[point, j]
        word, bit = points.word[j] + (code >> 6), ONE << np.uint64(code & 63)
        if not draft.seen[word] & bit:
            draft.seen[word] |= bit
            draft.fold[j] |= bit
            draft.step[j] = points.unit[j]


@njit(cache=True, error_model="numpy")
def growth(draft, line, name, word, point):
    """Return the increase of the width by one more point."""
    total = np.int64(0)
    for j in range(len(draft.low)):
        place = line[point, j]
        # negative inside the box
        gap = max(draft.low[j] - place, place - draft.high[j])
        total += min(max(gap, 0), draft.room[j])
    for j in range(len(draft.fold)):
        code = name[point, j]
        if not (draft.seen[word[j] + (code >> 6)] >> np.uint64(code & 63)) & ONE:
            total += draft.step[j]
    return total


@njit(cache=True, error_model="numpy")
def _least_growth(draft, tree, node):
    """Return a lower bound of the increase by any live point of a node."""
    total = np.int64(0)
    for j in range(len(draft.low)):
        gap = max(draft.low[j] - tree.high[node, j], tree.low[node, j] - draft.high[j])
        total += min(max(gap, 0), draft.room[j])
    for j in range(len(draft.fold)):
        # no value of the node is in the box, even modulo 64
        if not tree.fold[node, j] & draft.fold[j]:
            total += draft.step[j]
    return total


@njit(cache=True, error_model="numpy")
def cheapest(tree, draft, word):
    """Return the live point that widens the draft least, and by how much.

    word: Points.word. Invariant: `found` is the best point of all leaves visited so far and `best`
    its growth; every better point is in a node on the stack (tree.stack, nodes and lower bounds).
    """
    best, found = np.int64(FAR), FAR
    nodes, bounds = tree.stack
    nodes[0], bounds[0], depth = 0, 0, 1
    while depth:
        depth -= 1
        node, bound = nodes[depth], bounds[depth]
        if bound > best or (bound == best and tree.least[node] >= found):
            continue
        left = np.int64(tree.child[node])
        if left < 0:
            for s in range(tree.first[node], tree.last[node]):
                grown = growth(draft, tree.line, tree.name, word, np.int64(s))
                if grown < best or (grown == best and tree.which[s] < found):
                    best, found = grown, tree.which[s]
            continue
        # the child with the lower bound is pushed last and so visited first
        near, far = left, left + 1
        low, high = _least_growth(draft, tree, near), _least_growth(draft, tree, far)
        if high < low or (high == low and tree.least[far] < tree.least[near]):
            near, far, low, high = far, near, high, low
        if high <= best and tree.least[far] < FAR:
            nodes[depth], bounds[depth] = far, high
            depth += 1
        if low <= best and tree.least[near] < FAR:
            nodes[depth], bounds[depth] = near, low
            depth += 1
    return np.int64(found), best


@njit(cache=True, error_model="numpy")
def _most_width(tree, points, point, away, node):
    """Return an upper bound of the distance to a live point of a node, by its box or the middle.

    away: distance of the point from the middle.
    """
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        place = points.line[point, j]
        gap = max(place - tree.low[node, j], tree.high[node, j] - place)
        total += min(np.int64(gap), points.cap[j])
    for j in range(points.name.shape[1]):
        alone = ONE << np.uint64(points.name[point, j] & 63)
        # codes of up to 64 values are exact modulo 64: if only its own bit is set, all points share
        # the value
        single = points.word[j + 1] - points.word[j] == 1
        if not single or tree.fold[node, j] != alone:
            total += points.unit[j]
    # the way over the middle is another upper bound
    return min(total, away + tree.reach[node])


@njit(cache=True, error_model="numpy")
def furthest(tree, points, point):
    """Return the live point furthest from a point, which may be used up.

    Invariant: `found` is the furthest point of all leaves visited so far and `best` its distance;
    every further point is in a node on the stack (tree.stack, nodes and upper bounds).
    """
    best, found = np.int64(-1), FAR
    away = pair_width(tree.middle, np.int64(0), points.line, points.name, point)
    nodes, bounds = tree.stack
    nodes[0], bounds[0], depth = 0, np.int64(FAR), 1
    while depth:
        depth -= 1
        node, bound = nodes[depth], bounds[depth]
        if bound < best or (bound == best and tree.least[node] >= found):
            continue
        left = np.int64(tree.child[node])
        if left < 0:
            for s in range(tree.first[node], tree.last[node]):
                width = pair_width(points, point, tree.line, tree.name, np.int64(s))
                if width > best or (width == best and tree.which[s] < found):
                    best, found = width, tree.which[s]
            continue
        near, far = left, left + 1
        low = _most_width(tree, points, point, away, near)
        high = _most_width(tree, points, point, away, far)
        if low > high or (low == high and tree.least[near] < tree.least[far]):
            near, far, low, high = far, near, high, low
        if low >= best and tree.least[near] < FAR:
            nodes[depth], bounds[depth] = near, low
            depth += 1
        if high >= best and tree.least[far] < FAR:
            nodes[depth], bounds[depth] = far, high
            depth += 1
    return np.int64(found)


class Pool(NamedTuple):
    """The remaining records of each point, and the groups formed so far.

    next, end: (points,) the first remaining record of a point, and the first of the next point.
    taken: (records,) the records in the order in which they are taken, in its first `count`
        entries; each k of them form a group.
    count: (1,) number of records taken.
    seed: (1,) number of seeds used up.
    last: (1,) the point taken last.
    """

    next: Any
    end: Any
    taken: Any
    count: Any
    seed: Any
    last: Any


@njit(cache=True, error_model="numpy")
def _take(pool, tree, point, amount):
    """Take records of a point, and remove the point from the tree once it is used up."""
    for _ in range(amount):
        pool.taken[pool.count[0]] = pool.next[point]
        pool.next[point] += 1
        pool.count[0] += 1
    pool.last[0] = point
    if pool.next[point] == pool.end[point]:
        retire(tree, point)


@njit(cache=True, error_model="numpy")
def _gather(pool, tree, draft, points, seed, k):
    """Form one group: a seed, then repeatedly the point that widens the box least.

    Invariant: the draft is the box of the k − need records of the group taken so far.
    """
    begin(draft, points, seed)
    _take(pool, tree, seed, np.int64(1))
    need = k - 1
    while need:
        point, grown = cheapest(tree, draft, points.word)
        # a box that grows may prefer another point next, so one record at a time
        amount = np.int64(1)
        if grown:
            stretch(draft, points, point)
        else:  # the box does not change, so the point stays the best until it is used up
            amount = min(need, pool.end[point] - pool.next[point])
        _take(pool, tree, point, amount)
        need -= amount


@njit(cache=True, error_model="numpy")
def gather_from(pool, tree, draft, points, seeds, k, limit):
    """Form groups of points in the order of the seeds until `limit` records are taken.

    seeds: the points in the order in which they become seeds.
    Invariant: the seeds before pool.seed are used up.
    """
    while pool.count[0] + k <= limit:
        seed = seeds[pool.seed[0]]
        if pool.next[seed] == pool.end[seed]:
            pool.seed[0] += 1
        else:
            _gather(pool, tree, draft, points, seed, k)


@njit(cache=True, error_model="numpy")
def gather_far(pool, tree, draft, points, k, limit):
    """Form groups, each from the point furthest from the one taken last."""
    while pool.count[0] + k <= limit:
        seed = furthest(tree, points, pool.last[0])
        _gather(pool, tree, draft, points, seed, k)


@njit(cache=True, error_model="numpy")
def price_leftovers(draft, points, members, leftovers, group, costs):
    """Store the increase of the loss of a group with these members for each leftover.

    members, leftovers: records. costs: (leftovers, groups), of which column `group` is written.
    Invariant of the first loop: the draft is the box of members[:i], and `width` its width.
    """
    begin(draft, points, members[0])
    width = np.int64(0)
    for i in range(1, len(members)):
        width += growth(draft, points.line, points.name, points.word, members[i])
        stretch(draft, points, members[i])
    for i in range(len(leftovers)):
        grown = growth(draft, points.line, points.name, points.word, leftovers[i])
        costs[i, group] = width + (len(members) + 1) * grown


@njit(cache=True, error_model="numpy")
def price_all(draft, points, taken, k, leftovers, costs):
    """Store the increase of the loss of each group for each leftover.

    taken: (groups · k,) the records of the groups; costs: (leftovers, groups).
    """
    for group in range(costs.shape[1]):
        members = taken[group * k : (group + 1) * k]
        price_leftovers(draft, points, members, leftovers, group, costs)
