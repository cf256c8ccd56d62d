# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: growing a whole Mondrian tree from the cuts of its nodes, and cutting nodes for Python.

    grow             one node after the other, depth first, until no node can be cut
    look_ahead       in small nodes: the best few cuts, each carried on to the end
    list_cuts, divide_nodes      the same step by step, for models that are checked in between
    divide_records   classes that no cut by value divides, record by record

A tree is a permutation of rows: the rows of a node are consecutive, and a cut swaps them in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._cuts import TIE, best_cut, divide, find_cuts
from shoal.methods.partition._nodes import SIZE, column_loss, forget, localise, rows_loss
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def push(stack, depth, low, high, records):
    """Write a node to the stack at a depth; see Rows.stack."""
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = low, high, records


class Rows(NamedTuple):
    """Rows in the order of the current tree, with a stack of the nodes to cut.

    codes: (rows, columns); weight: (rows,) records of a row; where: (rows,) its original index.
    stack: (rows + 2, 3) first row, end and records of each node that is not yet cut.
    expected: (rows + 2,) by index on the stack, the loss of the node if it is cut greedily to the
        end, −1 if unknown.
    """

    codes: Any
    weight: Any
    where: Any
    stack: Any
    expected: Any


def make_rows(codes: Any, weight: Any) -> Rows:
    """Return a copy of the rows to work on."""
    count = len(weight)
    where = np.arange(count, dtype=np.int32)
    stack = np.empty((count + 2, 3), np.int64)
    return Rows(codes.copy(), weight.copy(), where, stack, np.full(count + 2, -1.0))


@njit(cache=True, error_model="numpy")
def copy_rows(rows, low, high, spare):
    """Copy rows low … high − 1 to the front of the spare ones, without their original indices."""
    for i in range(low, high):
        for j in range(rows.codes.shape[1]):
            spare.codes[i - low, j] = rows.codes[i, j]
        spare.weight[i - low] = rows.weight[i]


@njit(cache=True, error_model="numpy")
def divide_node(rows, low, high, column, place, space, scratch):
    """Divide a localised node and clear it; returns its middle and the records before it."""
    middle, left = divide(
        rows.codes, rows.weight, rows.where, low, high, column, place, space, scratch
    )
    forget(space, scratch)
    return middle, left


@njit(cache=True, error_model="numpy")
def cut_node(rows, low, high, column, place, space, scratch):
    """Localise and divide a node; returns its middle and the records before it."""
    localise(rows.codes, rows.weight, low, high, space, scratch)
    return divide_node(rows, low, high, column, place, space, scratch)


@njit(cache=True, error_model="numpy")
def carry_on(rows, low, high, records, bound, space, scratch):
    """Cut a node greedily to the end and return its loss, or infinity if it reaches the bound.

    Invariant: `total` is the loss of the finished part; the nodes at stack[0:depth] are the rest.
    """
    total, depth = 0.0, 1
    push(rows.stack, np.int64(0), low, high, records)
    while depth > 0:
        depth -= 1
        a, b, n = rows.stack[depth, 0], rows.stack[depth, 1], rows.stack[depth, 2]
        best = -1
        if n < 2 * space.k or b - a < 2:
            loss = rows_loss(rows.codes, a, b, space, scratch.seen)
        else:
            loss = find_cuts(rows.codes, rows.weight, a, b, n, space, scratch)
            _, best = best_cut(scratch.score, scratch.cut)
        if best < 0:
            if n >= 2 * space.k and b - a > 1:
                forget(space, scratch)
            total += n * loss
            if total >= bound:
                # losses only add up, so the rest cannot repair this
                return np.inf
            continue
        middle, left = divide_node(rows, a, b, best, scratch.cut[0, best], space, scratch)
        push(rows.stack, depth, middle, b, n - left)
        push(rows.stack, depth + 1, a, middle, left)
        depth += 2
    return total


