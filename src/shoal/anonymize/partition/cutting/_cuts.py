# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the best cuts of one node of a Mondrian tree.

Candidate cuts are the prefixes of each column's cut order, in at most 64 steps, so that one word
has a bit for each step in which a value of another column occurs; the first and last bit of each
value give the exact loss of both sides of every cut, over all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from shoal.anonymize.partition.cutting._nodes import (
    ACTIVE,
    BASE,
    COUNT,
    CUTTABLE,
    LEAST,
    MOST,
    NOMINAL,
    ORDERED,
    PLACE,
    SIZE,
    STEP,
    STEPPED,
    STEPS,
    TREE,
    UPTO,
    VALUE,
    column_loss,
    localise,
    spread,
)
from shoal.support.compiling import intrinsic, njit

TIE = 1e-9  # scores closer than this are equal: the lower column, then the smaller cut, wins


def count_lowest(word: int) -> int:
    """Return what `lowest_bit` does, in Python."""
    return (int(word) & -int(word)).bit_length() - 1


def count_above(word: int) -> int:
    """Return what `zeros_above` does, in Python."""
    return 64 - int(word).bit_length()


@intrinsic(count_lowest)
def lowest_bit(context: Any, word: Any) -> Any:
    """Place of the lowest set bit of a non-zero word."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], target.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic(count_above)
def zeros_above(context: Any, word: Any) -> Any:
    """Return the number of zero bits above the highest set bit of a non-zero word."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], target.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@njit(cache=True, error_model="numpy")
def fill_steps(j, records, space, scratch):
    """Divide column j's order into steps; return whether a cut leaves k on both sides.

    slots[UPTO]: records up to a step's end. slots[LEAST], slots[MOST]: for each step, the least and
    greatest code in an ordered column; the position where a step ends is stored for any column.
    """
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    count, step = scratch.slots[COUNT], scratch.slots[STEP]
    upto = scratch.slots[UPTO]
    if space.kind[j] != TREE:
        wide = size > STEPS
        left, at = 0, 0
        for a in range(base, base + size):
            step[a] = at
            left += count[a]
            if not wide:
                at += 1
            elif at < STEPS - 1:
                just = left >= space.k and left - count[a] < space.k
                more = a + 1 < base + size
                last = more and records - left >= space.k > records - left - count[a + 1]
                if just or last or left * (STEPS - 4) >= (at + 1) * records:
                    at += 1
    steps, left, possible = 0, 0, False
    for a in range(base, base + size):
        left += count[a]
        steps = step[a] + 1
        upto[base + step[a]] = left
        if a + 1 < base + size and step[a + 1] != step[a]:
            possible |= left >= space.k and records - left >= space.k
    scratch.columns[STEPPED, j] = steps
    return possible


@njit(cache=True, error_model="numpy")
def fill_masks(codes, low, high, live, open_columns, space, scratch):
    """mask[row, y]: the steps of the y-th open column in which a value of any column occurs.

    A mask row is a value of a nominal or tree column, a step of an ordered one.
    """
    mask, bit, rank = scratch.mask, scratch.bit, scratch.rank
    place, cuttable = scratch.columns[PLACE], scratch.columns[CUTTABLE]
    base, active = scratch.columns[BASE], scratch.columns[ACTIVE]
    step, first, kind = scratch.slots[STEP], space.first, space.kind
    for x in range(live):
        note_ends(active[x], space, scratch)
        rows = scratch.columns[SIZE, active[x]]
        for row in range(base[active[x]], base[active[x]] + rows):
            for y in range(open_columns):
                mask[row, y] = 0
    for i in range(low, high):
        for x in range(live):
            j = active[x]
            place[x] = base[j] + rank[first[j] + codes[i, j]] - 1
        for y in range(open_columns):
            bit[y] = np.uint64(1) << np.uint64(step[place[cuttable[y]]])
        for x in range(live):
            row = place[x]
            if kind[active[x]] == ORDERED:
                row = base[active[x]] + step[row]
            for y in range(open_columns):
                mask[row, y] |= bit[y]


@njit(cache=True, error_model="numpy")
def note_ends(j, space, scratch):
    """Store the least and greatest code of each mask row of column j."""
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    value, step = scratch.slots[VALUE], scratch.slots[STEP]
    least, most = scratch.slots[LEAST], scratch.slots[MOST]
    if space.kind[j] == TREE:
        for a in range(base, base + size):
            least[a] = most[a] = value[a]
    elif space.kind[j] == ORDERED:
        for a in range(base, base + size):
            if a == base or step[a] != step[a - 1]:
                least[base + step[a]] = value[a]
            most[base + step[a]] = value[a]


