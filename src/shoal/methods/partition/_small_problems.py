# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: good groupings of a few records, and the cheapest listed groups that cover them.

    cut_order, descend, shake    groupings that no move and no swap improves
    make_search, cover           depth-first search among the groups of a complete list

In the search, a group and the remaining records are words: each kind of equal records has a bit
field that counts its records, so one subtraction removes a group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import (
    ONE,
    add_record,
    box_width,
    copy_ids,
    empty_box,
    width_with,
)
from shoal.methods.partition._cuts import lowest_bit
from shoal.methods.partition._tightening import Listed
from shoal.support.arrays import Counts
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def cut_order(points, k, boxes, ids, least, cut):
    """Group neighbours as well as the records' order allows; return the number of groups.

    ids: (records,) receives the group of each record. boxes: Boxes, of which box 0 is scratch.
    least, cut: (records + 1,) scratch: the least loss of the first records, −1 if they cannot be
        divided into groups, and where their last group begins.
    Invariant: least[:begin + 1] is final; box 0 covers the records begin … end − 1.
    """
    count = len(ids)
    least[0] = 0
    for end in range(1, count + 1):
        least[end] = -1
    for begin in range(count - k + 1):
        if least[begin] < 0:
            continue
        empty_box(boxes, 0)
        for end in range(begin + 1, min(begin + 2 * k, count + 1)):
            add_record(points, boxes, 0, end - 1)
            # box 0 grows to the right; a group has k to 2k − 1 records
            if end - begin < k:
                continue
            loss = least[begin] + (end - begin) * box_width(points, boxes, 0)
            if least[end] < 0 or loss < least[end]:
                least[end], cut[end] = loss, begin
    # read the groups from the last one back
    end, groups = count, 0
    while end > 0:
        for i in range(cut[end], end):
            ids[i] = groups
        end = cut[end]
        groups += 1
    return groups


@njit(cache=True, error_model="numpy")
def fill_group(points, boxes, ids, group):
    """Fill the box of a group, and those of the group without each of its records.

    boxes: (records + groups) boxes: the group of record i without it at i, then the groups.
    """
    count = len(ids)
    empty_box(boxes, count + group)
    for i in range(count):
        if ids[i] != group:
            continue
        add_record(points, boxes, count + group, i)
        empty_box(boxes, i)
        for j in range(count):
            if ids[j] == group and j != i:
                add_record(points, boxes, i, j)


@njit(cache=True, error_model="numpy")
def descend(points, copy, k, boxes, ids, groups, sizes, widths):
    """Move and swap records while the loss falls; return it. At least two records in a group.

    copy: (records,) equal numbers for equal records. boxes: as in `fill_group`.
    ids: (records,) the grouping, which is improved in place; groups: its number of groups.
    sizes, widths: (groups,) scratch.
    Invariant: boxes, sizes and widths are those of ids.
    """
    count = len(ids)
    for group in range(groups):
        fill_group(points, boxes, ids, group)
        widths[group] = box_width(points, boxes, count + group)
        sizes[group] = 0
    for i in range(count):
        sizes[ids[i]] += 1
    better = True
    while better:
        better = False
        for i in range(count):
            better |= improve(points, copy, k, boxes, ids, groups, sizes, widths, i)
    total = np.int64(0)
    for group in range(groups):
        total += sizes[group] * widths[group]
    return total


@njit(cache=True, error_model="numpy")
def improve(points, copy, k, boxes, ids, groups, sizes, widths, i):
    """Make the best move or swap of record i if it lowers the loss; return whether it did.

    Arguments as in `descend`. Invariant: `best` is the lowest change of the loss tried so far, 0
    for none; `into` and `partner` describe it.
    """
    own, count = ids[i], len(ids)
    best, partner, into = np.int64(0), -1, -1
    if sizes[own] > k:
        # moves: what the own group saves is the same for all of them
        saved = sizes[own] * widths[own] - (sizes[own] - 1) * box_width(points, boxes, i)
        for other in range(groups):
            if other == own or sizes[other] > 2 * k - 2:
                continue
            change = (sizes[other] + 1) * width_with(points, boxes, count + other, i) - saved
            change -= sizes[other] * widths[other]
            if change < best:
                best, into = change, other
    for j in range(count):
        other = ids[j]
        if other == own or copy[j] == copy[i]:
            continue
        change = sizes[own] * (width_with(points, boxes, i, j) - widths[own])
        # the other group can at best save its whole loss
        if change - sizes[other] * widths[other] >= best:
            continue
        change += sizes[other] * (width_with(points, boxes, j, i) - widths[other])
        if change < best:
            best, partner, into = change, j, other
    if into < 0:
        return False
    ids[i] = into
    if partner >= 0:
        ids[partner] = own
    else:
        sizes[own] -= 1
        sizes[into] += 1
    for group in (np.int64(own), np.int64(into)):
        fill_group(points, boxes, ids, group)
        widths[group] = box_width(points, boxes, count + group)
    return True


