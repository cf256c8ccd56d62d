# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: distinct records as points, and lists of the records that may join a class.

    Kinds, flat_width, joint_branch    the layout, and how far two kinds are apart
    fill_neighbour_widths              how far apart k records are at least
    Scratch                            working memory of the search for underpriced classes
    offer, cheapest_class, …           the highest prices, and what a class with them costs
    list_by_width                      candidates by the width of the box with them

The search itself is in `_price_repair.py`. All prices and widths are whole units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

NEVER = np.int64(2) ** 61  # more than any cost


class Scratch(NamedTuple):
    """Working memory; row d of an array with depths belongs to a box spanned by d kinds.

    kind: (room,) the kind of each candidate of a root; the root itself is candidate 0.
    place: (room, ordered columns and trees) its positions; in a tree, the width of the lowest label
        that covers the candidate and the root, where the root is at 0.
    candidate: (depths, room) candidates that may join: first those that widen the box, then others.
    width: (depths, room) width of the box with each candidate.
    least: (depths, room) lower bound of cost − prices of classes that such a candidate is in.
    waiting: (depths,) number of widening candidates not yet tried. count: (depths,) all candidates.
    low, high: (depths, ordered columns and trees) the box. span: (depths,) its width.
    corner: (depths,) the candidate that spans the box together with those of the depths before.
    price, holder: (2k − 1,) the highest prices of records that may join, descending, and their
        kinds.
    sums: (2k,) the most that the other members of a class of each size can pay, besides one.
    by_width, sorted_width: (room,) candidates by the width of the box with them, and these widths.
    floor: (room,) lower bound of cost − prices, without its own price, of classes whose widest
        candidate is each of these.
    seen: (nominal values,) number of corners with each value.
    lowered: (kinds,) the last class for which the price of a kind was lowered.
    """

    kind: Any
    place: Any
    candidate: Any
    width: Any
    least: Any
    waiting: Any
    count: Any
    low: Any
    high: Any
    span: Any
    corner: Any
    price: Any
    holder: Any
    sums: Any
    by_width: Any
    sorted_width: Any
    floor: Any
    seen: Any
    lowered: Any


def make_scratch(kinds: Kinds, k: int, room: int) -> Scratch:
    """Allocate the working memory for roots with fewer than `room` candidates."""
    depths, columns = 2 * k + 1, kinds.line.shape[1] + kinds.leaf.shape[1]
    whole, wide = np.int32, np.int64
    return Scratch(
        np.zeros(room, whole),
        np.zeros((room, columns), wide),
        np.zeros((depths, room), whole),
        np.zeros((depths, room), wide),
        np.zeros((depths, room), wide),
        np.zeros(depths, wide),
        np.zeros(depths, wide),
        np.zeros((depths, columns), wide),
        np.zeros((depths, columns), wide),
        np.zeros(depths, wide),
        np.zeros(depths, whole),
        np.zeros(2 * k - 1, wide),
        np.zeros(2 * k - 1, whole),
        np.zeros(2 * k, wide),
        np.zeros(room, whole),
        np.zeros(room, wide),
        np.zeros(room, wide),
        np.zeros(int(kinds.values[0]) + 1, whole),
        np.full(len(kinds.count), -1, wide),
    )


@njit(cache=True, error_model="numpy")
def offer(best, holder, held, price, kind, copies):
    """Enter copies of a kind into the list of highest prices; return the length of the list."""
    room = len(best)
    if held == room and best[room - 1] >= price:
        return held
    # a kind is entered once for each of its records
    for _ in range(min(copies, room)):
        if held < room:
            at = held
            held += 1
        elif best[room - 1] < price:
            at = room - 1
        else:
            break
        while at > 0 and best[at - 1] < price:
            best[at] = best[at - 1]
            holder[at] = holder[at - 1]
            at -= 1
        best[at] = price
        holder[at] = kind
    return held


@njit(cache=True, error_model="numpy")
def offer_corners(depth, count, prices, kinds, corner, best, holder):
    """Begin the list of highest prices with further copies of the corners; return its length.

    kinds: the kind of each candidate. count, prices: (kinds,).
    """
    held = 0
    for d in range(1, depth + 1):
        kind = kinds[corner[d]]
        held = offer(best, holder, held, prices[kind], kind, count[kind] - 1)
    return held


