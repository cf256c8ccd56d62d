# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: best-first branch and bound over boxes of a lattice.

A box is all nodes between `low` and `high`. Raising a level never lowers what the levels alone
lose, and never raises what suppression adds. So every node of a box loses at least the levels of
`low` and the suppression of `high`, and if `high` suppresses too much, so does every node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.lattice._class_counts import add_source, count_node, find_source
from shoal.support.compiling import njit

TIE = 1e-12  # costs that differ by no more are equal; the first node in order is then chosen
ROUNDING = 1e-13  # of a cost
DONE, PAUSED, ASK, FULL, JUDGE = range(5)


class Losses(NamedTuple):
    """The objective: the weighted mean, over attributes, of levels and suppression.

    by_level: (attributes, levels) mean loss of all records by level, as if none were suppressed.
    weights: (attributes,) sum 1. geometric: whether log(1 + loss) is averaged instead of the loss.
    records: number of records. by_size: whether class sizes determine the loss.
    judged: whether the caller judges each counted node; if neither, it is asked about single ones.
    """

    by_level: Any
    weights: Any
    geometric: bool
    records: int
    by_size: bool
    judged: bool


class Boxes(NamedTuple):
    """Open boxes, and the best node so far.

    low, high: (capacity, attributes). bound: (capacity,) lower bound of the cost of their nodes.
    lost: (capacity, attributes) what suppression at `high` adds to the loss of each attribute.
    counted: (capacity,) whether `lost` is known.
    heap: (capacity,) a permutation: first the open boxes as a binary heap by bound, then free ones.
    open: (1,) number of open boxes. best: (attributes,) the best node. cost: (1,) its cost, which
        is infinite if there is none. counts: (1,) nodes whose classes were counted.
    node: (attributes,) the node to ask about, or to store a table of.
    extra: (attributes,) scratch: losses by attribute.
    """

    low: Any
    high: Any
    bound: Any
    lost: Any
    counted: Any
    heap: Any
    open: Any
    best: Any
    cost: Any
    counts: Any
    node: Any
    extra: Any


@njit(cache=True, error_model="numpy", nogil=True)
def scaled(losses, j, loss):
    """Return the part of an attribute in the weighted mean."""
    return losses.weights[j] * (np.log1p(loss) if losses.geometric else loss)


@njit(cache=True, error_model="numpy", nogil=True)
def push(boxes):
    """Add the first free box to the heap."""
    heap, bound = boxes.heap, boxes.bound
    at = boxes.open[0]
    box = heap[at]
    boxes.open[0] += 1
    # sift up: a parent with a greater bound moves down
    while at > 0 and bound[box] < bound[heap[(at - 1) >> 1]]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = box


@njit(cache=True, error_model="numpy", nogil=True)
def pop(boxes):
    """Remove the box with the least bound from the heap and return it; it is the first free one."""
    heap, bound = boxes.heap, boxes.bound
    box, end = heap[0], boxes.open[0] - 1
    moved = heap[end]
    at = 0
    # sift the last box down from the root; its slot takes the removed one
    while True:
        child = 2 * at + 1
        if child >= end:
            break
        if child + 1 < end and bound[heap[child + 1]] < bound[heap[child]]:
            child += 1
        if bound[heap[child]] >= bound[moved]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved
    heap[end] = box
    boxes.open[0] = end
    return box


@njit(cache=True, error_model="numpy", nogil=True)
def precedes(one, other):
    """Return whether a node comes before another one in the order of the lattice."""
    for j in range(len(one)):
        if one[j] != other[j]:
            return one[j] < other[j]
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def is_hopeless(boxes, bound, low):
    """Return whether no node above `low` with this bound can replace the best node."""
    if bound > boxes.cost[0] + TIE:
        return True
    # as cheap as the best node: only a node that comes before it could replace it
    return bound >= boxes.cost[0] - ROUNDING and not precedes(low, boxes.best)


@njit(cache=True, error_model="numpy", nogil=True)
def offer(boxes, node, cost):
    """Make a node the best one if it costs less, or as much and comes first."""
    least = boxes.cost[0]
    if cost < least - TIE or (cost <= least + TIE and precedes(node, boxes.best)):
        for j in range(len(node)):
            boxes.best[j] = node[j]
        boxes.cost[0] = min(cost, least)


