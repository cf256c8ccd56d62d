"""The nodes whose small classes hold few enough records, without counting the classes of each.

A node above a feasible node is feasible, and a node below an infeasible one is infeasible. So it is
enough to find the boundary: each feasible node is lowered, one attribute at a time and by
bisection, to a minimal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymize.lattice.node_counts import NodeCounts, sweep_reads
from shoal.support.arrays import Bools
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice, Node

_FEASIBLE, _INFEASIBLE = 1, -1
_READS_OF_CALL = 4_000  # rows that could be read in the time of one call
_LEAST_SWEEP = 2_000_000  # rows; a sweep that reads fewer is always used
_TRIAL = 0.05  # share of the rows of a sweep after which chains must have decided enough nodes
_DECIDED = 0.3  # share of all nodes
_MOST = 0.5  # share of the rows of a sweep after which chains give up


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
    counts = NodeCounts(lattice, corner, k, limit)
    if not counts.additive:
        return None
    shape = tuple(size - least for size, least in zip(lattice.shape, corner, strict=True))
    sweep, on_trial = sweep_reads(counts.rows, prod(shape)), True
    if sweep < _LEAST_SWEEP:
        return None
    boundary = _Boundary(counts, shape)
    for index in _from_the_top(shape):
        if boundary.states.flat[index]:
            continue
        if on_trial and boundary.cost > _TRIAL * sweep:
            on_trial = False
            if np.count_nonzero(boundary.states) < _DECIDED * boundary.states.size:
                return None
        if boundary.cost > _MOST * sweep:
            return None
        node = tuple(int(level) for level in np.unravel_index(index, shape))
        if boundary.ask(node):
            boundary.sink(node)
        report("search", boundary.counted, None)
    nodes = np.zeros(lattice.shape, dtype=np.bool_)
    nodes[tuple(slice(least, None) for least in corner)] = boundary.states == _FEASIBLE
    suppressed = {
        tuple(level + least for level, least in zip(node, corner, strict=True)): records
        for node, records in boundary.suppressed.items()
    }
    return Feasible(nodes, suppressed, boundary.counted)


def _from_the_top(shape: tuple[int, ...]) -> list[int]:
    """Return the places of all nodes, coarse ones first."""
    heights = np.zeros(shape, dtype=np.int32)
    for axis, levels in enumerate(shape):
        heights += np.arange(levels).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    order: list[int] = np.argsort(-heights, axis=None, kind="stable").tolist()
    return order


class _Boundary:
    """What is known about the nodes so far, relative to the corner.

    states: whether each node is feasible, infeasible, or unknown (0).
    suppressed: records in small classes of each counted node that is feasible.
    counted: number of counted nodes.
    """

    def __init__(self, counts: NodeCounts, shape: tuple[int, ...]) -> None:
        self._counts = counts
        self.states = np.zeros(shape, dtype=np.int8)
        self.suppressed: dict[Node, int] = {}
        self.counted = 0

    @property
    def cost(self) -> int:
        """Rows read so far, with the time of calls as rows."""
        return self._counts.reads + _READS_OF_CALL * self.counted

    def ask(self, node: Node) -> bool:
        """Return whether a node is feasible; if it was unknown, mark the nodes that it decides."""
        state = self.states[node]
        if not state:
            suppressed = self._counts.suppressed(np.array(node, np.int16), keep=True)
            self.counted += 1
            if suppressed <= self._counts.limit:
                state, self.suppressed[node] = _FEASIBLE, suppressed
                self.states[tuple(slice(level, None) for level in node)] = state
            else:
                state = _INFEASIBLE
                self.states[tuple(slice(0, level + 1) for level in node)] = state
        return bool(state == _FEASIBLE)

    def sink(self, node: Node) -> None:
        """Lower a feasible node as far as it stays feasible, one attribute at a time."""
        lowest = list(node)
        for j, level in enumerate(node):
            low, high = 0, level
            while low < high:
                lowest[j] = (low + high) // 2
                low, high = (low, lowest[j]) if self.ask(tuple(lowest)) else (lowest[j] + 1, high)
            lowest[j] = high