@njit(cache=True, error_model="numpy")
def cheapest_class(members, paid, width, held, k, best):
    """Return the least cost − prices of a class, and its size.

    members: records that are in it, with prices `paid` together; the others are the first ones of
    the list of highest prices, of length `held`. The cost is NEVER if there are too few.
    """
    value = members * width - paid
    least, size = NEVER, members
    if members >= k:
        least = value
    # the members with the highest prices join one after the other
    for i in range(min(held, 2 * k - 1 - members)):
        value += width - best[i]
        if members + i + 1 >= k and value < least:
            least, size = value, members + i + 1
    return least, size


@njit(cache=True, error_model="numpy")
def widest_class(depth, paid, held, k, best):
    """Return the greatest width with which a class of these corners can cost less than its prices.

    Negative if there is none; the list of highest prices holds all records that may join.
    """
    widest, total = np.int64(-1), paid
    if depth >= k:
        widest = max(widest, (total - 1) // depth)
    for i in range(min(held, 2 * k - 1 - depth)):
        total += best[i]
        size = depth + i + 1
        if size >= k:
            widest = max(widest, (total - 1) // size)
    return widest


@njit(cache=True, error_model="numpy")
def _sum_others(depth, paid, held, k, best, sums):
    """Write, for each size, the most that a class pays without one of its members.

    Returns the least and the greatest size that a class with one more member can have.
    """
    first = max(k, depth + 1)
    last = min(2 * k - 1, depth + 1 + held)
    total = paid
    for size in range(depth + 1, last + 1):
        sums[size] = total
        if size - depth - 1 < held:
            total += best[size - depth - 1]
    return first, last


@njit(cache=True, error_model="numpy")
def _least_price(width, first, last, sums):
    """Return the price that a member must exceed for a class of this width to be underpriced."""
    least = NEVER
    for size in range(first, last + 1):
        least = min(least, size * width - sums[size])
    return least


@njit(cache=True, error_model="numpy")
def list_by_width(depth, paid, held, k, kinds, prices, scratch):
    """List the candidates of the depth before by the width of the box with them.

    Only those that can be in a class that costs less than its prices; the list of highest prices
    holds all that may join. Writes by_width and sorted_width, ascending; returns their number.
    """
    sums = scratch.sums
    first, last = _sum_others(depth, paid, held, k, scratch.price, sums)
    low, high, cap = scratch.low[depth], scratch.high[depth], kinds.cap
    ordered, columns = len(cap), len(low)
    # what the ordered columns and trees contribute to the width so far
    lines = np.int64(0)
    for j in range(columns):
        wide = high[j] - low[j]
        lines += min(wide, cap[j]) if j < ordered else wide
    base = scratch.span[depth] - lines  # the width of the nominal columns
    candidates, places, kind_of = scratch.candidate[depth - 1], scratch.place, scratch.kind
    name, unit, seen = kinds.name, kinds.unit, scratch.seen
    by_width, sorted_width, known = scratch.by_width, scratch.sorted_width, scratch.width[depth - 1]
    listed = 0
    for i in range(scratch.count[depth - 1]):
        one = candidates[i]
        kind = kind_of[one]
        price = prices[kind]
        # the box only grows, so the width at the depth before is a lower bound
        if _least_price(max(known[i], scratch.span[depth]), first, last, sums) >= price:
            continue
        width = base
        for j in range(len(unit)):
            if seen[name[kind, j]] == 0:
                width += unit[j]
        for j in range(columns):
            place = places[one, j]
            wide = max(high[j], place) - min(low[j], place)
            width += min(wide, cap[j]) if j < ordered else wide
        if _least_price(width, first, last, sums) < price:
            by_width[listed] = one
            sorted_width[listed] = width
            listed += 1
    _sort(sorted_width, by_width, listed)
    return listed


@njit(cache=True, error_model="numpy")
def _sort(keys, values, length):
    """Sort the first entries of two lists by the first list (Shell sort, quick to compile)."""
    step = 1
    while step < length // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(step, length):
            key, value, at = keys[i], values[i], i
            while at >= step and keys[at - step] > key:
                keys[at] = keys[at - step]
                values[at] = values[at - step]
                at -= step
            keys[at] = key
            values[at] = value
        step //= 3


class Kinds(NamedTuple):
    """Distinct records, called kinds, in the layout of the kernels; widths are whole units.

    count: (kinds,) records of each kind.
    line: (kinds, ordered columns) positions. cap: (ordered columns,) the most a column costs.
    name: (kinds, nominal columns) places of the values in one list of all nominal values.
    unit: (nominal columns,) the width of each value beyond the first, in descending order.
    leaf: (kinds, trees) codes of the columns that are published by labels of a hierarchy.
    first, domain, levels: (trees,) the branch of code c at level v of tree j, and the width of that
        branch, are at first[j] + v × domain[j] + c of the two lists that follow.
    branch, cost: all branches and their widths, which never decrease from a level to the next.
    values: (1,) length of the list of all nominal values.
    """

    count: Any
    line: Any
    cap: Any
    name: Any
    unit: Any
    leaf: Any
    first: Any
    domain: Any
    levels: Any
    branch: Any
    cost: Any
    values: Any


@njit(cache=True, error_model="numpy")
def joint_branch(kinds, tree, one, other):
    """Return the width of the lowest label that covers the values of two kinds."""
    first, domain = kinds.first[tree], kinds.domain[tree]
    one_code, other_code = kinds.leaf[one, tree], kinds.leaf[other, tree]
    for level in range(kinds.levels[tree]):
        at = first + level * domain
        if kinds.branch[at + one_code] == kinds.branch[at + other_code]:
            return kinds.cost[at + one_code]
    return np.int64(0)


@njit(cache=True, error_model="numpy")
def flat_width(name, unit, line, cap, one, other, limit):
    """Return the width of two kinds in nominal and ordered columns, or a number above the limit.

    Takes arrays, not `Kinds`: it runs for every pair, and passing so many arrays takes longer than
    the sum. The nominal columns with the widest values come first, so that most sums end early.
    """
    total = np.int64(0)
    for j in range(len(unit)):
        if name[one, j] != name[other, j]:
            total += unit[j]
            if total > limit:
                return total
    for j in range(len(cap)):
        apart = np.int64(line[one, j]) - line[other, j]
        total += min(abs(apart), cap[j])
    return total


@njit(cache=True, error_model="numpy")
def fill_neighbour_widths(kinds, k, begin, end, nearest, held, widths):
    """Store, for each kind in begin:end, the least width of a pair that k records force.

    A class with a record of this kind has k − 1 others, so it is at least as wide as the pair with
    the (k − 1)-th nearest of them.
    nearest, held: (k,) scratch: widths of the nearest kinds, ascending, and their records.
    Invariant: the first `known` entries are the nearest kinds so far, and all but the last of them
    have fewer than `want` records together.
    """
    name, unit, line, cap = kinds.name, kinds.unit, kinds.line, kinds.cap
    for kind in range(begin, end):
        want = k - kinds.count[kind]
        widths[kind] = 0
        if want <= 0:
            continue
        known = 0
        limit = np.int64(2) ** 62
        for other in range(len(kinds.count)):
            if other == kind:
                continue
            width = flat_width(name, unit, line, cap, kind, other, limit)
            if width >= limit:
                continue
            for j in range(kinds.leaf.shape[1]):
                width += joint_branch(kinds, j, kind, other)
            if width >= limit:
                continue
            at = known
            while at > 0 and nearest[at - 1] > width:
                nearest[at] = nearest[at - 1]
                held[at] = held[at - 1]
                at -= 1
            nearest[at] = width
            held[at] = kinds.count[other]
            known += 1
            # drop the neighbours beyond the ones that make up `want` records
            total = np.int64(0)
            for i in range(known):
                total += held[i]
                if total >= want:
                    known = i + 1
                    limit = nearest[i]
                    break
        widths[kind] = nearest[known - 1] if known > 0 else 0