@njit(cache=True, error_model="numpy", nogil=True)
def shrink(losses, boxes, box):
    """Set the bound of a box whose `high` is counted, and lower `high` while it costs too much."""
    low, high, lost = boxes.low[box], boxes.high[box], boxes.lost[box]
    bound = 0.0
    for j in range(len(low)):
        bound += scaled(losses, j, losses.by_level[j, low[j]] + lost[j])
    boxes.bound[box] = bound
    for j in range(len(low)):
        at_low = scaled(losses, j, losses.by_level[j, low[j]] + lost[j])
        # every node at high[j] costs at least the bound with this attribute at high[j]
        while high[j] > low[j]:
            at_high = scaled(losses, j, losses.by_level[j, high[j]] + lost[j])
            if bound - at_low + at_high <= boxes.cost[0] + TIE + ROUNDING:
                break
            high[j] -= 1
            # how much is suppressed at the new `high` is unknown
            boxes.counted[box] = False


@njit(cache=True, error_model="numpy", nogil=True)
def split(losses, boxes, box, top):
    """Move the nodes at the highest level of an attribute from a box to another one.

    The attribute is the one whose levels differ most in loss.
    """
    low, high = boxes.low[box], boxes.high[box]
    widest, most = 0, -1.0
    for j in range(len(low)):
        boxes.low[top, j], boxes.high[top, j] = low[j], high[j]
        boxes.lost[top, j] = boxes.lost[box, j]
        rise = losses.weights[j] * (losses.by_level[j, high[j]] - losses.by_level[j, low[j]])
        if high[j] > low[j] and rise > most:
            widest, most = j, rise
    # the upper part keeps `high`, whose suppression is counted; the lower part gets another one
    boxes.low[top, widest] = high[widest]
    boxes.counted[top] = True
    shrink(losses, boxes, top)
    high[widest] -= 1
    boxes.counted[box] = False


@njit(cache=True, error_model="numpy", nogil=True)
def settle(losses, boxes, cost, lost):
    """Offer the `high` of the box that was taken last, and open the box again.

    cost: of `high`, infinite if it suppresses too much. lost: (attributes,) what suppression adds
        at least to the loss of each attribute at every node of the box.
    """
    box = boxes.heap[boxes.open[0]]
    offer(boxes, boxes.high[box], cost)
    for j in range(len(lost)):
        boxes.lost[box, j] = max(boxes.lost[box, j], lost[j])
    boxes.counted[box] = True
    shrink(losses, boxes, box)
    push(boxes)


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(losses, node, lost):
    """Return the cost of a node, and divide what suppression adds by the number of records."""
    cost = 0.0
    for j in range(len(node)):
        lost[j] /= losses.records
        cost += scaled(losses, j, losses.by_level[j, node[j]] + lost[j])
    return cost


@njit(cache=True, error_model="numpy", nogil=True)
def search_boxes(levels, store, demand, losses, boxes, reads):
    """Search until the best node is proven, or so many rows are read; returns why it stopped.

    ASK: `boxes.node` is a single node that may be better than the best one; the caller offers it.
    JUDGE: the caller settles the box taken last, whose `high` is `boxes.node`, or drops it.
    FULL: there is no room for further boxes.
    Invariant: every node that could replace the best one is in an open box. One pass takes the box
    with the least bound, and counts its `high` or splits it.
    """
    until = store.reads[0] + reads
    while boxes.open[0]:
        if boxes.open[0] + 2 > len(boxes.heap):
            return FULL
        if store.reads[0] > until:
            return PAUSED
        # it stays in the first free slot until it is pushed again; a box that is not pushed is
        # dropped
        box = pop(boxes)
        low, high, lost = boxes.low[box], boxes.high[box], boxes.lost[box]
        if is_hopeless(boxes, boxes.bound[box], low):
            continue
        if boxes.counted[box]:
            single = True
            for j in range(len(low)):
                single = single and low[j] == high[j]
            if single and (losses.by_size or losses.judged):
                # its only node was offered when it was counted
                continue
            if single:
                for j in range(len(low)):
                    boxes.node[j] = low[j]
                return ASK
            # the upper part goes to the second free slot; the two pushes open both parts
            split(losses, boxes, box, boxes.heap[boxes.open[0] + 1])
            push(boxes)
        else:
            source = find_source(store, high)
            rows, suppressed, _, complete = count_node(levels, store, demand, source, high, lost, 0)
            boxes.counts[0] += 1
            if suppressed <= demand.limit:
                cost = weigh(losses, high, lost)
                if losses.by_size:
                    offer(boxes, high, cost)
            if complete:
                # the table that may be stored belongs to another node, which may be the best one
                node, extra = boxes.node, boxes.extra
                suppressed_below = add_source(
                    levels, store, demand, source, high, rows, node, extra
                )
                if losses.by_size and suppressed_below <= demand.limit:
                    offer(boxes, node, weigh(losses, node, extra))
            if suppressed > demand.limit:
                # then every node of the box suppresses too much
                continue
            if losses.judged:
                for j in range(len(high)):
                    boxes.node[j] = high[j]
                return JUDGE
            boxes.counted[box] = True
            shrink(losses, boxes, box)
        push(boxes)
    return DONE
