# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the boxes of groups of records, their widths, and random neighbours of a record.

A box is a least and a greatest position for every ordered column and a bit set for every nominal
column. Its width is an integer number of the records' units, so sums are exact:

    ordered column    greatest − least position, at most `cap`
    nominal column    (number of values − 1) · `unit`
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support._random import draw_below
from shoal.support.compiling import njit


class Points(NamedTuple):
    """Records in the layout of the kernels.

    line: (records, ordered columns) positions in units; a missing value is one extent above.
    name: (records, nominal columns) codes.
    cap: (ordered columns,) the width of a whole extent.
    unit: (nominal columns,) the width of each value beyond the first.
    word: (nominal columns + 1,) first 64-bit word of the bits of each column.
    """

    line: Any
    name: Any
    cap: Any
    unit: Any
    word: Any


class Boxes(NamedTuple):
    """One box for each group; an empty one has low = FAR, high = −1 and no bits.

    low, high: (groups, ordered columns) least and greatest position.
    seen: (groups, words) bits of the codes that occur; code c of nominal column j is bit c % 64 of
        word points.word[j] + c // 64.
    """

    low: Any
    high: Any
    seen: Any


FAR = np.int32(2**31 - 1)
ONE = np.uint64(1)


def make_boxes(points: Points, groups: int) -> Boxes:
    """Return empty boxes."""
    ordered = points.line.shape[1]
    return Boxes(
        np.full((groups, ordered), FAR, dtype=np.int32),
        np.full((groups, ordered), -1, dtype=np.int32),
        np.zeros((groups, int(points.word[-1])), dtype=np.uint64),
    )


@njit(cache=True, error_model="numpy")
def count_bits(word):
    """Return the number of set bits."""
    # add neighbouring fields of 1, 2 and 4 bits; the product then sums the bytes in the highest one
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, error_model="numpy")
def empty_box(boxes, group):
    """Make the box empty."""
    for j in range(boxes.low.shape[1]):
        boxes.low[group, j] = FAR
        boxes.high[group, j] = -1
    for w in range(boxes.seen.shape[1]):
        boxes.seen[group, w] = np.uint64(0)


@njit(cache=True, error_model="numpy")
def add_record(points, boxes, group, record):
    """Widen a box to cover one more record."""
    for j in range(points.line.shape[1]):
        place = points.line[record, j]
        boxes.low[group, j] = min(boxes.low[group, j], place)
        boxes.high[group, j] = max(boxes.high[group, j], place)
    for j in range(points.name.shape[1]):
        code = points.name[record, j]
        boxes.seen[group, points.word[j] + (code >> 6)] |= ONE << np.uint64(code & 63)


@njit(cache=True, error_model="numpy")
def box_width(points, boxes, group):
    """Return the width of a non-empty box."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        total += min(np.int64(boxes.high[group, j]) - boxes.low[group, j], points.cap[j])
    for j in range(points.name.shape[1]):
        # the first value costs nothing
        values = np.int64(-1)
        for w in range(points.word[j], points.word[j + 1]):
            values += count_bits(boxes.seen[group, w])
        total += points.unit[j] * values
    return total


@njit(cache=True, error_model="numpy")
def width_with(points, boxes, group, record):
    """Return the width that a box would have with one more record."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        place = points.line[record, j]
        low, high = min(boxes.low[group, j], place), max(boxes.high[group, j], place)
        total += min(np.int64(high) - low, points.cap[j])
    for j in range(points.name.shape[1]):
        code = points.name[record, j]
        values = np.int64(-1)
        for w in range(points.word[j], points.word[j + 1]):
            values += count_bits(boxes.seen[group, w])
        bit = boxes.seen[group, points.word[j] + (code >> 6)] >> np.uint64(code & 63)
        total += points.unit[j] * (values + 1 - np.int64(bit & ONE))
    return total


@njit(cache=True, error_model="numpy")
def joint_width(points, boxes, one, other):
    """Return the width of the box that covers two others."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        low = min(boxes.low[one, j], boxes.low[other, j])
        high = max(boxes.high[one, j], boxes.high[other, j])
        total += min(np.int64(high) - low, points.cap[j])
    for j in range(points.name.shape[1]):
        values = np.int64(-1)
        for w in range(points.word[j], points.word[j + 1]):
            values += count_bits(boxes.seen[one, w] | boxes.seen[other, w])
        total += points.unit[j] * values
    return total


@njit(cache=True, error_model="numpy")
def fill_boxes(points, ids, boxes, sizes):
    """Fill the box and the size of every group from its records; id −1 is ignored.

    ids: (records,) the group of each record. sizes: (groups,) zeros, receive the sizes.
    """
    for record in range(len(ids)):
        group = ids[record]
        if group >= 0:
            add_record(points, boxes, group, record)
            sizes[group] += 1


@njit(cache=True, error_model="numpy")
def copy_ids(ids, copied):
    """Copy a grouping in a loop: numba takes seconds to compile an assignment of arrays."""
    for record in range(len(ids)):
        copied[record] = ids[record]


@njit(cache=True, error_model="numpy")
def box_widths(points, boxes, widths):
    """Store the width of every box."""
    for group in range(len(widths)):
        widths[group] = box_width(points, boxes, group)


@njit(cache=True, error_model="numpy")
def enter(costs, names, found, cost, name):
    """Insert a name into a list sorted by cost, after equal costs; return the length of the list.

    costs, names: (room,) the list, in its first `found` entries. A full list drops its last entry.
    Invariant: the entry at `index` is free, and all entries after it cost more.
    """
    index = min(found, len(costs) - 1)
    while index > 0 and costs[index - 1] > cost:
        costs[index] = costs[index - 1]
        names[index] = names[index - 1]
        index -= 1
    costs[index] = cost
    names[index] = name
    return min(found + 1, len(costs))


@njit(cache=True, error_model="numpy")
def cheapest_partners(points, boxes, sizes, widths, wanting, partners, costs):
    """Store, for each wanting group, the partners that are cheapest to merge with, in order.

    sizes, widths: (groups,). wanting: (wanting,) groups.
    partners, costs: (wanting, few) receive the partners and the increase of the loss.
    """
    few = partners.shape[1]
    for i in range(len(wanting)):
        one = wanting[i]
        found = 0
        for other in range(len(sizes)):
            if other == one:
                continue
            joint = joint_width(points, boxes, one, other)
            # the increase of the loss, which is size · width
            cost = (sizes[one] + sizes[other]) * joint
            cost -= sizes[one] * widths[one] + sizes[other] * widths[other]
            if found == few and cost >= costs[i, few - 1]:
                continue
            found = enter(costs[i], partners[i], found, cost, other)


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
    if which > 0:  # 0 is its own point, whose copies can be in other groups
        point = near.others[point, which - 1]
    return draw_copy(near, random, point) if point >= 0 else NO_INDEX