@njit(cache=True, error_model="numpy", allocates=True)
def look_ahead(rows, node, low, high, records, tries, chosen, known, spare, space, scratch):
    """Evaluate the best few cuts of a node to the end; `chosen` gets the one that loses least.

    The node is localised with its cuts in scratch, and is no longer localised after the call.
    node: its index on the stack. tries: number of cuts. spare: Rows to work on.
    chosen: (2,) column and number of leading values; at first the best cut.
    known: (2,) losses of both sides of the chosen cut if they were computed, otherwise unchanged.
    Invariant: `least` is the loss of the chosen cut, negative until it is known.
    """
    score, cut = scratch.score.copy(), scratch.cut.copy()
    forget(space, scratch)
    least, begin = rows.expected[node], np.int64(0)
    for attempt in range(tries):
        rank, column = best_cut(score, cut)
        if column < 0:
            return
        place = cut[rank, column]
        cut[rank, column] = 0
        # the best cut is what an earlier look-ahead did here, so its loss is known
        if attempt == 0 and least >= 0:
            continue
        copy_rows(rows, low, high, spare)
        bound = least - TIE if attempt > 0 else np.inf
        middle, left = cut_node(spare, begin, high - low, column, place, space, scratch)
        # a cut that loses as much as the best one so far is given up on the way
        first = carry_on(spare, begin, middle, left, bound, space, scratch)
        if first >= bound:
            continue
        second = carry_on(spare, middle, high - low, records - left, bound - first, space, scratch)
        if attempt == 0 or first + second < bound:
            least = first + second
            chosen[0], chosen[1] = column, place
            known[0], known[1] = first, second


@njit(cache=True, error_model="numpy", allocates=True)
def grow(rows, ids, spare, space, scratch, reach, tries, tree, budget):
    """Cut the nodes on the stack and write the class of every finished row into ids.

    ids: (rows,) by original index. spare: Rows for `look_ahead`.
    reach: nodes of 3k to reach · k records choose among their `tries` best cuts by evaluating each
        to the end; other nodes take the best cut directly.
    tree: (3,) nodes on the stack, classes created, rows finished; updated on return.
    budget: return after this many rows, so that progress can be reported.
    Invariant: every row is in a node of stack[0:depth] or has its class in ids, of which there are
    `classes`.
    """
    known, chosen = np.empty(2), np.zeros(2, np.int64)
    depth, classes, finished = tree[0], tree[1], tree[2]
    while depth > 0 and finished < tree[2] + budget:
        depth -= 1
        low, high = rows.stack[depth, 0], rows.stack[depth, 1]
        records, column = rows.stack[depth, 2], -1
        if records >= 2 * space.k and high - low > 1:
            find_cuts(rows.codes, rows.weight, low, high, records, space, scratch)
            _, column = best_cut(scratch.score, scratch.cut)
            if column < 0:
                forget(space, scratch)
        if column < 0:
            for i in range(low, high):
                ids[rows.where[i]] = classes
            classes += 1
            finished += high - low
            continue
        chosen[0], chosen[1] = column, scratch.cut[0, column]
        known[0] = known[1] = -1.0
        if 3 * space.k <= records < reach * space.k:
            look_ahead(rows, depth, low, high, records, tries, chosen, known, spare, space, scratch)
            # looking ahead has cleared the node from the scratch
            localise(rows.codes, rows.weight, low, high, space, scratch)
        middle, left = divide_node(rows, low, high, chosen[0], chosen[1], space, scratch)
        # the left side is on top of the stack, so classes are numbered from left to right
        push(rows.stack, depth, middle, high, records - left)
        push(rows.stack, depth + 1, low, middle, left)
        rows.expected[depth], rows.expected[depth + 1] = known[1], known[0]
        depth += 2
    tree[0], tree[1], tree[2] = depth, classes, finished


