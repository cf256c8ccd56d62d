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
from shoal.support.arrays import Bools, Counts, Floats
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

    shape = _shape_above(lattice, corner)
    counts = _counts_for_chains(lattice, corner, k, limit)
    if counts is None:
        return None
    sweep = sweep_reads(counts.rows, prod(shape))
    boundary = unknown_boundary(shape)
    if not search_boundary(counts, boundary, int(_TRIAL * sweep)):
        if np.count_nonzero(boundary.states) < _DECIDED * len(boundary.states):
            return None
        if not search_boundary(counts, boundary, int(_MOST * sweep)):
            return None
    nodes = np.zeros(lattice.shape, dtype=np.bool_)
    above = tuple(slice(least, None) for least in corner)
    nodes[above] = (boundary.states == FEASIBLE).reshape(shape)
    asked, feasible, _ = boundary.counted.tolist()
    found = boundary.found[:feasible]
    return Feasible(nodes, _suppressed(boundary, found, shape, corner), asked)


def find_cheap_minimal(
    lattice: Lattice, corner: Node, k: int, limit: int, costs: Floats
) -> tuple[dict[Node, int], int] | None:
    """Return minimal nodes with their suppressed records, and the number of counted nodes.

    The cheapest ones are among them: nodes whose levels alone cost more than the best minimal node
    are not counted. Returns None if a sweep of the lattice is likely to be cheaper, or if people
    are in several tuples.

    costs: what the levels of each node of the lattice cost, 0 to 1, more for higher levels; a
        suppressed record costs 1.
    """
    counts = _counts_for_chains(lattice, corner, k, limit)
    if counts is None:
        return None
    shape = _shape_above(lattice, corner)
    above = costs[tuple(slice(least, None) for least in corner)]
    boundary = unknown_boundary(shape, above.ravel(), lattice.table.records)
    if not search_boundary(counts, boundary, int(_MOST * sweep_reads(counts.rows, prod(shape)))):
        return None
    asked, _, minimal = boundary.counted.tolist()
    return _suppressed(boundary, boundary.minimal[:minimal], shape, corner), asked


def _shape_above(lattice: Lattice, corner: Node) -> tuple[int, ...]:
    return tuple(size - least for size, least in zip(lattice.shape, corner, strict=True))


def _counts_for_chains(lattice: Lattice, corner: Node, k: int, limit: int) -> NodeCounts | None:
    """Return the counts of a lattice, None if it is small or people are in several tuples."""
    nodes = prod(_shape_above(lattice, corner))
    if sweep_reads(len(lattice.tuples().table), nodes) < _LEAST_SWEEP:
        return None
    counts = NodeCounts(lattice, corner, k, limit)
    if not counts.additive or sweep_reads(counts.rows, nodes) < _LEAST_SWEEP:
        return None
    return counts


def _suppressed(
    boundary: Any, found: Counts, shape: tuple[int, ...], corner: Node
) -> dict[Node, int]:
    """Return the suppressed records of counted nodes."""
    nodes = np.stack(np.unravel_index(found, shape), axis=1) + corner
    return dict(zip(map(tuple, nodes.tolist()), boundary.suppressed[found].tolist(), strict=True))


def unknown_boundary(shape: tuple[int, ...], costs: Floats | None = None, records: int = 0) -> Any:
    """Return a boundary of which nothing is known; costs: (nodes,) of the levels, if they count."""
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
        np.zeros(3, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(0) if costs is None else np.ascontiguousarray(costs),
        np.full(1, np.inf),
        float(max(records, 1)),
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
