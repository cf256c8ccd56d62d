# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: annealing a block of groups by moves, swaps, dissolved and created groups.

A block has its own records, groups, free slots and random numbers, and changes no others, so blocks
can run in parallel and give the same result in any order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._annealing_groups import measure, seat, unseat, width_after
from shoal.methods.partition._annealing_rules import keeps
from shoal.methods.partition._boxes import NO_INDEX, draw_copy, draw_neighbour
from shoal.support._random import draw_below, draw_share
from shoal.support.compiling import njit

INFINITE_COST = np.int64(2**62)


class Block(NamedTuple):
    """Data of one block.

    records: (records of the block,) its records.
    block: (records of the table,) the block of each record; number: this block.
    free: (groups of the block,) free slots for groups in its first tally[0] entries.
    tally: (1,) number of free slots.
    random: (1,) state of its random numbers.
    count: (values of the widest column,) scratch of the rules.
    target: (largest group + k,) scratch: records moved by `dissolve` or `create`, in order.
    old: (largest group + k,) scratch: the group that each of them came from.
    """

    records: Any
    block: Any
    number: Any
    free: Any
    tally: Any
    random: Any
    count: Any
    target: Any
    old: Any


@njit(cache=True, nogil=True, error_model="numpy")
def growth(points, groups, group, out, into):
    """Return the increase of a group's loss if `out` leaves and `into` enters."""
    width = width_after(
        points.line, points.name, points.cap, points.unit, points.word,
        groups.edge, groups.seen, groups.once, groups.names, group, out, into,
    )  # fmt: skip
    size = groups.size[group]
    after = size + (into >= 0) - (out >= 0)
    return after * width - size * groups.width[group]


@njit(cache=True, nogil=True, error_model="numpy")
def group_keeps(groups, rules, group, out, into, count):
    """Return whether a group meets all rules if `out` leaves and `into` enters."""
    if len(rules.kind) == 0:
        return True
    return keeps(rules, groups.member[group], groups.size[group], out, into, count)


@njit(cache=True, nogil=True, error_model="numpy")
def exchange(points, groups, rules, count, record, other, into):
    """Move a record to group `into`, in exchange for `other` unless that is NO_INDEX.

    Returns whether both groups keep the rules; otherwise nothing is moved.
    """
    one = groups.label[record]
    if not (
        group_keeps(groups, rules, one, record, other, count)
        and group_keeps(groups, rules, into, other, record, count)
    ):
        return False
    unseat(groups.label, groups.place, groups.member, groups.size, record)
    if other >= 0:
        unseat(groups.label, groups.place, groups.member, groups.size, other)
        seat(groups.label, groups.place, groups.member, groups.size, one, other)
    seat(groups.label, groups.place, groups.member, groups.size, into, record)
    measure(points, groups, one)
    measure(points, groups, into)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def step(points, groups, near, rules, block, record, k, most, limit):
    """Move a record to a nearby group, or swap it, if the cost is at most the limit.

    Returns the increase of the loss, 0 if nothing is moved.
    """
    other = draw_neighbour(near, block.random, record)
    if other < 0 or block.block[other] != block.number:
        return np.int64(0)
    one, into = groups.label[record], groups.label[other]
    if one == into:
        return np.int64(0)
    best, partner = INFINITE_COST, NO_INDEX
    if groups.size[one] > k and groups.size[into] < most:
        # a move: only if both groups keep their least and greatest size
        best = growth(points, groups, one, record, NO_INDEX)
        best += growth(points, groups, into, NO_INDEX, record)
    swapped = groups.member[into, draw_below(block.random, groups.size[into])]
    # a swap; the other group can at best save its whole loss, so it is not measured if that is too
    # little
    cost = growth(points, groups, one, record, swapped)
    if cost - groups.size[into] * groups.width[into] <= limit:
        cost += growth(points, groups, into, swapped, record)
        if cost < best:
            best, partner = cost, swapped
    if best > limit or not exchange(points, groups, rules, block.count, record, partner, into):
        return np.int64(0)
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def cheapest_home(points, groups, near, block, record, most):
    """Return the least growth of a nearby group that takes a record, and that group; −1 if none.

    Index −1 of the loop is the record's own point, which may have copies in other groups.
    """
    best, home = INFINITE_COST, NO_INDEX
    point = near.point[record]
    for i in range(-1, near.others.shape[1]):
        at = point if i < 0 else near.others[point, i]
        if at < 0:
            break
        # one copy stands for its point; others may be in other groups
        other = draw_copy(near, block.random, at)
        if block.block[other] != block.number:
            continue
        group = groups.label[other]
        if group < 0 or group == groups.label[record] or groups.size[group] >= most:
            continue
        cost = growth(points, groups, group, NO_INDEX, record)
        if cost < best:
            best, home = cost, group
    return best, home