@njit(cache=True, error_model="numpy")
def list_cuts(rows, bounds, space, scratch, columns, places):
    """Store the cuts of each node, best first, −1 after the last.

    bounds: (nodes, 3 or more) first row, end and records of each node.
    columns, places: (nodes, 2 · columns) column and number of leading values of each cut.
    """
    width = rows.codes.shape[1]
    for node in range(len(bounds)):
        for rank in range(2 * width):
            columns[node, rank] = -1
        low, high, records = bounds[node, 0], bounds[node, 1], bounds[node, 2]
        if records < 2 * space.k or high - low < 2:
            continue
        find_cuts(rows.codes, rows.weight, low, high, records, space, scratch)
        forget(space, scratch)
        for rank in range(2 * width):
            which, best = best_cut(scratch.score, scratch.cut)
            if best < 0:
                break
            columns[node, rank] = best
            places[node, rank] = scratch.cut[which, best]
            scratch.cut[which, best] = 0


@njit(cache=True, error_model="numpy")
def divide_nodes(rows, bounds, column, place, space, scratch):
    """Divide each node by its column and number of leading values.

    bounds: (nodes, 5) first row, end, records; receives the middle and the records before it.
    column, place: (nodes,) the cut of each node.
    """
    for node in range(len(bounds)):
        bounds[node, 3], bounds[node, 4] = cut_node(
            rows, bounds[node, 0], bounds[node, 1], column[node], place[node], space, scratch
        )


@njit(cache=True, error_model="numpy")
def order_rows(codes, rows, low, high, j, space, scratch, count, ordered):
    """Write rows low … high − 1 into `ordered` by column j's cut order, with a stable sort.

    codes: (rows of the table, columns). rows: (rows,) indices in codes, node after node.
    count: scratch with room for a column's values + 1; at first, count[rank] is the number of rows
    of a rank (from 1), then count[rank − 1] is where the next row of the rank is written.
    ordered: (rows of a node,) receives the result from its start.
    """
    first, size = space.first[j], scratch.columns[SIZE, j]
    for a in range(size + 1):
        count[a] = 0
    for i in range(low, high):
        count[scratch.rank[first + codes[rows[i], j]]] += 1
    for a in range(size):
        count[a + 1] += count[a]
    for i in range(low, high):
        rank = scratch.rank[first + codes[rows[i], j]] - 1
        ordered[count[rank]] = rows[i]
        count[rank] += 1


@njit(cache=True, error_model="numpy")
def pick(codes, rows, low, high, picked):
    """Write the codes of rows[low:high] one after the other."""
    for i in range(low, high):
        for j in range(codes.shape[1]):
            picked[i - low, j] = codes[rows[i], j]


@njit(cache=True, error_model="numpy", allocates=True)
def divide_records(codes, rows, bounds, space, scratch, count, ordered, picked, best):
    """Divide each node where it saves most: k records from either end of a column's order.

    codes: (rows of the table, columns). rows: (rows,) indices in codes, node after node.
    bounds: (nodes, 4 or more) first row and end of each node; bounds[i, 3] gets the middle, or the
        node's end if nothing is saved.
    best: (rows,) receives the rearranged rows.
    count, ordered: scratch of `order_rows`. picked: (rows of a node, columns) scratch for codes.
    Invariant: `most` is the largest saving of the cuts tried so far, and best[low:high] and
    bounds[node, 3] describe that cut.
    """
    begin = np.int64(0)
    for node in range(len(bounds)):
        low, high = bounds[node, 0], bounds[node, 1]
        records, most, loss = high - low, TIE, 0.0
        bounds[node, 3] = high
        pick(codes, rows, low, high, picked)
        localise(picked, np.ones(records, np.int64), begin, records, space, scratch)
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] > 1:
                loss += column_loss(j, space, scratch)
        for i in range(low, high):
            best[i] = rows[i]
        for j in range(codes.shape[1]):
            if scratch.columns[SIZE, j] < 2:
                continue
            order_rows(codes, rows, low, high, j, space, scratch, count, ordered)
            pick(codes, ordered, begin, records, picked)
            for end in range(2):
                # k records from the low end of the order, then k from its high end
                left = space.k if end == 0 else records - space.k
                kept = left * rows_loss(picked, begin, left, space, scratch.seen)
                kept += (records - left) * rows_loss(picked, left, records, space, scratch.seen)
                if records * loss - kept > most:
                    most = records * loss - kept
                    bounds[node, 3] = low + left
                    for i in range(records):
                        best[low + i] = ordered[i]
        forget(space, scratch)
