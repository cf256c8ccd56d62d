# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the cost of adding a record to a box, and the assignment of records to boxes.

Box i belongs to record i. Its partners are the records that it covers so far, itself first; a
record may not become a partner twice.

Arrays of the kernels:
    points, boxes: Points, and Boxes with one box for each record.
    partners: (records, k) the partners of each box, of which the first `done` columns, one for each
        finished round, are filled.
    given: (records,) the record given to each box in this round, −1 if none yet.
    owner: (records,) the box that each record is given to in this round, −1 if none yet.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

import numpy as np

from shoal.methods.partition._boxes import NO_INDEX, ONE, add_record, enter
from shoal.support.compiling import njit

INFINITE_COST = np.int64(2**62)


@njit(cache=True, error_model="numpy")
def growth(points, boxes, box, record, limit):
    """Return how much wider a box becomes with one more record; at least `limit` if above it."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        place = np.int64(points.line[record, j])
        low, high, cap = np.int64(boxes.low[box, j]), np.int64(boxes.high[box, j]), points.cap[j]
        # both widths are capped: beyond the cap, as for a missing value, a box does not grow
        if place < low:
            total += min(high - place, cap) - min(high - low, cap)
        elif place > high:
            total += min(place - low, cap) - min(high - low, cap)
        if total >= limit:
            # the nominal columns can only add to this
            return total
    for j in range(points.name.shape[1]):
        code = points.name[record, j]
        # 1 if the box has the code already
        bit = boxes.seen[box, points.word[j] + (code >> 6)] >> np.uint64(code & 63)
        total += points.unit[j] * (1 - np.int64(bit & ONE))
    return total


@njit(cache=True, error_model="numpy")
def is_partner(partners, done, box, record):
    """Return whether a box already has the record, from one of the finished rounds."""
    found = False
    for i in range(done):
        found |= partners[box, i] == record
    return found


@njit(cache=True, error_model="numpy")
def stretch(points, boxes, given):
    """Widen each box to cover the record given to it. given: (records,), all filled."""
    for box in range(len(given)):
        add_record(points, boxes, box, given[box])


@njit(cache=True, error_model="numpy")
def fill_costs(points, boxes, partners, done, first, last, forbidden, costs):
    """Fill `costs` with the growth of boxes first … last − 1 by every record.

    costs: (records, records) box by record; forbidden: the cost of a partner.
    """
    for box in range(first, last):
        for record in range(costs.shape[1]):
            costs[box, record] = growth(points, boxes, box, record, INFINITE_COST)
        for i in range(done):
            costs[box, partners[box, i]] = forbidden


@njit(cache=True, error_model="numpy")
def take_in_turn(points, boxes, partners, done, first, last, left, given, owner):
    """Give boxes first … last − 1, one after the other, the cheapest remaining record.

    Ties go to the next record in cyclic order after the box's own, so that copies of a record form
    cycles; swaps in pairs would leave one over.
    left: the remaining records, ascending, `len(given) − first` of them.
    Invariant: left[:size] are the records that no box before `box` has taken, ascending.
    """
    size = len(given) - first
    for box in range(first, last):
        best, least = np.int64(-1), INFINITE_COST
        # the cyclic order after the box's own record begins here
        start = np.searchsorted(left[:size], box + 1)
        for step in range(size):
            index = start + step if start + step < size else start + step - size
            cost = growth(points, boxes, box, left[index], least)
            if cost < least and not is_partner(partners, done, box, left[index]):
                best, least = index, cost
                if cost == 0:
                    break
        if best >= 0:
            given[box] = left[best]
            owner[left[best]] = box
        else:
            taken = trade(points, boxes, partners, done, box, given, owner)
            best = np.searchsorted(left[:size], taken)
        # close the gap: the list stays ascending
        for index in range(best, size - 1):
            left[index] = left[index + 1]
        size -= 1


@njit(cache=True, error_model="numpy")
def trade(points, boxes, partners, done, box, given, owner):
    """Serve a box that already has all remaining records by a trade with another box.

    The other box gives its record and takes a remaining one. The cheapest trade is made, the first
    among equals; with 2k records or more a trade always exists. Returns the record taken.
    """
    least, giver, taken = INFINITE_COST, NO_INDEX, NO_INDEX
    for i in range(done):
        record = partners[box, i]
        # only a remaining record needs a box, and this box has all of them
        if owner[record] >= 0:
            continue
        for other in range(len(given)):
            handed = given[other]
            if handed < 0 or is_partner(partners, done, box, handed):
                continue
            if is_partner(partners, done, other, record):
                continue
            # the box takes what `other` was given, and `other` takes the remaining record
            cost = growth(points, boxes, box, handed, INFINITE_COST)
            cost += growth(points, boxes, other, record, INFINITE_COST)
            cost -= growth(points, boxes, other, handed, INFINITE_COST)
            if cost < least:
                least, giver, taken = cost, np.int32(other), record
    given[box] = given[giver]
    owner[given[giver]] = box
    given[giver] = taken
    owner[taken] = giver
    return taken


@njit(cache=True, error_model="numpy")
def list_nearest(points, boxes, partners, done, box, owner, near, costs):
    """List the cheapest remaining records for a box, cheapest first; return their number.

    Ties are in cyclic order after the box's own record.
    near, costs: (records, room) receive the records and the growth in row `box`.
    """
    room, found, count = near.shape[1], 0, len(owner)
    for step in range(1, count):
        record = box + step if box + step < count else box + step - count
        if owner[record] >= 0:
            continue
        limit = costs[box, room - 1] if found == room else INFINITE_COST
        cost = growth(points, boxes, box, record, limit)
        if cost >= limit or is_partner(partners, done, box, record):
            continue
        found = enter(costs[box], near[box], found, cost, record)
    return found


@njit(cache=True, error_model="numpy")
def list_all_nearest(points, boxes, partners, done, first, last, owner, near, costs, found):
    """List the cheapest records for boxes first … last − 1."""
    for box in range(first, last):
        found[box] = list_nearest(points, boxes, partners, done, box, owner, near, costs)


@njit(cache=True, error_model="numpy", allocates=True)
def take_by_cost(points, boxes, partners, done, near, costs, found, given, owner):
    """Pair boxes with remaining records, the cheapest pair first.

    The result equals sorting all pairs by cost, box, and record in cyclic order after the box's
    own. Each box waits in a queue with its cheapest record; if that is taken, with the next.

    near, costs: (records, room) the cheapest records of each box and their growth, in the first
        `found` entries of its row. found: (records,) their number.
    Invariant: every box without a record is in the queue, with a cost that is at most the least of
    its remaining records; a box that has run out of records gets one by a trade at the end.
    """
    count = len(given)
    at = np.zeros(count, dtype=np.int64)  # position of each box in its list
    # cost · count + box: compares by cost, then by box
    waiting = [costs[box, 0] * count + box for box in range(count) if found[box] > 0]
    heapify(waiting)
    while len(waiting) > 0:
        box = waiting[0] % count
        record = near[box, at[box]]
        if owner[record] < 0:
            given[box] = record
            owner[record] = box
            heappop(waiting)
            continue
        # its cheapest record was taken by another box: queue it with its next one, which costs no
        # less
        while at[box] < found[box] and owner[near[box, at[box]]] >= 0:
            at[box] += 1
        if at[box] == found[box]:
            # the list is used up; list the records that remain now
            found[box] = list_nearest(points, boxes, partners, done, box, owner, near, costs)
            at[box] = 0
        if found[box] > 0:
            heapreplace(waiting, costs[box, at[box]] * count + box)
        else:
            heappop(waiting)
    for box in range(count):
        if given[box] < 0:
            trade(points, boxes, partners, done, box, given, owner)
