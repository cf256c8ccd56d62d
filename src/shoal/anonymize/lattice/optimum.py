"""The node with the least cost: by branch and bound, or by a sweep of the lattice.

Branch and bound needs a cost that rises with the levels, and class sizes that add up. The sweep
measures every node, and evaluates nodes in the order of a lower bound until none can be better.
Both choose the first node, in the order of levels, among those of equal cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from shoal.anonymize.lattice.branch_and_bound import BoxSearch
from shoal.anonymize.lattice.lattice import Node
from shoal.anonymize.lattice.node_counts import sweep_reads
from shoal.anonymize.lattice.objectives import Costs
from shoal.anonymize.lattice.searching import Ground, measurable
from shoal.anonymize.lattice.views import View, view
from shoal.core.provenance import Candidate
from shoal.errors import Infeasible
from shoal.support.progress import report

TIE = 1e-12  # costs that differ by no more are equal
_ROUNDING = 1e-13  # of a cost
_ALWAYS_READ = 10_000_000  # rows that branch and bound may read on any lattice
_READ_COST = 3  # rows of a sweep that take as long as one row of branch and bound
_TIED_SHARE = 0.1  # of all nodes; if more could be tied, the sweep is cheaper


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best node of a lattice.

    candidate: the node with its cost and its suppressed records; view: the node under the model.
    evaluated: number of evaluated nodes.
    bound: lower bound of the cost of any node; equal to the cost if the node is proven optimal.
    """

    candidate: Candidate
    view: View
    evaluated: int
    bound: float

    @property
    def node(self) -> Node:
        """The levels of the node."""
        return tuple(self.candidate.node.values())

    @property
    def proven(self) -> bool:
        """Whether no node costs less."""
        return self.bound >= self.candidate.loss - TIE


def find_optimum(ground: Ground, costs: Costs, seconds: float) -> Optimum:
    """Return the anonymous node with the least cost.

    seconds: time for a lattice that cannot be measured completely; the bound is then below the
        cost of the node if the time is over.
    """
    large = not measurable(ground.lattice)
    if costs.rises:
        search = BoxSearch(ground, costs)
        if large:
            if not search.by_size:
                search.ask(ground.lattice.heights)  # to have a node if the time is over
            search.run(seconds=seconds)
            if search.best is None and not search.complete:
                raise Infeasible(
                    f"no node that meets {ground.model} was found in {seconds:g} s; allow more "
                    "time or suppression, or use fewer quasi-identifiers"
                )
            node, evaluated, bound = search.best, search.evaluated, search.bound
            del search  # its tables
            return _optimum(ground, costs, node, evaluated, bound)
        if search.additive:
            search.run(reads=_reads_allowed(ground, search.rows) if search.by_size else None)
            if search.complete:
                node, evaluated = search.best, search.evaluated
                del search
                return _optimum(ground, costs, node, evaluated)
        del search
    node, evaluated = sweep(ground, costs)
    return _optimum(ground, costs, node, evaluated)


def find_tied(ground: Ground, costs: Costs) -> tuple[list[Candidate], int] | None:
    """Return all nodes with the least cost, in the order of levels, and the evaluated count.

    Returns None if the sweep is cheaper or has to be used: the levels and the number of suppressed
    records must determine the cost, and class sizes whether a node is anonymous.
    """
    if not (ground.by_size and costs.by_level):
        return None
    search = BoxSearch(ground, costs)
    if not search.by_size:
        return None
    search.run(reads=_reads_allowed(ground, search.rows))
    if not search.complete:
        return None
    if search.best is None:
        return [], search.evaluated
    least = costs.at(search.best, search.suppressed(search.best))
    nodes = costs.between(least, ground.limit, ground.corner)
    if len(nodes) > _TIED_SHARE * ground.lattice.nodes:
        return None
    tied = []
    for node in nodes:
        suppressed = search.suppressed(node)
        cost = costs.at(node, suppressed)
        if suppressed <= ground.limit and cost <= least + TIE:
            tied.append(Candidate(ground.lattice.named(node), cost, suppressed))
    return tied, search.evaluated + len(nodes)


def _reads_allowed(ground: Ground, rows: int) -> int:
    """Return the number of rows after which the sweep takes over."""
    lattice = ground.lattice
    levels = (size - least for size, least in zip(lattice.shape, ground.corner, strict=True))
    return max(_ALWAYS_READ, sweep_reads(rows, prod(levels)) // _READ_COST)


def _optimum(
    ground: Ground, costs: Costs, node: Node | None, evaluated: int, bound: float | None = None
) -> Optimum:
    if node is None:
        raise ground.infeasible()
    found = view(ground.lattice, node, ground.model)
    cost = costs.exact(node, found)
    candidate = Candidate(ground.lattice.named(node), cost, found.suppressed)
    return Optimum(candidate, found, evaluated, cost if bound is None else bound)


def sweep(ground: Ground, costs: Costs) -> tuple[Node | None, int]:
    """Return the best node by measuring all of them, and the number of evaluated nodes.

    Nodes are evaluated by increasing lower bound until no bound is below the best exact cost, so
    the result is optimal even if costs or models are not monotone.
    """
    lattice = ground.lattice
    known = costs.by_pass(ground.measures) if ground.by_size else None
    bounds = (costs.bound(ground.measures) if known is None else known).ravel()
    flat = np.flatnonzero(ground.possible)
    order = flat[np.argsort(bounds[flat].round(12), kind="stable")]
    best, least, seen = -1, np.inf, 0
    for index in order.tolist():
        if bounds[index] > least + TIE:
            break
        if bounds[index] >= least - _ROUNDING and index > best:
            continue
        node = tuple(int(i) for i in np.unravel_index(index, lattice.shape))
        found = view(lattice, node, ground.model)
        seen += 1
        if seen % 64 == 0:
            report("search", seen, None)
        if found.suppressed > ground.limit:
            continue
        value = costs.exact(node, found)
        if value < least - TIE or (value <= least + TIE and index < best):
            best, least = index, min(value, least)
    if best < 0:
        return None, seen
    return tuple(int(i) for i in np.unravel_index(best, lattice.shape)), seen