@njit(cache=True, error_model="numpy")
def shake(points, copy, k, boxes, ids, loss, groups, sizes, widths, trial, rounds, seed):
    """Swap a few records at random and descend again, for some rounds; keep improvements.

    Other arguments as in `descend`. loss: the loss of ids. trial: (records,) scratch.
    seed: the same seed gives the same grouping. Returns the loss.
    Invariant: ids is the best grouping so far, and `loss` its loss.
    """
    count, state = np.uint64(len(ids)), np.uint64(seed)
    for _ in range(rounds):
        copy_ids(ids, trial)
        for _ in range(3):
            # a linear congruential generator, of which only the high bits are used
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            i = np.int64((state >> np.uint64(33)) % count)
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            j = np.int64((state >> np.uint64(33)) % count)
            trial[i], trial[j] = trial[j], trial[i]
        found = descend(points, copy, k, boxes, trial, groups, sizes, widths)
        if found < loss:
            loss = found
            copy_ids(trial, ids)
    return loss


_BITS = 64


class Search(NamedTuple):
    """A search for the best choice of groups, which can be interrupted and resumed.

    row, packed, excess: (groups,) index in the list, word, cost beyond the records' prices; sorted
        by first kind and excess.
    start: (kinds + 1,) start of each first kind in these three.
    field: (64,) the kind, by rank, whose field a bit is in.
    single, guard: words of the fields with one bit, and of the spare bits; see lay_fields.
    left, spent: (depths,) the records that remain before the choice at a depth, and the excess of
        the groups chosen before it.
    at: (depths,) the next group to try. chosen: (depths,) the group chosen.
    best: (depths,) the groups of the best choice, in its first best_size[0] entries.
    depth: (1,) the current depth, −1 once the search is complete.
    limit: (1,) the excess that a choice must stay below.
    best_size: (1,) number of groups of the best choice, 0 if none was found.
    """

    row: Any
    packed: Any
    excess: Any
    start: Any
    field: Any
    single: Any
    guard: Any
    left: Any
    spent: Any
    at: Any
    chosen: Any
    best: Any
    depth: Any
    limit: Any
    best_size: Any


def fits(copies: Counts) -> bool:
    """Return whether one 64-bit word can count all records (always true up to 42)."""
    return sum(1 if c == 1 else int(c).bit_length() + 1 for c in copies) <= _BITS


def make_search(listed: Listed, count: int, prices: Counts, copies: Counts, limit: int) -> Search:
    """Prepare a search for a choice that costs less than the limit beyond all records' prices."""
    often = np.zeros(len(copies), dtype=np.int64)
    count_kinds(listed, count, often)
    rank = np.argsort(often, kind="stable")  # the kind with the fewest groups is covered first
    rank_of = np.argsort(rank)
    shift = np.zeros(len(copies), np.int64)
    single, guard, all_records = lay_fields(copies, rank, shift)
    packed, excess = np.empty(count, np.uint64), np.empty(count, np.int64)
    first = np.empty(count, np.int64)
    pack(listed, count, prices, rank_of, shift, packed, excess, first)
    row = np.lexsort((excess, first))
    depths = int(copies.sum()) + 1
    left = np.zeros(depths, dtype=np.uint64)
    left[0] = all_records
    return Search(
        row=row,
        packed=packed[row],
        excess=excess[row],
        start=np.searchsorted(first[row], np.arange(len(copies) + 1)),
        field=np.searchsorted(shift[rank], np.arange(_BITS), side="right") - 1,
        single=np.uint64(single),
        guard=np.uint64(guard),
        left=left,
        spent=np.zeros(depths, dtype=np.int64),
        at=np.zeros(depths, dtype=np.int64),
        chosen=np.zeros(depths, dtype=np.int64),
        best=np.zeros(depths, dtype=np.int64),
        depth=np.zeros(1, dtype=np.int64),
        limit=np.array([limit], dtype=np.int64),
        best_size=np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, error_model="numpy")
