# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: lower the prices of records until no class costs less than the prices of its records.

The sum of such prices is a lower bound of the loss of any division into classes. Prices and widths
are whole units, so every comparison is exact. The search visits the boxes that classes can have,
depth first, from the record with the highest price at the start, the root of the class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._price_lists import (
    NEVER,
    cheapest_class,
    flat_width,
    joint_branch,
    list_by_width,
    offer,
    offer_corners,
    widest_class,
)
from shoal.support.compiling import njit


class Log(NamedTuple):
    """Classes that cost less than their prices when they were found.

    members: (room, 2k − 1) their kinds, −1 beyond their size. cost: (room,) their costs.
    found: (1,) number of such classes, of which the first `room` are listed.
    """

    members: Any
    cost: Any
    found: Any


@njit(cache=True, error_model="numpy")
def _note_class(depth, size, log, scratch):
    """Add a class to the log: the corners of a box, then the highest prices inside it."""
    number = log.found[0]
    log.found[0] = number + 1
    if number >= len(log.cost):
        return
    log.cost[number] = size * scratch.span[depth]
    for i in range(log.members.shape[1]):
        member = np.int32(-1)
        if i < depth:
            member = scratch.kind[scratch.corner[i + 1]]
        elif i < size:
            member = scratch.holder[i - depth]
        log.members[number, i] = member


@njit(cache=True, error_model="numpy")
def _lower_prices(depth, size, excess, mark, kinds, prices, scratch):
    """Lower the prices of a class by at least the excess, evenly over its rarest kinds.

    A price counts once for each record of its kind, so the rarest kinds lower the bound least.
    mark: a number that no class before had.
    """
    rarest, share = NEVER, 0
    for i in range(size):
        kind = scratch.kind[scratch.corner[i + 1]] if i < depth else scratch.holder[i - depth]
        count = kinds.count[kind]
        if count < rarest:
            rarest, share = count, 0
        if count == rarest:
            share += 1
    # rounded up, so the class is not underpriced afterwards
    step = (excess + share - 1) // share
    for i in range(size):
        kind = scratch.kind[scratch.corner[i + 1]] if i < depth else scratch.holder[i - depth]
        if kinds.count[kind] == rarest and scratch.lowered[kind] != mark:
            scratch.lowered[kind] = mark
            prices[kind] -= step


@njit(cache=True, error_model="numpy")
def _settle_box(depth, inside, k, kinds, prices, log, scratch):
    """Lower prices until no class with these corners inside their box costs less than its prices.

    inside: number of candidates, first in by_width, that lie in the box.
    Returns the prices of the corners together, and the length of the list of highest prices.
    """
    count, kind_of, best, holder = kinds.count, scratch.kind, scratch.price, scratch.holder
    while True:
        paid = np.int64(0)
        for d in range(1, depth + 1):
            paid += prices[kind_of[scratch.corner[d]]]
        held = offer_corners(depth, count, prices, kind_of, scratch.corner, best, holder)
        # records inside the box join at no further width
        for i in range(inside):
            kind = kind_of[scratch.by_width[i]]
            held = offer(best, holder, held, prices[kind], kind, count[kind])
        cost, size = cheapest_class(depth, paid, scratch.span[depth], held, k, best)
        if cost >= 0:
            return paid, held
        _note_class(depth, size, log, scratch)
        _lower_prices(depth, size, -cost, log.found[0], kinds, prices, scratch)


