"""The nodes whose small classes hold few enough records, without counting the classes of each.

A node above a feasible node is feasible, and a node below an infeasible one is infeasible. So it is
enough to find the boundary: each feasible node is lowered, one attribute at a time and by
bisection, to a minimal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.lattice.node_counts import NodeCounts, sweep_reads
from shoal.support.arrays import Bools
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice, Node

_READS_OF_CALL = 400  # rows that could be read in the time of counting a node
_LEAST_SWEEP = 2_000_000  # rows; a sweep that reads fewer is always used
_TRIAL = 0.1  # share of the rows of a sweep after which chains must have decided enough nodes
_DECIDED = 0.3  # share of all nodes
_MOST = 0.8  # share of the rows of a sweep after which chains give up
_STEP = 10_000_000  # rows between two reports of progress


@dataclass(frozen=True, eq=False)
class Feasible:
    """The feasible nodes of a lattice.

    suppressed: the records that are suppressed at counted nodes. counted: number of counted nodes,
        with those that are not feasible.
    """

    nodes: Bools
    suppressed: dict[Node, int]
    counted: int


def find_feasible(lattice: Lattice, corner: Node, k: int, limit: int) -> Feasible | None:
    """Return the nodes above a corner that suppress no more records than the limit.

    Returns None if a sweep of the lattice is likely to be cheaper: if there are many minimal nodes,
    few nodes are decided early on. Also if people are in several tuples.
    """
    from shoal.anonymize.lattice._boundary import FEASIBLE

    shape = tuple(size - least for size, least in zip(lattice.shape, corner, strict=True))
    if sweep_reads(len(lattice.tuples().table), prod(shape)) < _LEAST_SWEEP:
        return None
    counts = NodeCounts(lattice, corner, k, limit)
    if not counts.additive:
        return None
    sweep = sweep_reads(counts.rows, prod(shape))
    if sweep < _LEAST_SWEEP:
        return None
    boundary = unknown_boundary(shape)
    if not search_boundary(counts, boundary, int(_TRIAL * sweep)):
        if np.count_nonzero(boundary.states) < _DECIDED * len(boundary.states):
            return None
        if not search_boundary(counts, boundary, int(_MOST * sweep)):
            return None
    nodes = np.zeros(lattice.shape, dtype=np.bool_)
    above = tuple(slice(least, None) for least in corner)
    nodes[above] = (boundary.states == FEASIBLE).reshape(shape)
    asked, feasible = boundary.counted.tolist()
    found = np.stack(np.unravel_index(boundary.found[:feasible], shape), axis=1) + corner
    suppressed = dict(
        zip(map(tuple, found.tolist()), boundary.suppressed[:feasible].tolist(), strict=True)
    )
    return Feasible(nodes, suppressed, asked)


def unknown_boundary(shape: tuple[int, ...]) -> Any:
    """Return a boundary of which nothing is known."""
    from shoal.anonymize.lattice._boundary import Boundary

    nodes, attributes = prod(shape), len(shape)
    heights = np.zeros(shape, dtype=np.int32)
    for axis, levels in enumerate(shape):
        heights += np.arange(levels).reshape([-1 if a == axis else 1 for a in range(attributes)])
    return Boundary(
        np.array(shape, np.int64),
        np.zeros(nodes, np.int8),
        np.argsort(-heights, axis=None, kind="stable"),
        np.zeros(1, np.int64),
        np.zeros(2, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int64),
        np.zeros(0),
    )


def search_boundary(counts: NodeCounts, boundary: Any, until: int) -> bool:
    """Search until so many rows are read; returns whether all nodes are decided."""
    from shoal.anonymize.lattice._boundary import find_boundary

    store = counts.store
    while True:
        spent = int(store.reads[0]) + _READS_OF_CALL * int(boundary.counted[0])
        stop = min(until, spent + _STEP)
        if find_boundary(counts.levels, store, counts.demand, boundary, stop, _READS_OF_CALL):
            return True
        report("search", int(boundary.counted[0]), None)
        if store.refused[0]:
            counts.make_room()
        elif stop >= until:
            return False
