# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the cheapest choice of listed groups that covers all records, by depth-first search.

A group and the remaining records are words: each kind of equal records has a bit field that counts
its records, so one subtraction removes a group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize.partition._boxes import ONE
from shoal.anonymize.partition.carrying._subset_search import Listed
from shoal.anonymize.partition.cutting._cuts import lowest_bit
from shoal.support.arrays import Counts
from shoal.support.compiling import njit

_BITS = 64


class Search(NamedTuple):
    """A search for the best choice of groups, which can be interrupted and resumed.

    row, packed, excess: (groups,) index in the list, word, cost beyond the records' prices; sorted
        by first kind and excess. start: (kinds + 1,) start of each first kind.
    field: (64,) whose field a bit is in. word: see lay_fields.
    left, spent, at, chosen, best: one for each depth. state: depth, excess to beat, groups chosen.
    """

    row: Any
    packed: Any
    excess: Any
    start: Any
    field: Any
    word: Any
    left: Any
    spent: Any
    at: Any
    chosen: Any
    best: Any
    state: Any


def fits(copies: Counts) -> bool:
    """Return whether a word has enough bits to count all records; it has for 42 in any case."""
    return sum(1 if c == 1 else int(c).bit_length() + 1 for c in copies) <= _BITS


def make_search(listed: Listed, count: int, prices: Counts, copies: Counts, limit: int) -> Search:
    """Prepare a search for a choice that costs less than the limit beyond all records' prices."""
    often = np.zeros(len(copies), dtype=np.int64)
    count_kinds(listed, count, often)
    rank = np.argsort(often, kind="stable")  # the kind with the fewest groups is covered first
    place = np.argsort(rank)
    shift, word = np.zeros(len(copies), np.int64), np.zeros(3, np.uint64)
    lay_fields(copies, rank, shift, word)
    packed, excess = np.empty(count, np.uint64), np.empty(count, np.int64)
    first = np.empty(count, np.int64)
    pack(listed, count, prices, place, shift, packed, excess, first)
    row = np.lexsort((excess, first))
    depths = int(copies.sum()) + 1
    at = np.zeros((4, depths), dtype=np.int64)
    left = np.zeros(depths, dtype=np.uint64)
    left[0] = word[2]
    return Search(
        row,
        packed[row],
        excess[row],
        np.searchsorted(first[row], np.arange(len(copies) + 1)),
        np.searchsorted(shift[rank], np.arange(_BITS), side="right") - 1,
        word,
        left,
        at[0],
        at[1],
        at[2],
        at[3],
        np.array([0, limit, 0], dtype=np.int64),
    )


@njit(cache=True, error_model="numpy")
def count_kinds(listed, count, often):
    """Count the occurrences of each kind in groups."""
    for c in range(count):
        for i in range(listed.size[c]):
            often[listed.kinds[c, i]] += 1


@njit(cache=True, error_model="numpy")
def lay_fields(copies, rank, shift, word):
    """Give each kind a field of bits, in the order of rank, wide enough to count its records.

    A field of more than one record has a spare bit on top. word: the bits of single records, the
    spare bits, all records.
    """
    at = 0
    for p in rank:
        shift[p] = at
        word[2] |= np.uint64(copies[p]) << np.uint64(at)
        if copies[p] == 1:
            word[0] |= ONE << np.uint64(at)
            at += 1
            continue
        while copies[p] >> (at - shift[p]):
            at += 1
        word[1] |= ONE << np.uint64(at)
        at += 1


@njit(cache=True, error_model="numpy")
def pack(listed, count, whole, place, shift, packed, excess, first):
    """Write each group as a word, its cost beyond its records' prices and its first kind."""
    for c in range(count):
        left, word, least = listed.cost[c], np.uint64(0), len(place)
        for i in range(listed.size[c]):
            p = listed.kinds[c, i]
            left -= whole[p]
            word += ONE << np.uint64(shift[p])
            least = min(least, place[p])
        packed[c], excess[c], first[c] = word, left, least


@njit(cache=True, error_model="numpy")
def cover(search, budget):
    """Continue the search for the cheapest groups that cover all records; return unused steps."""
    depth, limit = search.state[0], search.state[1]
    single, guard = search.word[0], search.word[1]
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
        if taken & ~rest & single:
            continue
        if (((rest | guard) & ~single) - (taken & ~single)) & guard != guard:
            continue
        rest, spent = rest - taken, spent + search.excess[c]
        search.chosen[depth] = c
        if rest == 0:
            limit = spent
            for i in range(depth + 1):
                search.best[i] = search.chosen[i]
            search.state[2] = depth + 1
            depth -= 1
            continue
        depth += 1
        again = search.field[np.int64(lowest_bit(rest))]
        search.at[depth] = c if again == kind else search.start[again]  # in one order only
        search.left[depth], search.spent[depth] = rest, spent
    search.state[0], search.state[1] = depth, limit
    return budget
