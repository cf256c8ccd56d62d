# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: how many people have each multiset of at most m events that one person has.

A multiset is written as items (c, b), its b occurrences of cell c, in ascending order of cells. A
person has the item if she has the cell at least b times. The walk extends a multiset by an item of
a later cell, depth first. It counts all extensions of a multiset at once, from the holders of the
multiset alone, so that only multisets that somebody has are visited, and only those of several
people are extended. Eclat walks so (Zaki, "Scalable algorithms for association mining", TKDE 12(3),
2000).

Memory layout: entry e says that person `owner[e]` has cell `cell[e]` `times[e]` times, at most m.
The entries of a person are consecutive and in ascending order of cells. The later cells of a person
are the entries after e with the same owner. `by_cell[begins[x] : begins[x + 1]]` are the entries of
cell x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.compiling import njit


class Entries(NamedTuple):
    """How many equal rows each person has of each cell; the layout is above."""

    owner: Codes
    cell: Codes
    times: Codes
    begins: Counts
    by_cell: Counts


class Found(NamedTuple):
    """What the multisets show, as in `EventCounts`.

    fewest: (1,). whole: (people,) who has a rare multiset to which any other of her rows can be
    added, so that each of her cells is part of a rare multiset.
    """

    fewest: Counts
    below: Bools
    alone: Bools
    whole: Bools
    rare: Bools


class Walk(NamedTuple):
    """Working arrays.

    having: (cells * m,) people with each extension of the present multiset; item (c, b) is at
        c * m + b − 1. Zero between calls; the next free place of its list while lists are filled.
    touched: the items with people, in the order in which they were met.
    lists: (m, …) for each depth the entries of the last cell of each multiset, whose owners have
        the multiset.
    items, at, size: (m, …) the extensions of each depth that are walked next, and where their lists
        lie at the next depth; `opened`: (m,) their number; `turn`: (m,) the next of them.
    rest: (m,) how many occurrences can still be added. chosen: (m,) the last cell of each depth.
    """

    having: Counts
    touched: Counts
    lists: Counts
    items: Counts
    at: Counts
    size: Counts
    opened: Counts
    turn: Counts
    rest: Counts
    chosen: Counts


@njit(cache=True, nogil=True, error_model="numpy")
def mark_holders(support, k, extensible, entries, found, work):
    """Note the support of a multiset of one cell, whose holders are in lists[0], and mark them."""
    found.fewest[0] = min(found.fewest[0], support)
    if support >= k and support > 1:
        return
    for i in range(support):
        p = entries.owner[work.lists[0, i]]
        if support == 1:
            found.alone[p] = True
        if support < k:
            found.below[p] = True
            if extensible:
                found.whole[p] = True
    if support < k:
        found.rare[work.chosen[0]] = True


@njit(cache=True, nogil=True, error_model="numpy")
def extend(low, high, depth, k, m, entries, found, work):
    """Count all extensions of a multiset, mark holders of rare ones, and list those of the others.

    lists[depth, low:high]: the holders of the multiset. An extension gets a list if several people
    have it and another occurrence can be added.
    """
    owner, cell, times = entries.owner, entries.cell, entries.times
    rest, touched = work.rest[depth], 0
    # First pass: having[item] counts the holders of each extension; touched[:touched] lists them.
    for i in range(low, high):
        e = work.lists[depth, i]
        p = owner[e]
        f = e + 1
        while f < len(owner) and owner[f] == p:
            for b in range(min(times[f], rest)):
                item = np.int64(cell[f]) * m + b
                if work.having[item] == 0:
                    work.touched[touched] = item
                    touched += 1
                work.having[item] += 1
            f += 1
    least, fewest = max(k, 2), found.fewest[0]
    any_rare = False
    for i in range(touched):
        support = work.having[work.touched[i]]
        fewest = min(fewest, support)
        any_rare |= support < least
    found.fewest[0] = fewest
    if any_rare:
        mark_rare_extensions(low, high, depth, k, m, entries, found, work)
    # Give each extension that is walked its stretch of lists[depth + 1]; having[item] becomes the
    # next free place of the stretch, −1 for extensions without one.
    opened, end = 0, 0
    for i in range(touched):
        item = work.touched[i]
        support = work.having[item]
        work.having[item] = -1
        if support > 1 and item % m + 1 < rest:
            work.items[depth, opened], work.at[depth, opened] = item, end
            work.size[depth, opened] = support
            work.having[item] = end
            opened += 1
            end += support
    if opened:  # second pass over the same entries: fill the stretches
        for i in range(low, high):
            e = work.lists[depth, i]
            p = owner[e]
            f = e + 1
            while f < len(owner) and owner[f] == p:
                for b in range(min(times[f], rest)):
                    place = work.having[np.int64(cell[f]) * m + b]
                    if place >= 0:
                        work.lists[depth + 1, place] = f
                        work.having[np.int64(cell[f]) * m + b] = place + 1
                f += 1
    for i in range(touched):
        work.having[work.touched[i]] = 0
    work.opened[depth], work.turn[depth] = opened, 0


@njit(cache=True, nogil=True, error_model="numpy")
def mark_rare_extensions(low, high, depth, k, m, entries, found, work):
    """Mark the holders of extensions that too few people have."""
    owner, cell, times = entries.owner, entries.cell, entries.times
    rest, rare = work.rest[depth], False
    for i in range(low, high):
        e = work.lists[depth, i]
        p = owner[e]
        f = e + 1
        while f < len(owner) and owner[f] == p:
            for b in range(min(times[f], rest)):
                support = work.having[np.int64(cell[f]) * m + b]  # counts of the first pass
                if support == 1:
                    found.alone[p] = True
                if support < k:
                    found.below[p] = True
                    rare = True
                    found.rare[cell[f]] = True
                    if b + 1 < rest:
                        found.whole[p] = True
            f += 1
    if rare:
        for d in range(depth + 1):
            found.rare[work.chosen[d]] = True


@njit(cache=True, nogil=True, error_model="numpy")
def walk_cells(begin, end, k, m, entries, found, work):
    """Count all multisets whose first cell is one of begin … end − 1."""
    for x in range(begin, end):
        work.chosen[0] = x
        for a in range(1, m + 1):  # a occurrences of cell x
            holders = 0
            for i in range(entries.begins[x], entries.begins[x + 1]):
                e = entries.by_cell[i]
                if entries.times[e] >= a:
                    work.lists[0, holders] = e
                    holders += 1
            if holders == 0:
                break
            mark_holders(holders, k, a < m, entries, found, work)
            if a == m or holders == 1:
                continue
            work.rest[0] = m - a
            extend(0, holders, 0, k, m, entries, found, work)
            # depth first; at each depth up to this one, extensions from `turn` on are left
            depth = 0
            while depth >= 0:
                if work.turn[depth] == work.opened[depth]:
                    depth -= 1
                    continue
                i = work.turn[depth]
                work.turn[depth] += 1
                item = work.items[depth, i]
                low, size = work.at[depth, i], work.size[depth, i]
                work.rest[depth + 1] = work.rest[depth] - item % m - 1
                depth += 1
                work.chosen[depth] = item // m
                extend(low, low + size, depth, k, m, entries, found, work)
