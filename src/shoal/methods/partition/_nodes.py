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

# rows of Scratch.slots and Scratch.columns; twelve separate arrays would make Mondrian 20 % slower,
# because numba passes each array of a NamedTuple as seven arguments or more
VALUE, COUNT, STEP, LEAST, MOST, UPTO = range(6)
SIZE, BASE, ACTIVE, STEPPED, CUTTABLE, SLOT = range(6)


class Space(NamedTuple):
    """The table: the cost of keeping values of a column together.

    k: least number of records of a class.
    kind: (columns,) NOMINAL, ORDERED or TREE.
    domain: (columns,) number of codes.
    unit: (columns,) loss of one more value (nominal), of one position (ordered), of a whole tree.
    first: (columns,) start of each column's codes in `position`, Scratch.rank and Scratch.seen.
    position: (codes of all columns,) position of each code of an ordered column.
    tree_first: (columns,) start of each tree in `groups` and `cost`: level after level, `domain`
        entries per level, level 0 first.
    height: (columns,) number of levels above level 0.
    groups: for each level and code, the group that contains the code.
    cost: for each level and code, the loss of that group as a share of `unit`.
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

    Indexed by code, (codes of all columns,), column j from space.first[j]:
        rank: position of the code in the cut order of its column, from 1; 0 outside the node.
        seen: records with the code while a node is counted; 0 between calls.
    slots: (6, slots) column j has min(domain, rows) slots from BASE, of which the first SIZE are in
    use, in cut order:
        VALUE: the code; COUNT: its records.
        STEP: the step that the value belongs to, from 0 and ascending.
        UPTO: at BASE + s, the records up to the end of step s.
        LEAST, MOST: least and greatest code of a mask row.
    columns: (6, columns):
        SIZE: number of values in the node; BASE: first slot.
        ACTIVE: the columns with several values, one after the other.
        STEPPED: number of steps.
        CUTTABLE: indices in ACTIVE of the open columns, in which a cut leaves k on both sides.
        SLOT: by index in ACTIVE, the slot of the current row's value.
    For scoring:
        mask: (slots, columns) by mask row and open column, the steps in which the row occurs.
        bit: (columns,) by open column, the step of the current row as a bit.
        edge_least, edge_most: (2, STEPS) for cuts from the left and from the right, the least and
            greatest code that enters at each step.
        growth: (2, STEPS) increase of the loss at each step, from the left and from the right.
        score, cut: (2, columns) the two best cuts of each column, best first; a cut is a number of
            leading values, 0 for none.
    """

    rank: Any
    seen: Any
    slots: Any
    columns: Any
    mask: Any
    bit: Any
    edge_least: Any
    edge_most: Any
    growth: Any
    score: Any
    cut: Any


def make_scratch(rows: int, domain: Any) -> Scratch:
    """Return work space for nodes with at most this many rows."""
    columns, total = len(domain), int(domain.sum())
    rooms = np.minimum(domain, rows)
    slots = int(rooms.sum())
    per_column = np.zeros((6, columns), np.int64)
    per_column[BASE] = np.cumsum(rooms) - rooms
    return Scratch(
        rank=np.zeros(total, np.int32),
        seen=np.zeros(total, np.int64),
        slots=np.zeros((6, slots), np.int64),
        columns=per_column,
        mask=np.zeros((slots, columns), np.uint64),
        bit=np.zeros(columns, np.uint64),
        edge_least=np.zeros((2, STEPS), np.int64),
        edge_most=np.zeros((2, STEPS), np.int64),
        growth=np.zeros((2, STEPS)),
        score=np.zeros((2, columns)),
        cut=np.zeros((2, columns), np.int64),
    )


@njit(cache=True, error_model="numpy")
def spread(space, j, least, most):
    """Return the loss of one record in column j if codes `least` and `most` stay together.

    Codes of a tree are numbered so that every group is a range: if the least and the greatest code
    share a group, so do all codes between them.
    Invariant for a tree: at every level before the one at `at`, the two are in different groups.
    """
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
    # invariant: `root` is a hole; both its subtrees are heaps
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
        # invariant: keys[low + size + 1:high] are sorted, and no key before them is greater
        for size in range(high - low - 1, 0, -1):
            keys[low], keys[low + size] = keys[low + size], keys[low]
            sink(keys, low, 0, size)
        return
    for a in range(low + 1, high):  # invariant: keys[low:a] are sorted
        key = keys[a]
        b = a - 1
        while b >= low and keys[b] > key:
            keys[b + 1] = keys[b]
            b -= 1
        keys[b + 1] = key


@njit(cache=True, error_model="numpy")
def order_column(j, space, scratch):
    """Sort the values of column j into cut order; fill value, count, rank and a tree's step.

    Before: slots[VALUE] lists the codes in any order, scratch.seen counts their records. While
    values are sorted, the negative count of the value, or of its branch, is in the bits of `value`
    above CODE_BITS, and `step` of a tree holds the records of the branch.
    """
    value, count, step = scratch.slots[VALUE], scratch.slots[COUNT], scratch.slots[STEP]
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    first, domain = space.first[j], space.domain[j]
    if space.kind[j] == NOMINAL:
        for a in range(base, base + size):
            # descending count, then code: see CODE_BITS
            value[a] -= scratch.seen[first + value[a]] << CODE_BITS
    sort_keys(value, base, base + size)
    if space.kind[j] == TREE:
        at = space.tree_first[j]
        # invariant: at the level at `at`, the values are in several groups
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
    """Count the values of every column in rows low … high − 1, and list them as they occur.

    codes: (rows, columns). weight: (rows,) records of a row. The other arrays are those of Space
    and Scratch.
    Invariant: value[base[j]:base[j] + size[j]] are the codes of column j in rows low … i − 1, and
    seen has their records; every other entry of seen is 0.
    """
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

    Returns the number of columns with several values; columns[ACTIVE] lists them. After the call,
    scratch.seen is 0 again, and scratch.rank is set for the node's values until `forget`.
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
    """Return the loss of one record of rows low … high − 1 over all columns, without localising.

    seen: Scratch.seen, used as a set of the codes met so far, and 0 again after the call.
    """
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
            # each further value once; the first one makes it 0
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
    """Return the loss of one record in column j of the localised node."""
    base, size = scratch.columns[BASE, j], scratch.columns[SIZE, j]
    if space.kind[j] == NOMINAL:
        return space.unit[j] * (size - 1)
    least, most = space.domain[j], np.int64(-1)
    for a in range(base, base + size):
        least = min(least, scratch.slots[VALUE, a])
        most = max(most, scratch.slots[VALUE, a])
    return spread(space, j, least, most)
