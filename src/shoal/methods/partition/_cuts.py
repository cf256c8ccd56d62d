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

from shoal.methods.partition._nodes import (
    ACTIVE,
    BASE,
    COUNT,
    CUTTABLE,
    LEAST,
    MOST,
    NOMINAL,
    ORDERED,
    SIZE,
    SLOT,
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
    """Return the position of the lowest set bit of a non-zero word."""

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

    Writes STEP (a tree has its steps from `order_column`), UPTO and STEPPED.
    A column with up to STEPS values has one step per value. A wider one has steps of about equal
    numbers of records, with step ends at the first cut that leaves k records before it and at the
    last that leaves k after it.
    Invariant of both loops: `left` counts the records of the values before and at slot a.
    """
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    count, step = scratch.slots[COUNT], scratch.slots[STEP]
    upto = scratch.slots[UPTO]
    if space.kind[j] != TREE:
        wide = size > STEPS
        left, current = 0, 0
        for a in range(base, base + size):
            step[a] = current
            left += count[a]
            if not wide:
                current += 1
            elif current < STEPS - 1:
                # a step also ends at the outermost cuts that leave k on both sides; STEPS − 4
                # leaves room for these two
                first = left >= space.k and left - count[a] < space.k
                more = a + 1 < base + size
                last = more and records - left >= space.k > records - left - count[a + 1]
                if first or last or left * (STEPS - 4) >= (current + 1) * records:
                    current += 1
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
    """Fill scratch.mask[row, y]: the steps of the y-th open column in which a mask row occurs.

    A mask row is a slot: a value of a nominal or tree column, a step of an ordered one (at base +
    step). live: number of active columns; open_columns: number of cuttable ones.
    Invariant: after row i, every mask includes the steps of rows low … i.
    """
    mask, bit, rank = scratch.mask, scratch.bit, scratch.rank
    slot, cuttable = scratch.columns[SLOT], scratch.columns[CUTTABLE]
    base, active = scratch.columns[BASE], scratch.columns[ACTIVE]
    step, first, kind = scratch.slots[STEP], space.first, space.kind
    # clear the rows in use and no others
    for x in range(live):
        note_ends(active[x], space, scratch)
        rows = scratch.columns[SIZE, active[x]]
        for row in range(base[active[x]], base[active[x]] + rows):
            for y in range(open_columns):
                mask[row, y] = 0
    for i in range(low, high):
        # where the row is in each active column
        for x in range(live):
            j = active[x]
            slot[x] = base[j] + rank[first[j] + codes[i, j]] - 1
        for y in range(open_columns):
            bit[y] = np.uint64(1) << np.uint64(step[slot[cuttable[y]]])
        # every mask row that the row is in occurs in the same steps
        for x in range(live):
            row = slot[x]
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
    """Add the loss that a range or tree gains at each step of a cut, from either end, to growth.

    j: an ordered or tree column; y: the open column that is cut; steps: its number of steps.
    A mask row is on the left side of a cut from its lowest step on, on the right side up to its
    highest. Side 0 goes through the steps upwards, side 1 downwards.
    Invariant of the last loop: least and most bound the codes of the steps passed so far, and
    `before` is their loss.
    """
    mask, base = scratch.mask, scratch.columns[BASE, j]
    edge_least, edge_most = scratch.edge_least, scratch.edge_most
    rows = scratch.columns[STEPPED, j] if space.kind[j] == ORDERED else scratch.columns[SIZE, j]
    for a in range(steps):
        edge_least[0, a] = edge_least[1, a] = space.domain[j]
        edge_most[0, a] = edge_most[1, a] = -1
    for row in range(base, base + rows):
        least, most = scratch.slots[LEAST, row], scratch.slots[MOST, row]
        # the first step with the mask row is where it joins the left side, the last one where it
        # leaves the right
        enters = np.int64(lowest_bit(mask[row, y]))
        leaves = 63 - np.int64(zeros_above(mask[row, y]))
        edge_least[0, enters] = min(edge_least[0, enters], least)
        edge_most[0, enters] = max(edge_most[0, enters], most)
        edge_least[1, leaves] = min(edge_least[1, leaves], least)
        edge_most[1, leaves] = max(edge_most[1, leaves], most)
    for side in range(2):
        least, most, before = space.domain[j], np.int64(-1), 0.0
        for turn in range(steps):
            a = turn if side == 0 else steps - 1 - turn
            if edge_least[side, a] < least or edge_most[side, a] > most:
                least = min(least, edge_least[side, a])
                most = max(most, edge_most[side, a])
                now = spread(space, j, least, most)
                scratch.growth[side, a] += now - before
                before = now


@njit(cache=True, error_model="numpy")
def weigh_cuts(y, records, loss, live, space, scratch):
    """Store the two best cuts of the y-th open column.

    The score of a cut is its saving over all columns and records times the root of the entropy of
    the two sides' sizes, as halves can be cut again. Below 3k records neither side can be cut, so
    only the saving counts.
    Invariant of the loop over cuts: left_loss and right_loss are the losses of one record on either
    side of the cut after step s, over all columns, and `a` values are before it.
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
        # the first value of each side costs nothing
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
    a = 0
    for s in range(steps - 1):
        left_loss += growth[0, s]
        right_loss -= growth[1, s]
        left = scratch.slots[UPTO, base + s]
        while a < scratch.columns[SIZE, j] and scratch.slots[STEP, base + a] == s:
            a += 1
        if left < space.k or records - left < space.k:
            continue
        saved = records * loss - left * left_loss - (records - left) * right_loss
        # the factor below is at most 1, so the saving bounds the score
        if saved <= score[1, j] + TIE:
            continue
        if records >= 3 * space.k:
            p = left / records
            saved *= np.sqrt(-(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p)))
        if saved > score[0, j] + TIE:
            score[1, j] = score[0, j]
            cut[1, j] = cut[0, j]
            score[0, j] = saved
            cut[0, j] = a
        elif saved > score[1, j] + TIE:
            score[1, j] = saved
            cut[1, j] = a


@njit(cache=True, error_model="numpy")
def find_cuts(codes, weight, low, high, records, space, scratch):
    """Localise a node and score its cuts. Returns the loss of one of its records.

    codes: (rows, columns). weight: (rows,) records of a row. The node is rows low … high − 1, with
    `records` records. scratch.score and scratch.cut get the two best cuts of each column.
    """
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

    Returns the middle and the records before it; the node must be localised. where: (rows,) the
    original index of each row, which is moved with the row.
    Invariant: rows low … a − 1 belong before the cut and have `left` records; rows b + 1 … high − 1
    belong after it.
    """
    rank, first = scratch.rank, space.first[j]
    a, b, left = low, high - 1, 0
    while True:
        # both ends move inwards past the rows that are on their side already
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
