# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels of the worm: closed loops of moves over matchings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support._random import draw_below, draw_share
from shoal.support.compiling import njit

BLOCK = 32  # edges that a draw goes through one by one
TURNED_DOWN = 6  # draws of an edge that may be needed for one; with more, edges are gone through


class Links(NamedTuple):
    """Which classes a type of record may be in, by type and by class.

    indptr, classes, mass: (types + 1,), (edges,), (edges,) the classes of each type, ascending, and
        the chance of each up to a factor of the type; `classes` is empty where every type has all.
    blocks: (types + 1,) where the blocks of each type begin.
    cumulated: (blocks,) the mass of a type up to the end of each block.
    largest: (types,) the largest mass of an edge, 0 where most are far smaller.
    column, types, transposed: (classes + 1,), (edges,), (edges,) the same edges by class.
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
    """Who is to be matched, and where.

    type: (records,) the type of each record.
    first: (classes + 1,) the first slot of each class.
    member: records in order of their true class, those of a type side by side.
    starts: (classes + 1,) where the members of each class begin.
    """

    type: Any
    first: Any
    member: Any
    starts: Any


class Walker(NamedTuple):
    """A matching, and what is needed to change it.

    slot, edge: (records,) where each record is, and by which edge.
    owner: (slots,) the record in each slot.
    random: (1,) the state of the random numbers.
    trail_record, trail_slot, trail_edge: what a loop changed, to take it back; as long as a loop
        may get.
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
    """Return the edge from a type to a class, −1 where there is none."""
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
    """Fill in the mass of each type up to the end of each block, and the largest."""
    for row in range(len(indptr) - 1):
        total = 0.0
        top = mass[indptr[row] : indptr[row + 1]].max()
        for block in range(blocks[row], blocks[row + 1]):
            start = indptr[row] + (block - blocks[row]) * BLOCK
            for e in range(start, min(start + BLOCK, indptr[row + 1])):
                total += mass[e]
            cumulated[block] = total
        rare = total < top * (indptr[row + 1] - indptr[row]) / TURNED_DOWN
        largest[row] = 0.0 if rare else top


@njit(cache=True, nogil=True, error_model="numpy")
def turn(matrix, turned):
    """Write the rows of a matrix as columns, tile by tile."""
    height, width = matrix.shape
    for top in range(0, height, BLOCK):
        for left in range(0, width, BLOCK):
            for i in range(top, min(top + BLOCK, height)):
                for j in range(left, min(left + BLOCK, width)):
                    turned[j, i] = matrix[i, j]


@njit(cache=True, nogil=True, error_model="numpy")
def least_positive(weights):
    """Return the least weight above 0."""
    least = np.inf
    for weight in weights:
        if 0 < weight < least:
            least = weight
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def settle(links, records, walker, start):
    """Put each record into a slot of its class; return how many cannot be there."""
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
    """Return an edge of the type, each with a chance in proportion to its mass."""
    start, stop = links.indptr[row], links.indptr[row + 1]
    if stop - start == 1:
        return start
    largest = links.largest[row]
    while largest > 0:  # any edge will do, if it is not turned down for being small
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
        found = np.int64(-1)
        for e in range(edge, min(edge + BLOCK, stop)):
            mass = links.mass[e]
            if mass > 0:
                found = np.int64(e)
                left -= mass
                if left < 0:
                    break
        if found >= 0:  # not so where rounding led behind the last edge of a chance
            return found


@njit(cache=True, nogil=True, error_model="numpy")
def move(links, records, walker, shun, truth):
    """Move records along one closed loop; return its steps, negative where it was taken back.

    A record leaves its slot, takes another's by chance, who takes a third's, until the slot that
    was left is taken. Too long a loop is taken back: its reverse is as long, so the balance stays.
    With `shun`, a record's true class is passed over nine times of ten: no fair walk, but a way to
    get far from the truth.
    """
    record = draw_below(walker.random, len(walker.slot))
    goal = walker.slot[record]
    steps = np.int64(0)
    while True:
        row = records.type[record]
        edge = draw_edge(links, walker.random, row)
        found = class_of(links, row, edge)
        if shun and found == truth[record] and draw_below(walker.random, 10) > 0:
            continue
        slot = records.first[found]
        capacity = records.first[found + 1] - slot
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
            break
        record = other
    for step in range(steps - 1, -1, -1):
        record, slot = walker.trail_record[step], walker.trail_slot[step]
        walker.slot[record], walker.owner[slot] = slot, record
        walker.edge[record] = walker.trail_edge[step]
    return -steps


@njit(cache=True, nogil=True, error_model="numpy")
def move_often(links, records, walker, loops, shun, truth):
    """Move along so many loops, and return the steps made and the loops taken back."""
    steps = np.int64(0)
    broken = 0
    for _ in range(loops):
        made = move(links, records, walker, shun, truth)
        steps += abs(made)
        broken += made < 0
    return steps, broken


@njit(cache=True, nogil=True, error_model="numpy")
def walk(links, records, walker, least, shun, truth):
    """Move along loops for at least so many steps; return the steps and the loops."""
    steps, loops = np.int64(0), np.int64(0)
    while steps < least:
        steps += abs(move(links, records, walker, shun, truth))
        loops += 1
    return steps, loops
