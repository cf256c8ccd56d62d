# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: annealing by exchanges between neighbouring groups, whose number stays the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import (
    Points,
    add_record,
    box_width,
    copy_ids,
    empty_box,
    make_boxes,
)
from shoal.support._random import draw_below, draw_share
from shoal.support.arrays import Codes, Counts
from shoal.support.compiling import njit


class State(NamedTuple):
    """The current grouping.

    ids: (records,) group of each record.
    members: (groups, room) records of each group, in the first `size` entries of its row.
    size: (groups,) number of records. loss: (groups,) size × width.
    box: Boxes with one box, scratch. dice: (1,) state of the random numbers.
    """

    ids: Any
    members: Any
    size: Any
    loss: Any
    box: Any
    dice: Any


def make_state(points: Points, ids: Codes, k: int, seed: int) -> State:
    """Return the state of a grouping whose groups have up to 2k − 1 records."""
    groups = int(ids.max()) + 1
    size: Counts = np.bincount(ids).astype(np.int64)
    members = np.zeros((groups, 2 * k), dtype=np.int32)
    order = np.argsort(ids, kind="stable")
    place = np.arange(len(ids)) - np.repeat(np.cumsum(size) - size, size)
    members[ids[order], place] = order
    dice = np.array([2 * seed + 1], dtype=np.uint64)
    loss = np.zeros(groups, dtype=np.int64)
    return State(ids.copy(), members, size, loss, make_boxes(points, 1), dice)


@njit(cache=True, error_model="numpy")
def _weigh(points, state, group, without, extra):
    """Return the loss of a group without one of its records and with an extra one; −1 is none."""
    # from the members: groups are small, and no second-best edges have to be maintained
    empty_box(state.box, 0)
    count = 0
    for i in range(state.size[group]):
        record = state.members[group, i]
        if record != without:
            add_record(points, state.box, 0, record)
            count += 1
    if extra >= 0:
        add_record(points, state.box, 0, extra)
        count += 1
    return count * box_width(points, state.box, 0)


@njit(cache=True, error_model="numpy")
def _put(state, record, group):
    """Move a record to a group."""
    old = state.ids[record]
    last = state.size[old] - 1
    for i in range(last):
        if state.members[old, i] == record:
            state.members[old, i] = state.members[old, last]
            break
    state.size[old] = last
    state.members[group, state.size[group]] = record
    state.size[group] += 1
    state.ids[record] = group


@njit(cache=True, error_model="numpy")
def _exchange(points, state, near, record, k, limit):
    """Move a record to a neighbour's group or swap it with a record there, if cheap enough.

    Returns the increase of the loss, 0 if nothing is moved. near: Near, the neighbours.
    """
    point = near.point[record]
    at = draw_below(state.dice, near.others.shape[1] + 1)
    if at > 0:
        point = near.others[point, at - 1]
    if point < 0:
        return np.int64(0)
    here = state.ids[record]
    copies = near.first[point + 1] - near.first[point]
    there = state.ids[near.first[point] + draw_below(state.dice, copies)]
    if here == there:
        return np.int64(0)
    before = state.loss[here] + state.loss[there]
    best, swapped = np.int64(2**62), -1
    if state.size[here] > k and state.size[there] < 2 * k - 1:
        # a move, if both groups keep their least and greatest size
        best = _weigh(points, state, here, record, -1) - before
        best += _weigh(points, state, there, -1, record)
    other = state.members[there, draw_below(state.dice, state.size[there])]
    cost = _weigh(points, state, here, record, other) - before
    cost += _weigh(points, state, there, other, record)
    if cost < best:
        best, swapped = cost, other
    if best > limit:
        return np.int64(0)
    _put(state, record, there)
    if swapped >= 0:
        _put(state, swapped, here)
    state.loss[here] = _weigh(points, state, here, -1, -1)
    state.loss[there] = _weigh(points, state, there, -1, -1)
    return best


@njit(cache=True, error_model="numpy")
def anneal_swaps(points, state, near, k, hot, cold, steps, best):
    """Anneal a grouping; store the best one found.

    hot, cold: the first and last temperature, in units of loss.
    best: (records,) receives the best grouping.
    Invariant: `total` is the loss of state.ids, and `least` that of `best`.
    """
    total = np.int64(0)
    for group in range(len(state.size)):
        state.loss[group] = _weigh(points, state, group, -1, -1)
        total += state.loss[group]
    least = total
    copy_ids(state.ids, best)
    heat, cooling = hot, (cold / hot) ** (1.0 / steps)
    for _ in range(steps):
        heat *= cooling
        # an increase is accepted with probability e^(−increase / heat)
        limit = np.int64(-heat * np.log(draw_share(state.dice)))
        record = draw_below(state.dice, len(state.ids))
        total += _exchange(points, state, near, record, k, limit)
        if total < least:
            least = total
            copy_ids(state.ids, best)
