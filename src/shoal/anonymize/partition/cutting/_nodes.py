# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: one node of a Mondrian tree, with its values counted and in cut order.

A node is a range of rows. Ordered columns are sorted by value, nominal columns by descending
frequency, columns with a hierarchy by the branches below their common ancestor, by descending
frequency.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

NOMINAL, ORDERED, TREE = 0, 1, 2
STEPS = 64

# a sort key is a code minus a count in the higher bits: by descending count, then by code
CODE_BITS = 32
CODE_MASK = 2**CODE_BITS - 1

# rows of Scratch.slots, (6, values in the node)
VALUE, COUNT, STEP, LEAST, MOST, UPTO = range(6)
# rows of Scratch.columns, (6, columns)
SIZE, BASE, ACTIVE, STEPPED, CUTTABLE, PLACE = range(6)


class Space(NamedTuple):
    """The table: the cost of keeping values of a column together.

    unit: loss of one more value (nominal), of one position (ordered), of a whole tree.
    first: start of each column's codes in `position` and in Scratch.rank.
    tree_first, groups, cost: for a tree and each level, the group of each code and its cost.
    """

    k: int
    kind: Any
    domain: Any
    unit: Any
    first: Any
    position: Any
    tree_first: Any
    height: Any
    groups: Any
    cost: Any


class Scratch(NamedTuple):
    """Work space shared by all nodes; resetting it never takes time proportional to the domain.

    score, cut: (2, columns) the two best cuts of each column; a cut is a number of leading values.
    """

    rank: Any
    seen: Any
    slots: Any
    columns: Any
    mask: Any
    bit: Any
    edge: Any
    growth: Any
    score: Any
    cut: Any


def make_scratch(rows: int, domain: Any) -> Scratch:
    """Return work space for nodes with at most this many rows."""
    columns, total = len(domain), int(domain.sum())
    rooms = np.minimum(domain, rows)
    room = int(rooms.sum())
    per_column = np.zeros((6, columns), np.int64)
    per_column[BASE] = np.cumsum(rooms) - rooms
    return Scratch(
        np.zeros(total, np.int32),
        np.zeros(total, np.int64),
        np.zeros((6, room), np.int64),
        per_column,
        np.zeros((room, columns), np.uint64),
        np.zeros(columns, np.uint64),
        np.zeros((4, STEPS), np.int64),
        np.zeros((2, STEPS)),
        np.zeros((2, columns)),
        np.zeros((2, columns), np.int64),
    )


@njit(cache=True, error_model="numpy")
def spread(space, j, least, most):
    """Loss of one record of column j if its codes least and most stay together."""
    if space.kind[j] == ORDERED:
        first = space.first[j]
        return space.unit[j] * (space.position[first + most] - space.position[first + least])
    at = space.tree_first[j]
    for _ in range(space.height[j]):
        if space.groups[at + least] == space.groups[at + most]:
            break
        at += space.domain[j]
    return space.unit[j] * space.cost[at + least]


@njit(cache=True, error_model="numpy")
def sink(keys, low, root, size):
    """Sift a key down in the heap keys[low:low + size]."""
    key = keys[low + root]
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and keys[low + child + 1] > keys[low + child]:
            child += 1
        if keys[low + child] <= key:
            break
        keys[low + root] = keys[low + child]
        root = child
    keys[low + root] = key