@njit(cache=True, error_model="numpy")
def _open_box(depth, k, kinds, prices, log, scratch):
    """Settle the box of a depth and list the candidates that can widen it.

    A class in which candidate c widens the box most has at least the width with c, and its other
    members are among the candidates up to c: the cheapest such class is a lower bound.
    """
    count, kind_of, best, holder = kinds.count, scratch.kind, scratch.price, scratch.holder
    candidates, by_width, widths = (
        scratch.candidate[depth - 1],
        scratch.by_width,
        scratch.sorted_width,
    )
    scratch.waiting[depth] = 0
    scratch.count[depth] = 0
    paid = np.int64(0)
    for d in range(1, depth + 1):
        paid += prices[kind_of[scratch.corner[d]]]
    held = offer_corners(depth, count, prices, kind_of, scratch.corner, best, holder)
    for i in range(scratch.count[depth - 1]):
        kind = kind_of[candidates[i]]
        held = offer(best, holder, held, prices[kind], kind, count[kind])
    limit = widest_class(depth, paid, held, k, best)
    # no class in a box this wide or wider is underpriced
    if limit < scratch.span[depth]:
        return
    listed = list_by_width(depth, paid, held, k, kinds, prices, scratch)
    inside = 0
    while inside < listed and widths[inside] == scratch.span[depth]:
        inside += 1
    paid, held = _settle_box(depth, inside, k, kinds, prices, log, scratch)
    # the largest class is full: no further corner
    if depth == 2 * k - 1:
        return
    i = inside
    while i < listed:
        begin, width = i, widths[i]
        while i < listed and widths[i] == width:
            kind = kind_of[by_width[i]]
            held = offer(best, holder, held, prices[kind], kind, count[kind])
            i += 1
        floor, _ = cheapest_class(depth + 1, paid, width, held, k, best)
        for at in range(begin, i):
            scratch.floor[at] = floor
    _keep_candidates(depth, inside, listed, prices, scratch)


@njit(cache=True, error_model="numpy")
def _keep_candidates(depth, inside, listed, prices, scratch):
    """Keep the candidates that some class below its prices can contain.

    Such a class costs at least the least floor from the candidate's own on; this loop runs from the
    widest candidate down, and the kept ones are then written in ascending order.
    """
    beyond = NEVER
    for i in range(listed - 1, inside - 1, -1):
        beyond = min(beyond, scratch.floor[i])
        price = prices[scratch.kind[scratch.by_width[i]]]
        if beyond >= price:
            scratch.by_width[i] = -1
    kept = 0
    for i in range(inside, listed):
        one = scratch.by_width[i]
        if one >= 0:
            scratch.candidate[depth, kept] = one
            scratch.width[depth, kept] = scratch.sorted_width[i]
            scratch.least[depth, kept] = scratch.floor[i] - prices[scratch.kind[one]]
            kept += 1
    scratch.waiting[depth] = kept
    for i in range(inside):
        scratch.candidate[depth, kept + i] = scratch.by_width[i]
        scratch.width[depth, kept + i] = scratch.span[depth]
    scratch.count[depth] = kept + inside


@njit(cache=True, error_model="numpy")
def _mark_corner(depth, sign, kinds, scratch):
    """Count the nominal values of a corner (sign 1), or remove them (sign −1)."""
    kind = scratch.kind[scratch.corner[depth]]
    for j in range(kinds.name.shape[1]):
        scratch.seen[kinds.name[kind, j]] += sign


@njit(cache=True, error_model="numpy")
def _plant(at, order, reach, kinds, scratch):
    """Write the root, the box of the root alone, and the candidates: all later kinds within reach.

    Returns whether there is room for all candidates.
    """
    root, ordered, trees = order[at], kinds.line.shape[1], kinds.leaf.shape[1]
    name, unit, line, cap = kinds.name, kinds.unit, kinds.line, kinds.cap
    listed = 0
    for i in range(at, len(order)):
        kind = order[i]
        width = flat_width(name, unit, line, cap, root, kind, reach)
        # its pair with the root costs more than any price here can pay
        if width >= reach:
            continue
        if listed == len(scratch.kind):
            return False
        for j in range(trees):
            place = joint_branch(kinds, j, root, kind)
            scratch.place[listed, ordered + j] = place
            width += place
        if width >= reach:
            continue
        scratch.kind[listed] = kind
        for j in range(ordered):
            scratch.place[listed, j] = line[kind, j]
        if i > at:
            scratch.candidate[0, listed - 1] = listed
            scratch.width[0, listed - 1] = width
        listed += 1
    scratch.count[0] = listed - 1
    scratch.corner[1] = 0
    scratch.span[1] = 0
    for j in range(ordered + trees):
        scratch.low[1, j] = scratch.high[1, j] = scratch.place[0, j]
    return True