@njit(cache=True, error_model="numpy")
def add_growth(j, y, steps, space, scratch):
    """Add the increase of a range's or tree's loss at each step, from either end, to growth."""
    mask, edge, base = scratch.mask, scratch.edge, scratch.columns[BASE, j]
    rows = scratch.columns[STEPPED, j] if space.kind[j] == ORDERED else scratch.columns[SIZE, j]
    for a in range(steps):
        edge[0, a] = edge[2, a] = space.domain[j]
        edge[1, a] = edge[3, a] = -1
    for row in range(base, base + rows):
        least, most = scratch.slots[LEAST, row], scratch.slots[MOST, row]
        enters = np.int64(lowest_bit(mask[row, y]))
        leaves = 63 - np.int64(zeros_above(mask[row, y]))
        edge[0, enters] = min(edge[0, enters], least)
        edge[1, enters] = max(edge[1, enters], most)
        edge[2, leaves] = min(edge[2, leaves], least)
        edge[3, leaves] = max(edge[3, leaves], most)
    for side in range(2):
        least, most, before = space.domain[j], np.int64(-1), 0.0
        for turn in range(steps):
            a = turn if side == 0 else steps - 1 - turn
            if edge[2 * side, a] < least or edge[2 * side + 1, a] > most:
                least = min(least, edge[2 * side, a])
                most = max(most, edge[2 * side + 1, a])
                now = spread(space, j, least, most)
                scratch.growth[side, a] += now - before
                before = now


@njit(cache=True, error_model="numpy")
def weigh_cuts(y, records, loss, live, space, scratch):
    """Store the two best cuts of the y-th open column.

    The score of a cut is its saving over all columns and records times the root of the entropy of
    the two sides' sizes, as halves can be cut again. Below 3k records neither side can be cut, so
    only the saving counts.
    """
    j = scratch.columns[ACTIVE, scratch.columns[CUTTABLE, y]]
    steps, base = scratch.columns[STEPPED, j], scratch.columns[BASE, j]
    growth, score, cut = scratch.growth, scratch.score, scratch.cut
    for s in range(steps):
        growth[0, s] = growth[1, s] = 0.0
    mask, from_left, from_right = scratch.mask, growth[0], growth[1]
    start = 0.0
    for x in range(live):
        other = scratch.columns[ACTIVE, x]
        if space.kind[other] != NOMINAL:
            add_growth(other, y, steps, space, scratch)
            continue
        unit = space.unit[other]  # each further value costs the same, where it first or last occurs
        start -= unit
        rows = scratch.columns[BASE, other] + scratch.columns[SIZE, other]
        for row in range(scratch.columns[BASE, other], rows):
            from_left[np.int64(lowest_bit(mask[row, y]))] += unit
            from_right[63 - np.int64(zeros_above(mask[row, y]))] += unit
    left_loss = start
    right_loss = start
    for s in range(steps):
        right_loss += growth[1, s]
    score[0, j] = score[1, j] = -1.0
    place, a = 0, 0
    for s in range(steps - 1):
        left_loss += growth[0, s]
        right_loss -= growth[1, s]
        left = scratch.slots[UPTO, base + s]
        while a < scratch.columns[SIZE, j] and scratch.slots[STEP, base + a] == s:
            a += 1
        place = a
        if left < space.k or records - left < space.k:
            continue
        saved = records * loss - left * left_loss - (records - left) * right_loss
        if saved <= score[1, j] + TIE:
            continue
        if records >= 3 * space.k:
            p = left / records
            saved *= np.sqrt(-(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p)))
        if saved > score[0, j] + TIE:
            score[1, j] = score[0, j]
            cut[1, j] = cut[0, j]
            score[0, j] = saved
            cut[0, j] = place
        elif saved > score[1, j] + TIE:
            score[1, j] = saved
            cut[1, j] = place


@njit(cache=True, error_model="numpy")
def find_cuts(codes, weight, low, high, records, space, scratch):
    """Localise a node and score its cuts. Returns the loss of one of its records."""
    live = localise(codes, weight, low, high, space, scratch)
    loss, open_columns = 0.0, 0
    for j in range(codes.shape[1]):
        scratch.cut[0, j] = scratch.cut[1, j] = 0
    for x in range(live):
        j = scratch.columns[ACTIVE, x]
        loss += column_loss(j, space, scratch)
        if fill_steps(j, records, space, scratch):
            scratch.columns[CUTTABLE, open_columns] = x
            open_columns += 1
    if open_columns > 0:
        fill_masks(codes, low, high, live, open_columns, space, scratch)
        for y in range(open_columns):
            weigh_cuts(y, records, loss, live, space, scratch)
    return loss


@njit(cache=True, error_model="numpy")
def best_cut(score, cut):
    """Return rank and column of the best cut not yet taken; the column is −1 if there is none."""
    rank, best = 0, -1
    for r in range(score.shape[0]):
        for j in range(score.shape[1]):
            if cut[r, j] > 0 and (best < 0 or score[r, j] > score[rank, best] + TIE):
                rank, best = r, j
    return rank, best


@njit(cache=True, error_model="numpy")
def divide(codes, weight, where, low, high, j, place, space, scratch):
    """Move the rows with the first `place` values of column j to the front of the node.

    Returns the middle and the records before it; the node must be localised.
    """
    rank, first = scratch.rank, space.first[j]
    a, b, left = low, high - 1, 0
    while True:
        while a <= b and rank[first + codes[a, j]] <= place:
            left += weight[a]
            a += 1
        while a <= b and rank[first + codes[b, j]] > place:
            b -= 1
        if a >= b:
            return a, left
        for c in range(codes.shape[1]):
            codes[a, c], codes[b, c] = codes[b, c], codes[a, c]
        weight[a], weight[b] = weight[b], weight[a]
        where[a], where[b] = where[b], where[a]