@njit(cache=True, error_model="numpy")
def sort_keys(keys, low, high):
    """Sort keys[low:high] in place: by insertion while short, else by heap.

    numpy's sort would take longer to compile than the rest of the kernels.
    """
    if high - low > 48:
        for root in range((high - low) // 2 - 1, -1, -1):
            sink(keys, low, root, high - low)
        for size in range(high - low - 1, 0, -1):
            keys[low], keys[low + size] = keys[low + size], keys[low]
            sink(keys, low, 0, size)
        return
    for a in range(low + 1, high):
        key = keys[a]
        b = a - 1
        while b >= low and keys[b] > key:
            keys[b + 1] = keys[b]
            b -= 1
        keys[b + 1] = key


@njit(cache=True, error_model="numpy")
def order_column(j, space, scratch):
    """Sort the values of column j, in slots[VALUE], into cut order."""
    value, count, step = scratch.slots[VALUE], scratch.slots[COUNT], scratch.slots[STEP]
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    first, domain = space.first[j], space.domain[j]
    if space.kind[j] == NOMINAL:
        for a in range(base, base + size):
            value[a] -= scratch.seen[first + value[a]] << CODE_BITS
    sort_keys(value, base, base + size)
    if space.kind[j] == TREE:
        at = space.tree_first[j]
        while (
            space.groups[at + domain + value[base]]
            != space.groups[at + domain + value[base + size - 1]]
        ):
            at += domain
        a = base
        while a < base + size:  # one branch below the common ancestor after the other
            b, total = a, 0
            while b < base + size and space.groups[at + value[b]] == space.groups[at + value[a]]:
                total += scratch.seen[first + value[b]]
                b += 1
            for c in range(a, b):
                step[c] = total
            a = b
        for a in range(base, base + size):
            value[a] -= step[a] << CODE_BITS
        sort_keys(value, base, base + size)
    for a in range(base, base + size):
        value[a] &= CODE_MASK
        count[a] = scratch.seen[first + value[a]]
        scratch.rank[first + value[a]] = a - base + 1
    if space.kind[j] == TREE:
        branch, last = 0, space.groups[at + value[base]]
        for a in range(base, base + size):
            if space.groups[at + value[a]] != last and branch < STEPS - 1:
                branch += 1
            last = space.groups[at + value[a]]
            step[a] = branch


@njit(cache=True, error_model="numpy")
def tally(codes, weight, low, high, first, base, size, value, seen):
    """Count the values of every column in rows low … high − 1, and list them as they occur."""
    for j in range(codes.shape[1]):
        size[j] = 0
    for i in range(low, high):
        records = weight[i]
        for j in range(codes.shape[1]):
            at = first[j] + codes[i, j]
            before = seen[at]
            if before == 0:
                value[base[j] + size[j]] = codes[i, j]
                size[j] += 1
            seen[at] = before + records


@njit(cache=True, error_model="numpy")
def localise(codes, weight, low, high, space, scratch):
    """Find, count and order the values of every column in rows low … high − 1.

    Returns the number of columns with several values; columns[ACTIVE] lists them.
    """
    value, size = scratch.slots[VALUE], scratch.columns[SIZE]
    base, active = scratch.columns[BASE], scratch.columns[ACTIVE]
    tally(codes, weight, low, high, space.first, base, size, value, scratch.seen)
    live = 0
    for j in range(codes.shape[1]):
        if size[j] > 1:
            order_column(j, space, scratch)
            active[live] = j
            live += 1
        else:
            scratch.rank[space.first[j] + value[base[j]]] = 1
        for a in range(base[j], base[j] + size[j]):
            scratch.seen[space.first[j] + value[a]] = 0
    return live


@njit(cache=True, error_model="numpy")
def rows_loss(codes, low, high, space, seen):
    """Loss of one record of rows low … high − 1, over all columns, without localising them."""
    loss = 0.0
    for j in range(codes.shape[1]):
        first = space.first[j]
        least = most = np.int64(codes[low, j])
        if space.kind[j] != NOMINAL:
            for i in range(low + 1, high):
                least = min(least, np.int64(codes[i, j]))
                most = max(most, np.int64(codes[i, j]))
            if least < most:
                loss += spread(space, j, least, most)
            continue
        others = -1
        for i in range(low, high):
            others += seen[first + codes[i, j]] == 0
            seen[first + codes[i, j]] = 1
        for i in range(low, high):
            seen[first + codes[i, j]] = 0
        loss += space.unit[j] * others
    return loss


@njit(cache=True, error_model="numpy")
def forget(space, scratch):
    """Clear the entries of rank that `localise` set."""
    for j in range(len(space.kind)):
        base, first = scratch.columns[BASE, j], space.first[j]
        for a in range(base, base + scratch.columns[SIZE, j]):
            scratch.rank[first + scratch.slots[VALUE, a]] = 0


@njit(cache=True, error_model="numpy")
def column_loss(j, space, scratch):
    """Loss of one record in column j of the localised node."""
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    if space.kind[j] == NOMINAL:
        return space.unit[j] * (size - 1)
    least, most = space.domain[j], np.int64(-1)
    for a in range(base, base + size):
        least = min(least, scratch.slots[VALUE, a])
        most = max(most, scratch.slots[VALUE, a])
    return spread(space, j, least, most)