def count_kinds(listed, count, often):
    """Count the occurrences of each kind in groups.

    listed: the groups, of which the first `count` are used. often: (kinds,) zeros, receive counts.
    """
    for c in range(count):
        for i in range(listed.size[c]):
            often[listed.kinds[c, i]] += 1


@njit(cache=True, error_model="numpy")
def lay_fields(copies, rank, shift):
    """Give each kind a field of bits, in the order of rank, wide enough to count its records.

    A field of more than one record has a spare bit on top, from which a subtraction borrows if a
    group has more records of the kind than remain.

    copies: (kinds,) number of records; rank: (kinds,) the kinds in order; shift: (kinds,) receives
    the lowest bit of each field. Returns three words: the fields of single records, the spare bits,
    and the counts of all records.
    Invariant: the fields of the kinds before p in the order occupy the bits below `at`.
    """
    single, guard, counts = np.uint64(0), np.uint64(0), np.uint64(0)
    at = 0
    for p in rank:
        shift[p] = at
        counts |= np.uint64(copies[p]) << np.uint64(at)
        if copies[p] == 1:
            single |= ONE << np.uint64(at)
            at += 1
            continue
        while copies[p] >> (at - shift[p]):
            at += 1
        guard |= ONE << np.uint64(at)
        at += 1
    return single, guard, counts


@njit(cache=True, error_model="numpy")
def pack(listed, count, prices, rank_of, shift, packed, excess, first):
    """Write each group as a word, its cost beyond its records' prices and its first kind.

    prices, rank_of, shift: (kinds,) price of a record, rank and lowest bit of each kind.
    packed, excess, first: (count,) receive the result; a first kind is given by its rank.
    """
    for c in range(count):
        over, word, least = listed.cost[c], np.uint64(0), len(rank_of)
        for i in range(listed.size[c]):
            p = listed.kinds[c, i]
            over -= prices[p]
            word += ONE << np.uint64(shift[p])
            least = min(least, rank_of[p])
        packed[c], excess[c], first[c] = word, over, least


@njit(cache=True, error_model="numpy")
def cover(search, budget):
    """Continue the search for the cheapest groups that cover all records; return unused steps.

    The next group always covers the lowest remaining kind, so its first kind is that kind.
    Invariant: chosen[:depth] are disjoint groups with excess spent[depth], left[depth] the records
    outside them; a choice below `limit` that was not seen yet begins with chosen[:d] and a group
    from at[d] on, for some d up to depth.
    """
    depth, limit = search.depth[0], search.limit[0]
    single, guard = search.single, search.guard
    while depth >= 0 and budget > 0:
        budget -= 1
        rest, spent = search.left[depth], search.spent[depth]
        kind = search.field[np.int64(lowest_bit(rest))]
        c = search.at[depth]
        if c >= search.start[kind + 1] or spent + search.excess[c] >= limit:
            depth -= 1
            continue
        search.at[depth] += 1
        taken = search.packed[c]
        # a kind of one record that is taken already
        if taken & ~rest & single:
            continue
        # all counts at once: a borrow clears the spare bit of a field that has too few records left
        if (((rest | guard) & ~single) - (taken & ~single)) & guard != guard:
            continue
        rest, spent = rest - taken, spent + search.excess[c]
        search.chosen[depth] = c
        if rest == 0:
            limit = spent
            for i in range(depth + 1):
                search.best[i] = search.chosen[i]
            search.best_size[0] = depth + 1
            depth -= 1
            continue
        depth += 1
        again = search.field[np.int64(lowest_bit(rest))]
        # groups with the same first kind are chosen in one order only
        search.at[depth] = c if again == kind else search.start[again]
        search.left[depth], search.spent[depth] = rest, spent
    search.depth[0], search.limit[0] = depth, limit
    return budget
