# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: groups that records enter and leave, and the cost of each such step.

For every group and ordered column the two least and the two greatest positions are stored, for
every nominal column the values that occur and those that occur once. So the width after a record
leaves, enters or is exchanged is computed without reading the other members.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize.partition._boxes import FAR, ONE, Points, count_bits
from shoal.support.compiling import njit


class Groups(NamedTuple):
    """The current groups; a size of 0 marks a free slot.

    label, place: (records,) the group of each record, and its index there.
    member: (groups, most) records. size: (groups,). width: (groups,) in units.
    edge: (groups, ordered columns, 4) least, second least, greatest, second greatest position.
    seen, once: (groups, words) bits of values that occur, and of those that occur exactly once.
    names: (groups,) part of the width from the nominal columns.
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
    last = size[group]
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
    """Compute a group's edges, values and width from its members."""
    size = groups.size[group]
    if size == 0:
        groups.width[group] = 0
        return
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        low, low2, high, high2 = FAR, FAR, np.int32(-1), np.int32(-1)
        for i in range(size):
            at = points.line[groups.member[group, i], j]
            if at < low:
                low2 = low
                low = at
            elif at < low2:
                low2 = at
            if at > high:
                high2 = high
                high = at
            elif at > high2:
                high2 = at
        groups.edge[group, j, 0] = low
        groups.edge[group, j, 1] = low2
        groups.edge[group, j, 2] = high
        groups.edge[group, j, 3] = high2
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
                groups.once[group, word] &= ~bit
            else:
                groups.once[group, word] |= bit
            groups.seen[group, word] |= bit
        values = np.int64(-1)
        for w in range(points.word[j], points.word[j + 1]):
            values += count_bits(groups.seen[group, w])
        named += points.unit[j] * values
    groups.names[group] = named
    groups.width[group] = total + named


@njit(cache=True, nogil=True, error_model="numpy")
def width_after(line, name, cap, unit, word, edge, seen, once, names, group, out, into):
    """Return a group's width if record `out` leaves and `into` enters; −1 is no record.

    `out` must be a member, and not the only one unless another record enters.
    """
    total = np.int64(0)
    for j in range(line.shape[1]):
        low, high = edge[group, j, 0], edge[group, j, 2]
        if out >= 0:
            at = line[out, j]
            if at == low:
                low = edge[group, j, 1]
            if at == high:
                high = edge[group, j, 3]
        if into >= 0:
            at = line[into, j]
            low, high = min(low, at), max(high, at)
        total += min(np.int64(high) - low, cap[j])
    total += names[group]
    for j in range(name.shape[1]):
        leaver = name[out, j] if out >= 0 else np.int32(-1)
        comer = name[into, j] if into >= 0 else np.int32(-1)
        if leaver == comer:
            continue
        if leaver >= 0:
            single = once[group, word[j] + (leaver >> 6)] >> np.uint64(leaver & 63)
            total -= unit[j] * np.int64(single & ONE)
        if comer >= 0:
            known = seen[group, word[j] + (comer >> 6)] >> np.uint64(comer & 63)
            total += unit[j] * (1 - np.int64(known & ONE))
    return total