@njit(cache=True, nogil=True, error_model="numpy")
def dissolve(points, groups, near, rules, block, group, most, limit):
    """Move every member of a group elsewhere; undo it if the cost exceeds the limit.

    Returns the increase of the loss, 0 if it is undone.
    Invariant: target[:moved] are the records that left the group, in order, and `total` is the
    increase of the loss if the rest leaves at no cost; groups that took a record are measured.
    """
    size = groups.size[group]
    total = -size * groups.width[group]
    moved = 0
    while groups.size[group] > 0:
        record = groups.member[group, groups.size[group] - 1]
        cost, home = cheapest_home(points, groups, near, block, record, most)
        total += cost
        if home < 0 or total > limit:
            break
        unseat(groups.label, groups.place, groups.member, groups.size, record)
        seat(groups.label, groups.place, groups.member, groups.size, home, record)
        measure(points, groups, home)
        block.target[moved] = record
        moved += 1
    # the rules are checked once, when every home has its final members
    done = moved == size
    for i in range(moved):
        home = groups.label[block.target[i]]
        done = done and group_keeps(groups, rules, home, NO_INDEX, NO_INDEX, block.count)
    if done:
        groups.width[group] = 0
        block.free[block.tally[0]] = group
        block.tally[0] += 1
        return total
    # in reverse order, which also restores the order of the members
    for i in range(moved - 1, -1, -1):
        record = block.target[i]
        home = groups.label[record]
        unseat(groups.label, groups.place, groups.member, groups.size, record)
        seat(groups.label, groups.place, groups.member, groups.size, group, record)
        measure(points, groups, home)
    return np.int64(0)


@njit(cache=True, nogil=True, error_model="numpy")
def best_companion(points, groups, near, block, record, fresh, k):
    """Return the cheapest nearby record to join the new group, and its cost; −1 if none."""
    best, chosen = INFINITE_COST, NO_INDEX
    point = near.point[record]
    for i in range(-1, near.others.shape[1]):
        at = point if i < 0 else near.others[point, i]
        if at < 0:
            break
        first, copies = near.first[at], near.first[at + 1] - near.first[at]
        offset = draw_below(block.random, copies)
        # from a random copy on; more than k copies never fit in the group
        for c in range(min(copies, k)):
            other = np.int32(first + (offset + c) % copies)
            if block.block[other] != block.number:
                continue
            group = groups.label[other]
            if group == fresh or groups.size[group] <= k:
                continue
            width = width_after(
                points.line, points.name, points.cap, points.unit, points.word,
                groups.edge, groups.seen, groups.once, groups.names, fresh, NO_INDEX, other,
            )  # fmt: skip
            # what the wider box costs all k records that the group will have
            cost = k * (width - groups.width[fresh])
            cost += growth(points, groups, group, other, NO_INDEX)
            if cost < best:
                best, chosen = cost, other
    return best, chosen


