# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels of the worm: closed loops of moves over matchings.

Records are matched with slots, one each. Slots of a class are numbered from first[class] on, so
that a slot stands for its class. A record of type t may move along the edges indptr[t] …
indptr[t + 1], each of which leads to a class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support._random import draw_below, draw_share
from shoal.support.compiling import njit

BLOCK = 32  # edges that a draw scans one by one
MAX_REJECTIONS = 6  # expected draws of rejection sampling; with more, blocks are searched


class Links(NamedTuple):
    """The classes that each type of record may be in, by type and by class; read only.

    indptr: (types + 1,) the first edge of each type.
    classes: (edges,) the class of each edge, ascending in a type; empty if every type has all
        classes: then edge e of type t leads to class e − indptr[t].
    mass: (edges,) weight of a slot times slots of the class; only ratios in a type matter.
    blocks: (types + 1,) the first block of each type; a block has up to BLOCK edges.
    cumulated: (blocks,) the mass of a type up to the end of each block.
    largest: (types,) the largest mass of an edge, for rejection sampling; 0 if that would be slow.
    column, types, transposed: (classes + 1,), (edges,), (edges,) the same edges class by class:
        first edge of each class, type and mass of each edge; `types` is empty if `classes` is.
    """

    indptr: Any
    classes: Any
    mass: Any
    blocks: Any
    cumulated: Any
    largest: Any
    column: Any
    types: Any
    transposed: Any


class Records(NamedTuple):
    """The records and the slots of classes; read only.

    type: (records,) the type of each record.
    first: (classes + 1,) the first slot of each class.
    member: (records,) records sorted by true class, then by type; those without one come first.
    starts: (classes + 1,) the position in `member` of the first member of each class.
    """

    type: Any
    first: Any
    member: Any
    starts: Any


class Walker(NamedTuple):
    """A matching, and scratch to change it.

    slot, edge: (records,) the slot of each record, and the edge that leads to its class.
    owner: (slots,) the record in each slot. Between loops owner[slot[r]] == r for every record.
    random: (1,) the state of the random numbers.
    trail_record, trail_slot, trail_edge: (longest loop,) scratch: the record that each step of a
        loop moved, and its slot and edge before, to undo the loop.
    """

    slot: Any
    edge: Any
    owner: Any
    random: Any
    trail_record: Any
    trail_slot: Any
    trail_edge: Any


@njit(cache=True, nogil=True, error_model="numpy")
def class_of(links, row, edge):
    """Return the class that an edge of the type leads to."""
    return edge - links.indptr[row] if len(links.classes) == 0 else np.int64(links.classes[edge])


@njit(cache=True, nogil=True, error_model="numpy")
def edge_of(links, row, wanted):
    """Return the edge from a type to a class, −1 if there is none; classes ascend: bisection."""
    low, high = links.indptr[row], links.indptr[row + 1]
    if len(links.classes) == 0:
        return low + wanted
    while low < high:
        middle = (low + high) >> 1
        if links.classes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    found = low < links.indptr[row + 1] and links.classes[low] == wanted
    return low if found else np.int64(-1)


@njit(cache=True, nogil=True, error_model="numpy")
def cumulate(indptr, mass, blocks, cumulated, largest):
    """Fill in `cumulated` and `largest`; all arrays as in `Links`."""
    for row in range(len(indptr) - 1):
        total, top = 0.0, 0.0
        for block in range(blocks[row], blocks[row + 1]):
            start = indptr[row] + (block - blocks[row]) * BLOCK
            for e in range(start, min(start + BLOCK, indptr[row + 1])):
                total += mass[e]
                top = max(top, mass[e])
            cumulated[block] = total
        rare = total < top * (indptr[row + 1] - indptr[row]) / MAX_REJECTIONS
        largest[row] = 0.0 if rare else top


@njit(cache=True, nogil=True, error_model="numpy")
def turn(matrix, turned):
    """Transpose a matrix, tile by tile: matrix (height, width), turned (width, height)."""
    height, width = matrix.shape
    for top in range(0, height, BLOCK):
        for left in range(0, width, BLOCK):
            for i in range(top, min(top + BLOCK, height)):
                for j in range(left, min(left + BLOCK, width)):
                    turned[j, i] = matrix[i, j]


@njit(cache=True, nogil=True, error_model="numpy")
def least_positive(weights):
    """Return the smallest positive weight."""
    least = np.inf
    for weight in weights:
        if 0 < weight < least:
            least = weight
    return least


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def settle(links, records, walker, start):
    """Put each record into a slot of its class; return the number of records that do not fit.

    start: (records,) the class of each record. room: (classes,) scratch, the next free slot.
    """
    room = records.first[:-1].copy()
    wrong = 0
    for record in range(len(start)):
        edge = edge_of(links, records.type[record], start[record])
        if (
            edge < 0
            or links.mass[edge] <= 0
            or room[start[record]] == records.first[start[record] + 1]
        ):
            wrong += 1
            continue
        slot = room[start[record]]
        room[start[record]] += 1
        walker.slot[record], walker.edge[record], walker.owner[slot] = slot, edge, record
    return wrong


