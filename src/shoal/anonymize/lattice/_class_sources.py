# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: which tables of classes are stored, and which one a node is counted from.

Layouts are those of `_class_moves.py`.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymize.lattice._class_counts import count_node
from shoal.support.compiling import njit

STORED = 0.6  # a table is stored if it has at most this share of the rows of its source
SHORT = 0.15  # a source is too long if a node has less than this share of its rows
GROWTH = 0.7  # share of the rows of a source that a table made from it may have
ROOM = 0.5  # share of the room for stored tables that one of them may take
OWED = 3  # a table is made when a source was read so many times for nodes that are much shorter


@njit(cache=True, error_model="numpy", nogil=True)
def find_source(store, node):
    """Return the shortest stored table whose node is not above this one in any attribute."""
    for i in range(store.tables[0]):
        table = store.by_rows[i]
        fits = True
        for j in range(len(node)):
            if store.node[table, j] > node[j]:
                fits = False
                break
        if fits:
            return table
    return -1


@njit(cache=True, error_model="numpy", nogil=True)
def keep_table(store, node, rows, words):
    """Store the classes of the node that was counted last, if there is room."""
    table = store.tables[0]
    first_key = first = np.int64(0)
    for i in range(table):
        first_key = max(first_key, store.first_key[i] + store.rows[i] * store.words[i])
        first = max(first, store.first[i] + store.rows[i])
    if (
        table == len(store.rows)
        or first_key + rows * words > len(store.keys)
        or first + rows > len(store.counts)
    ):
        store.refused[0] += 1
        return
    for i in range(rows * words):
        store.keys[first_key + i] = store.to_keys[i]
    for i in range(rows):
        store.counts[first + i] = store.to_counts[i]
    for j in range(len(node)):
        store.node[table, j] = node[j]
    store.first_key[table], store.first[table] = first_key, first
    store.rows[table], store.words[table], store.used[table] = rows, words, store.clock[0]
    store.debt[table] = 0
    at = table
    while at > 0 and store.rows[store.by_rows[at - 1]] > rows:
        store.by_rows[at] = store.by_rows[at - 1]
        at -= 1
    store.by_rows[at] = table
    store.tables[0] = table + 1


@njit(cache=True, error_model="numpy", nogil=True)
def lower(levels, node, growth, to):
    """Write a node below another one that has at most about `growth` times as many classes.

    The level that adds the least entropy is lowered first, so that as many as possible are lower.
    """
    for j in range(len(node)):
        to[j] = node[j]
    left = np.log(growth)
    while True:
        best, least = -1, left
        for j in range(len(node)):
            if to[j] > 0:
                more = levels.entropy[j, to[j] - 1] - levels.entropy[j, to[j]]
                if more <= least:
                    best, least = j, more
        if best < 0:
            return
        to[best] -= 1
        left -= least


@njit(cache=True, error_model="numpy", nogil=True)
def add_source(levels, store, demand, source, node, rows, below, lost):
    """Store a table between a source and a node with few rows, if the source is read too often.

    Returns the suppressed records of the new table's node, or a number above the limit.

    rows: number of classes of the node. below: set to the node of the new table. lost: as for
        `count_node`, for that node.
    """
    if rows >= SHORT * store.rows[source]:
        return demand.limit + 1
    store.debt[source] += 1
    if store.debt[source] < OWED:
        return demand.limit + 1
    store.debt[source] = 0
    room = ROOM * (len(store.counts) - store.rows[0])
    growth = min(GROWTH * store.rows[source], room) / max(rows, 1)
    if growth <= 1.0:
        return demand.limit + 1
    lower(levels, node, growth, below)
    for j in range(len(node)):
        below[j] = max(below[j], store.node[source, j])
    wanted = np.int64(min(STORED * store.rows[source], room))
    made, suppressed, words, complete = count_node(
        levels, store, demand, source, below, lost, wanted
    )
    if complete and made <= wanted:
        keep_table(store, below, made, words)
    return suppressed
