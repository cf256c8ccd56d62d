# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: groups of exactly k records, one after the other, and the costs of leftovers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize.partition.neighbours._kd_search import (
    begin,
    cheapest,
    furthest,
    growth,
    stretch,
)
from shoal.anonymize.partition.neighbours._kd_tree import retire
from shoal.support.compiling import njit


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