@njit(cache=True, nogil=True, error_model="numpy")
def draw_edge(links, random, row):
    """Draw an edge of the type with probability proportional to its mass.

    By rejection if the masses are similar, otherwise by bisection over the cumulated blocks and a
    scan of one block. `left` is the mass that remains to be passed.
    """
    start, stop = links.indptr[row], links.indptr[row + 1]
    if stop - start == 1:
        return start
    largest = links.largest[row]
    # rejection sampling: an edge drawn uniformly is accepted in proportion to its mass
    while largest > 0:
        edge = start + draw_below(random, stop - start)
        if draw_share(random) * largest <= links.mass[edge]:
            return edge
    first, last = links.blocks[row], links.blocks[row + 1] - 1
    while True:
        left = (1.0 - draw_share(random)) * links.cumulated[last]
        low, high = first, last
        while low < high:
            middle = (low + high) >> 1
            if links.cumulated[middle] > left:
                high = middle
            else:
                low = middle + 1
        if low > first:
            left -= links.cumulated[low - 1]
        edge = start + (low - first) * BLOCK
        drawn = np.int64(-1)
        for e in range(edge, min(edge + BLOCK, stop)):
            mass = links.mass[e]
            if mass > 0:
                drawn = np.int64(e)
                left -= mass
                if left < 0:
                    break
        if drawn >= 0:  # otherwise rounding led past the last edge with a mass
            return drawn


@njit(cache=True, nogil=True, error_model="numpy")
def move(links, records, walker, goal, shun, truth):
    """Move records along one closed loop; return its steps, negative if the loop was undone.

    The record in slot `goal` leaves it and takes a random one, whose owner moves on, until the slot
    that was left first is taken. The reverse of a loop begins at the same slot, so that detailed
    balance holds for any order of slots. A loop that is too long is undone: its reverse is as long.
    With `shun`, a record skips its true class nine times out of ten: the walk is then biased, to
    get far from the truth.
    Invariant: every record but `record` has a slot of its own, only `goal` is free, and the trail
    has the slots and edges before each step.
    """
    record = walker.owner[goal]
    steps = np.int64(0)
    while True:
        row = records.type[record]
        edge = draw_edge(links, walker.random, row)
        wanted = class_of(links, row, edge)
        if shun and wanted == truth[record] and draw_below(walker.random, 10) > 0:
            continue
        slot = records.first[wanted]
        capacity = records.first[wanted + 1] - slot
        if capacity > 1:
            slot += draw_below(walker.random, capacity)
        walker.trail_record[steps] = record
        walker.trail_slot[steps] = walker.slot[record]
        walker.trail_edge[steps] = walker.edge[record]
        other = walker.owner[slot]
        walker.slot[record], walker.edge[record], walker.owner[slot] = slot, edge, record
        steps += 1
        if slot == goal:
            return steps
        if steps == len(walker.trail_record):
            walker.owner[slot] = other
            break
        record = other
    # too long: go back along the trail, last step first
    for step in range(steps - 1, -1, -1):
        record, slot = walker.trail_record[step], walker.trail_slot[step]
        walker.slot[record], walker.owner[slot] = slot, record
        walker.edge[record] = walker.trail_edge[step]
    return -steps


@njit(cache=True, nogil=True, error_model="numpy")
def move_often(links, records, walker, loops, shun, truth):
    """Move along `loops` loops; return the number of steps and of loops that were undone.

    The loops begin at slots in ascending order, at equal distances from a random one on:
    neighbouring loops find each other's slots in the cache.
    """
    steps = np.int64(0)
    broken = 0
    slots = len(walker.owner)
    first = draw_share(walker.random)
    for i in range(loops):
        goal = np.int64((i + first) * (slots / loops)) % slots
        made = move(links, records, walker, goal, shun, truth)
        steps += abs(made)
        broken += made < 0
    return steps, broken


@njit(cache=True, nogil=True, error_model="numpy")
def walk(links, records, walker, least, shun, truth):
    """Move along loops for at least `least` steps; return the number of steps and of loops."""
    steps, loops = np.int64(0), np.int64(0)
    while steps < least:
        goal = draw_below(walker.random, len(walker.owner))
        steps += abs(move(links, records, walker, goal, shun, truth))
        loops += 1
    return steps, loops
