# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: the boundary between nodes that suppress few enough records and nodes that do not.

Nodes are relative to a corner of the lattice, and numbered with the last attribute fastest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.lattice._class_counts import add_source, count_node, find_source
from shoal.support.compiling import njit

FEASIBLE, INFEASIBLE = 1, -1
ROUNDING = 1e-9  # of a cost


class Boundary(NamedTuple):
    """What is known about the nodes so far.

    levels: (attributes,) number of levels. states: (nodes,) FEASIBLE, INFEASIBLE, or 0 if unknown.
    order: (nodes,) all nodes, coarse ones first; at: (1,) how many of them are decided.
    counted: (3,) number of counted nodes, of feasible ones, and of minimal ones.
    found: (nodes,) the counted nodes that are feasible. minimal: (nodes,) the minimal ones.
    suppressed: (nodes,) suppressed records of each counted node that is feasible.
    costs: (nodes,) what the levels of each node cost; nodes whose levels cost more than `best` are
        left unknown. (0,) if none is.
    best: (1,) the least cost of a minimal node, at most, suppression included.
    records: of the table.
    node, lowest, below, place: (attributes,) scratch.
    lost: (0,) no losses are counted.
    """

    levels: Any
    states: Any
    order: Any
    at: Any
    counted: Any
    found: Any
    minimal: Any
    suppressed: Any
    costs: Any
    best: Any
    records: float
    node: Any
    lowest: Any
    below: Any
    place: Any
    lost: Any


@njit(cache=True, error_model="numpy", nogil=True)
def mark(boundary, node, state):
    """Mark the nodes above a feasible node, or those below an infeasible one.

    Invariant: `place` is the first node of the next run, in which the last attribute varies.
    """
    levels, place, last = boundary.levels, boundary.place, len(node) - 1
    # above: each level from that of the node to the highest; below: from 0 to that of the node
    up = state == FEASIBLE
    for j in range(last + 1):
        place[j] = node[j] if up else 0
    first, stop = (node[last], levels[last]) if up else (0, node[last] + 1)
    while True:
        # a run: the nodes that differ in the last attribute only
        index = np.int64(0)
        for j in range(last):
            index = (index + place[j]) * levels[j + 1]
        for i in range(index + first, index + stop):
            boundary.states[i] = state
        # the next run: count up like an odometer
        j = last - 1
        while j >= 0 and place[j] + 1 >= (levels[j] if up else node[j] + 1):
            place[j] = node[j] if up else 0
            j -= 1
        if j < 0:
            return
        place[j] += 1


@njit(cache=True, error_model="numpy", nogil=True)
def ask(levels, store, demand, boundary, node):
    """Return whether a node is feasible; if it was unknown, mark the nodes that it decides."""
    index = np.int64(0)
    for j in range(len(node)):
        index = index * boundary.levels[j] + node[j]
    state = boundary.states[index]
    if state == 0:
        source = find_source(store, node)
        rows, suppressed, _, complete = count_node(
            levels, store, demand, source, node, boundary.lost, 0
        )
        boundary.counted[0] += 1
        state = INFEASIBLE
        if suppressed <= demand.limit:
            state = FEASIBLE
            boundary.found[boundary.counted[1]] = index
            boundary.suppressed[index] = suppressed
            boundary.counted[1] += 1
        mark(boundary, node, state)
        if complete:
            below, lost = boundary.below, boundary.lost
            # all its classes were counted, so it is known whether the source is far too long for it
            add_source(levels, store, demand, source, node, rows, below, lost)
    return state == FEASIBLE


@njit(cache=True, error_model="numpy", nogil=True)
def end_chain(boundary, node):
    """List a minimal node, and lower `best` if the node costs less; it was counted.

    A suppressed record costs 1 in every attribute. That adds at most their share, or if attributes
    are averaged geometrically, multiplies 1 + cost by at most 1 + their share.
    """
    index = np.int64(0)
    for j in range(len(node)):
        index = index * boundary.levels[j] + node[j]
    boundary.minimal[boundary.counted[2]] = index
    boundary.counted[2] += 1
    if len(boundary.costs) > 0:
        lost = boundary.suppressed[index] / boundary.records
        most = (1.0 + boundary.costs[index]) * (1.0 + lost) - 1.0
        boundary.best[0] = min(boundary.best[0], most)


@njit(cache=True, error_model="numpy", nogil=True)
def find_boundary(levels, store, demand, boundary, until, a_call):
    """Decide all nodes, or stop if so many rows are read or no table can be stored.

    Each feasible node is lowered, one attribute at a time and by bisection, to a minimal one.
    Returns whether all nodes are decided, except those that cost too much.

    until: number of rows. a_call: rows that could be read in the time of counting a node.
    """
    node, lowest, priced = boundary.node, boundary.lowest, len(boundary.costs) > 0
    while boundary.at[0] < len(boundary.order):
        index = boundary.order[boundary.at[0]]
        costly = priced and boundary.costs[index] > boundary.best[0] + ROUNDING
        if boundary.states[index] == 0 and not costly:
            if store.reads[0] + a_call * boundary.counted[0] > until or store.refused[0]:
                return False
            # the levels are the digits of the index, last attribute first
            for j in range(len(node) - 1, -1, -1):
                node[j] = index % boundary.levels[j]
                index //= boundary.levels[j]
            if ask(levels, store, demand, boundary, node):
                for j in range(len(node)):
                    lowest[j] = node[j]
                for j in range(len(node)):
                    low, high = 0, node[j]
                    # invariant: the node is feasible at level `high` of attribute j and infeasible
                    # below `low`
                    while low < high:
                        lowest[j] = (low + high) // 2
                        if ask(levels, store, demand, boundary, lowest):
                            high = lowest[j]
                        else:
                            low = lowest[j] + 1
                    lowest[j] = high
                end_chain(boundary, lowest)
        boundary.at[0] += 1
    return True
