# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: positions on a Hilbert curve, and the best division of an order into runs.

Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004.
"""

from __future__ import annotations

import numpy as np

from shoal.methods.partition._boxes import FAR, ONE
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def write_curve_keys(places, bits, keys):
    """Store each point's position on the Hilbert curve.

    places: (points, columns) coordinates below 2**bits; they are overwritten.
    keys: (points, words) zeros, receive the positions as bit strings, most significant word first.
    Invariant: the first `at` bits of keys[i] are written.
    """
    width = places.shape[1]
    for i in range(len(places)):
        _transpose(places[i], bits)
        at = np.int64(0)
        for b in range(bits - 1, -1, -1):
            for j in range(width):
                bit = np.uint64((places[i, j] >> b) & 1)
                keys[i, at >> 6] |= bit << np.uint64(63 - (at & 63))
                at += 1


@njit(cache=True, error_model="numpy")
def _transpose(place, bits):
    """Convert the coordinates of a point to the bits of its position on the curve, by column.

    place: (columns,) overwritten; bit b of column j becomes bit (bits − 1 − b) · columns + j of the
    position, counted from the front. The steps are those of Skilling's AxestoTranspose.
    """
    width = len(place)
    for b in range(bits - 1, 0, -1):
        bit = np.int64(1) << b
        below = bit - 1
        for j in range(width):
            # rotate and reflect, so that the curve enters each cell where it left the one before
            if place[j] & bit:
                place[0] ^= below
            else:
                swapped = (place[0] ^ place[j]) & below
                place[0] ^= swapped
                place[j] ^= swapped
    # Gray code: neighbouring positions differ in one bit
    for j in range(1, width):
        place[j] ^= place[j - 1]
    turned = np.int64(0)
    for b in range(bits - 1, 0, -1):
        if place[width - 1] & (np.int64(1) << b):
            turned ^= (np.int64(1) << b) - 1
    for j in range(width):
        place[j] ^= turned


@njit(cache=True, error_model="numpy")
def choose_runs(points, order, k, begin, end, costs, sizes, box):
    """Find, for each prefix of the order that ends in begin + 1 … end, its best last run.

    order: (records,) the records in order. The first begin + 1 entries of costs are known.
    costs, sizes: (records + 1,) least loss of the prefix and size of its last run; costs is
        negative if no division into runs of k to 2k − 1 exists.
    box: Boxes with one box; its bits are 0 before and after the call.
    Invariant: costs and sizes are final up to index `last`; the box covers the `size` records that
    end at `last`, and `width` is its width.
    """
    for last in range(begin, end):
        best, chosen = np.int64(-1), np.int64(0)
        for j in range(points.line.shape[1]):
            box.low[0, j], box.high[0, j] = FAR, -1
        width, size = np.int64(0), np.int64(0)
        # the last run grows backwards, one record at a time
        while size < 2 * k - 1 and size <= last:
            record = order[last - size]
            width += _widen(points, box, record, size == 0)
            size += 1
            if size >= k and costs[last + 1 - size] >= 0:
                cost = costs[last + 1 - size] + size * width
                if best < 0 or cost < best:
                    best, chosen = cost, size
        # clear the words that its records touched, not all of them
        for i in range(size):
            for j in range(points.name.shape[1]):
                code = points.name[order[last - i], j]
                box.seen[0, points.word[j] + (code >> 6)] = np.uint64(0)
        costs[last + 1], sizes[last + 1] = best, chosen


@njit(cache=True, error_model="numpy")
def _widen(points, box, record, fresh):
    """Widen the box to cover a record; return the increase of its width."""
    total = np.int64(0)
    for j in range(points.line.shape[1]):
        place = points.line[record, j]
        before = np.int64(0) if fresh else np.int64(box.high[0, j]) - box.low[0, j]
        box.low[0, j] = min(box.low[0, j], place)
        box.high[0, j] = max(box.high[0, j], place)
        after = np.int64(box.high[0, j]) - box.low[0, j]
        total += min(after, points.cap[j]) - min(before, points.cap[j])
    for j in range(points.name.shape[1]):
        code = points.name[record, j]
        word, bit = points.word[j] + (code >> 6), ONE << np.uint64(code & 63)
        if not box.seen[0, word] & bit:
            box.seen[0, word] |= bit
            total += np.int64(0) if fresh else points.unit[j]
    return total


@njit(cache=True, error_model="numpy")
def number_runs(order, sizes, ids):
    """Store the run of each record, numbered from the start of the order.

    order: (records,); sizes: (records + 1,) size of the last run of each prefix; ids: (records,).
    """
    last, runs = len(order), 0
    # first count the runs, which are read from the end
    while last > 0:
        last -= sizes[last]
        runs += 1
    last = len(order)
    while last > 0:
        runs -= 1
        for i in range(last - sizes[last], last):
            ids[order[i]] = runs
        last -= sizes[last]
