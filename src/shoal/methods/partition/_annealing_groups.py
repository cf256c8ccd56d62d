# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: groups that records enter and leave, and the cost of each such step.

For every group and ordered column the two least and the two greatest positions are stored, for
every nominal column the values that occur and those that occur once. So the width after a record
leaves, enters or is exchanged is computed without reading the other members.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import FAR, ONE, Points, count_bits
from shoal.support.compiling import njit

# the last axis of Groups.edge: the four positions of a group and column are read together
LOWEST, SECOND_LOWEST, HIGHEST, SECOND_HIGHEST = range(4)


class Groups(NamedTuple):
    """The current groups; a size of 0 marks a free slot.

    label: (records,) the group of each record, −1 if none.
    place: (records,) its index in member[label].
    member: (groups, most) the records of each group, in its first `size` entries.
    size: (groups,) number of records. width: (groups,) width of the box in units.
    edge: (groups, ordered columns, 4) least, second least, greatest, second greatest position;
        equal positions count separately, so the second is what remains if one record leaves.
    seen, once: (groups, words) bits of values that occur, and of those that occur exactly once;
        the words of nominal column j are points.word[j] … points.word[j + 1] − 1.
    names: (groups,) part of the width from the nominal columns.

    Invariant between calls of `seat`, `unseat` and `measure`: member[label[r], place[r]] == r for
    every record r in a group. width, edge, seen, once and names are those of the last `measure`.
    """

    label: Any
    place: Any
    member: Any
    size: Any
    width: Any
    edge: Any
    seen: Any
    once: Any
    names: Any


def make_groups(points: Points, ids: Any, groups: int, most: int) -> Groups:
    """Return the groups with these ids, with space for `groups` of `most` records each."""
    records, ordered = points.line.shape
    words = int(points.word[-1])
    made = Groups(
        ids.astype(np.int32),
        np.zeros(records, dtype=np.int32),
        np.zeros((groups, most), dtype=np.int32),
        np.zeros(groups, dtype=np.int64),
        np.zeros(groups, dtype=np.int64),
        np.zeros((groups, ordered, 4), dtype=np.int32),
        np.zeros((groups, words), dtype=np.uint64),
        np.zeros((groups, words), dtype=np.uint64),
        np.zeros(groups, dtype=np.int64),
    )
    seat_all(points, made)
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def seat_all(points, groups):
    """Add every record to its group and measure all groups."""
    for record in range(len(groups.label)):
        group = groups.label[record]
        if group >= 0:
            seat(groups.label, groups.place, groups.member, groups.size, group, np.int32(record))
    for group in range(len(groups.size)):
        measure(points, groups, np.int32(group))


@njit(cache=True, nogil=True, error_model="numpy")
def seat(label, place, member, size, group, record):
    """Add a record to a group."""
    last = size[group]  # the first free entry
    member[group, last] = record
    place[record] = last
    label[record] = group
    size[group] = last + 1


@njit(cache=True, nogil=True, error_model="numpy")
def unseat(label, place, member, size, record):
    """Remove a record from its group; the last member takes its index."""
    group = label[record]
    last = size[group] - 1
    other = member[group, last]
    member[group, place[record]] = other
    place[other] = place[record]
    size[group] = last
    label[record] = -1


@njit(cache=True, nogil=True, error_model="numpy")
def measure(points, groups, group):
    """Compute a group's edges, values and width from its members.

    Invariant of the inner loops: the edges, and the bits of `seen` and `once`, are those of members
    0 … i − 1.
    """
    size = groups.size[group]
    if size == 0:
        groups.width[group] = 0
        return
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        low, low2, high, high2 = FAR, FAR, np.int32(-1), np.int32(-1)
        for i in range(size):
            position = points.line[groups.member[group, i], j]
            if position < low:
                low2 = low
                low = position
            elif position < low2:
                low2 = position
            if position > high:
                high2 = high
                high = position
            elif position > high2:
                high2 = position
        groups.edge[group, j, LOWEST] = low
        groups.edge[group, j, SECOND_LOWEST] = low2
        groups.edge[group, j, HIGHEST] = high
        groups.edge[group, j, SECOND_HIGHEST] = high2
        total += min(np.int64(high) - low, points.cap[j])
    for w in range(groups.seen.shape[1]):
        groups.seen[group, w] = np.uint64(0)
        groups.once[group, w] = np.uint64(0)
    named = np.int64(0)
    for j in range(points.name.shape[1]):
        for i in range(size):
            code = points.name[groups.member[group, i], j]
            word, bit = points.word[j] + (code >> 6), ONE << np.uint64(code & 63)
            if groups.seen[group, word] & bit:
                # the second record with the value or a later one
                groups.once[group, word] &= ~bit
            else:
                groups.once[group, word] |= bit
            groups.seen[group, word] |= bit
        # the first value of a column costs nothing
        values = np.int64(-1)
        for w in range(points.word[j], points.word[j + 1]):
            values += count_bits(groups.seen[group, w])
        named += points.unit[j] * values
    groups.names[group] = named
    groups.width[group] = total + named


@njit(cache=True, nogil=True, error_model="numpy")
def width_after(line, name, cap, unit, word, edge, seen, once, names, group, out, into):
    """Return a group's width if record `out` leaves and `into` enters; −1 is no record.

    `out` must be a member, and not the only one unless another record enters. The arrays are those
    of Points and Groups, passed one by one.
    Invariant: `total` is the width over the columns before j.
    """
    total = np.int64(0)
    for j in range(line.shape[1]):
        low, high = edge[group, j, LOWEST], edge[group, j, HIGHEST]
        if out >= 0:
            position = line[out, j]
            # if the record at an edge leaves, the second position becomes the edge
            if position == low:
                low = edge[group, j, SECOND_LOWEST]
            if position == high:
                high = edge[group, j, SECOND_HIGHEST]
        if into >= 0:
            position = line[into, j]
            low, high = min(low, position), max(high, position)
        total += min(np.int64(high) - low, cap[j])
    total += names[group]
    for j in range(name.shape[1]):
        leaving = name[out, j] if out >= 0 else np.int32(-1)
        entering = name[into, j] if into >= 0 else np.int32(-1)
        if leaving == entering:
            continue
        if leaving >= 0:
            # a value that occurs once leaves with its record
            single = once[group, word[j] + (leaving >> 6)] >> np.uint64(leaving & 63)
            total -= unit[j] * np.int64(single & ONE)
        if entering >= 0:
            known = seen[group, word[j] + (entering >> 6)] >> np.uint64(entering & 63)
            total += unit[j] * (1 - np.int64(known & ONE))
    return total