@njit(cache=True, nogil=True, error_model="numpy")
def create(points, groups, near, rules, block, record, k, limit):
    """Create a group of a record and k − 1 nearby ones; undo it if the cost exceeds the limit.

    Returns the increase of the loss, 0 if it is undone.
    Invariant: target[:joined] are the members of the new group, old[:joined] the groups they left;
    `total` is the increase of the loss of those groups, and all groups are measured.
    """
    if block.tally[0] == 0 or groups.size[groups.label[record]] <= k:
        return np.int64(0)
    block.tally[0] -= 1
    fresh = block.free[block.tally[0]]
    total, joined = np.int64(0), 0
    chosen = record
    # the record itself joins first, then the cheapest companion, one after the other
    while chosen >= 0:
        group = groups.label[chosen]
        total += growth(points, groups, group, chosen, NO_INDEX)
        block.target[joined], block.old[joined] = chosen, group
        joined += 1
        unseat(groups.label, groups.place, groups.member, groups.size, chosen)
        seat(groups.label, groups.place, groups.member, groups.size, fresh, chosen)
        measure(points, groups, group)
        measure(points, groups, fresh)
        if joined == k:
            break
        _, chosen = best_companion(points, groups, near, block, record, fresh, k)
    total += joined * groups.width[fresh]
    done = joined == k and total <= limit
    done = done and group_keeps(groups, rules, fresh, NO_INDEX, NO_INDEX, block.count)
    for i in range(joined):
        done = done and group_keeps(groups, rules, block.old[i], NO_INDEX, NO_INDEX, block.count)
    if done:
        return total
    for i in range(joined - 1, -1, -1):
        unseat(groups.label, groups.place, groups.member, groups.size, block.target[i])
        seat(groups.label, groups.place, groups.member, groups.size, block.old[i], block.target[i])
    for i in range(joined):
        measure(points, groups, block.old[i])
    groups.width[fresh] = 0
    block.tally[0] += 1
    return np.int64(0)


@njit(cache=True, nogil=True, error_model="numpy")
def anneal_block(points, groups, near, rules, block, k, most, temperature, steps, upheaval):
    """Take a number of steps in a block; return the increase of the loss.

    upheaval: share of steps that dissolve a group, and of steps that create one.
    Invariant: `grown` is the loss now minus the loss at the start; every group keeps the rules.
    """
    grown = np.int64(0)
    for _ in range(steps):
        record = block.records[draw_below(block.random, len(block.records))]
        # an increase is accepted with probability e^(−increase / temperature); as the lot is drawn
        # first, a step can give up early
        limit = np.int64(-temperature * np.log(draw_share(block.random)))
        lot = draw_share(block.random)
        if lot > 2 * upheaval:
            grown += step(points, groups, near, rules, block, record, k, most, limit)
        elif lot > upheaval:
            grown += create(points, groups, near, rules, block, record, k, limit)
        elif groups.width[groups.label[record]] > 0:
            group = groups.label[record]
            grown += dissolve(points, groups, near, rules, block, group, most, limit)
    return grown


@njit(cache=True, nogil=True, error_model="numpy")
def descend_block(points, groups, near, rules, block, k, most):
    """Make the best nearby move or swap of every record of a block; return the saving.

    Then dissolves each group if that lowers the loss; a group is tried at its first member.
    Invariant: `best` is the lowest change of the loss by a move or swap of the record tried so far,
    0 for none; `home` and `partner` describe it.
    """
    saved = np.int64(0)
    for record in block.records:
        one = groups.label[record]
        if groups.width[one] == 0:
            continue
        best, home, partner = np.int64(0), NO_INDEX, NO_INDEX
        point = near.point[record]
        for i in range(-1, near.others.shape[1]):
            at = point if i < 0 else near.others[point, i]
            if at < 0:
                break
            other = draw_copy(near, block.random, at)
            if block.block[other] != block.number or groups.label[other] == one:
                continue
            into = groups.label[other]
            if groups.size[one] > k and groups.size[into] < most:
                cost = growth(points, groups, one, record, NO_INDEX)
                cost += growth(points, groups, into, NO_INDEX, record)
                if cost < best:
                    best, home, partner = cost, into, NO_INDEX
            # a swap can at best save the whole loss of the other group
            bar = groups.size[into] * groups.width[into]
            for m in range(groups.size[into]):
                swapped = groups.member[into, m]
                cost = growth(points, groups, one, record, swapped)
                if cost - bar < best:
                    cost += growth(points, groups, into, swapped, record)
                    if cost < best:
                        best, home, partner = cost, into, swapped
        if home >= 0 and exchange(points, groups, rules, block.count, record, partner, home):
            saved -= best
    for record in block.records:
        group = groups.label[record]
        if groups.place[record] == 0 and groups.width[group] > 0:
            limit = np.int64(-1)
            saved -= dissolve(points, groups, near, rules, block, group, most, limit)
    return saved