@njit(cache=True, error_model="numpy")
def _drop_candidate(depth, i, scratch):
    """Remove a candidate that is not waiting; the last one, which is not either, replaces it."""
    last = scratch.count[depth] - 1
    scratch.candidate[depth, i] = scratch.candidate[depth, last]
    scratch.width[depth, i] = scratch.width[depth, last]
    scratch.count[depth] = last


@njit(cache=True, error_model="numpy")
def _add_corner(depth, i, kinds, scratch):
    """Write the box of the next depth, with widening candidate i, which later boxes leave out."""
    one = scratch.candidate[depth, i]
    scratch.corner[depth + 1] = one
    scratch.span[depth + 1] = scratch.width[depth, i]
    _drop_candidate(depth, i, scratch)
    for j in range(scratch.low.shape[1]):
        place = scratch.place[one, j]
        scratch.low[depth + 1, j] = min(scratch.low[depth, j], place)
        scratch.high[depth + 1, j] = max(scratch.high[depth, j], place)
    _mark_corner(depth + 1, 1, kinds, scratch)


@njit(cache=True, error_model="numpy")
def _search_root(k, most_boxes, kinds, prices, log, scratch):
    """Lower prices until no class of the planted root costs less than them; return the boxes seen.

    If that takes too many boxes, the root's price pays for all classes that were not visited.
    Invariant: corners 1..depth span the box of row `depth`, `seen` counts their values, and the
    first waiting[d] candidates of every depth d ≤ depth are still to be tried.
    """
    depth, boxes = 1, 1
    _mark_corner(1, 1, kinds, scratch)
    _open_box(1, k, kinds, prices, log, scratch)
    while depth > 0:
        i = scratch.waiting[depth] - 1
        if i < 0:
            _mark_corner(depth, -1, kinds, scratch)
            depth -= 1
            continue
        if boxes >= most_boxes:
            # give up: lower the price of the root by the most that an open class may be underpriced
            least = np.int64(0)
            while depth > 0:
                for at in range(scratch.waiting[depth]):
                    least = min(least, scratch.least[depth, at])
                _mark_corner(depth, -1, kinds, scratch)
                depth -= 1
            prices[scratch.kind[0]] += least
            return boxes
        scratch.waiting[depth] = i
        if scratch.least[depth, i] >= 0:  # no class that it widens most; narrower ones omit it
            _drop_candidate(depth, i, scratch)
            continue
        _add_corner(depth, i, kinds, scratch)
        depth += 1
        boxes += 1
        _open_box(depth, k, kinds, prices, log, scratch)
    return boxes


@njit(cache=True, error_model="numpy")
def repair_prices(kinds, k, order, begin, reach, work, most_boxes, prices, log, scratch):
    """Lower prices until no class of some roots costs less than the prices of its records.

    order: kinds by descending price at the start; a class is found from its first kind in this
        order, its root, so that all its pairs with the root are narrower than the root's price.
    reach: (kinds,) the prices at the start; prices: (kinds,) are lowered in place, never raised.
    begin: first root to search. work: boxes after which to return; listing the candidates of a root
        counts as some. most_boxes: of one root.
    Returns the next root to search; the prices are proven if it is len(order).
    """
    spent = 0
    for at in range(begin, len(order)):
        root = order[at]
        if reach[root] <= 0:
            return len(order)
        if spent >= work:
            return at
        spent += 1 + (len(order) - at) // 256
        if _plant(at, order, reach[root], kinds, scratch):
            spent += _search_root(k, most_boxes, kinds, prices, log, scratch)
        else:
            prices[root] -= (2 * k - 1) * reach[root]
    return len(order)
