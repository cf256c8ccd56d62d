"""Groups of k records around seeds, and the nearest neighbours of distinct points, by a tree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from shoal.methods.partition import _kd_search as kernels
from shoal.methods.partition._kd_search import make_draft
from shoal.methods.partition._kd_tree import fill_nearest, make_tree
from shoal.methods.partition.records import Records
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report

_BLOCK = 4096  # points processed between two progress reports


def nearest_points(records: Records, count: int, threads: int = 1) -> tuple[Codes, Codes]:
    """Return, for each distinct point, its nearest others by the width of the box over both.

    Both are (points, count), nearest first, ties by index: indices, and widths in units; −1 if
    there are fewer points. The result does not depend on the number of threads.
    """
    points = records.take(first_copies(records)).points
    tree = make_tree(points)
    size = len(points.line)
    nearest, widths = (np.empty((size, count), dtype=np.int32) for _ in range(2))

    def fill(first: int) -> None:
        stack = np.empty_like(tree.stack)
        fill_nearest(tree, points, first, min(first + _BLOCK, size), stack, nearest, widths)

    pool = ThreadPoolExecutor(max(threads, 1))
    try:
        for done, _ in enumerate(pool.map(fill, range(0, size, _BLOCK)), start=1):
            report("neighbours", min(done * _BLOCK, size), size)
    finally:
        pool.shutdown(cancel_futures=True)
    return nearest, widths


_GATHERING_BUDGET = 5_000  # records grouped between two progress reports, which handle interrupts


def gather(
    records: Records,
    k: int,
    seeds: Counts | None,
    second: Counts | None = None,
    *,
    settle: bool = False,
) -> Codes:
    """Return the group of each record: a seed and, in turn, the k − 1 that widen its box least.

    seeds: distinct points, each a seed while it has records left; None takes the point furthest
        from the one added last, starting with the first point.
    second: (nominal columns,) cost of a second value, by default the unit.
    settle: whether leftovers are added to groups that already include earlier leftovers.
    """
    count = len(records)
    if count < k:
        return np.zeros(count, dtype=np.int32)
    starts = first_copies(records)
    points = records.take(starts).points
    tree = make_tree(points)
    draft = make_draft(points, points.unit if second is None else second)
    pool = kernels.Pool(
        next=starts.copy(),
        end=np.append(starts[1:], count),
        taken=np.empty(count, dtype=np.int64),
        count=np.zeros(1, dtype=np.int64),
        seed=np.zeros(1, dtype=np.int64),
        last=np.zeros(1, dtype=np.int64),
    )
    whole = count // k * k
    for limit in [*range(_GATHERING_BUDGET + k, whole, _GATHERING_BUDGET), whole]:
        if seeds is None:
            kernels.gather_far(pool, tree, draft, points, k, limit)
        else:
            kernels.gather_from(pool, tree, draft, points, seeds, k, limit)
        report("group", int(pool.count[0]), count)
    return _distribute(records, pool, draft, k, settle)


def first_copies(records: Records) -> Counts:
    """Return the first record of each distinct point."""
    return np.flatnonzero(np.diff(records.copies, prepend=-1))


def _distribute(records: Records, pool: Any, draft: Any, k: int, settle: bool) -> Codes:
    """Add each leftover to the group whose loss grows least; ties go to the earliest group."""
    groups = len(records) // k
    taken = pool.taken[: groups * k]
    ids = np.full(len(records), -1, dtype=np.int32)
    ids[taken] = np.repeat(np.arange(groups, dtype=np.int32), k)
    leftovers = np.flatnonzero(ids < 0)
    costs = np.empty((len(leftovers), groups), dtype=np.int64)
    kernels.price_all(draft, records.points, taken, k, leftovers, costs)
    for i, record in enumerate(leftovers):
        chosen = int(costs[i].argmin())
        ids[record] = chosen
        if settle:
            # the chosen group has grown, so its cost for the other leftovers has changed
            members = np.append(taken[chosen * k : (chosen + 1) * k], leftovers[: i + 1])
            members = members[ids[members] == chosen]
            kernels.price_leftovers(
                draft, records.points, members, leftovers[i + 1 :], chosen, costs[i + 1 :]
            )
    return ids
