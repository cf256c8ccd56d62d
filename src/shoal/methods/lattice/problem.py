"""The problem that lattice methods solve: a lattice, a model and a limit of suppression.

    Problem              which nodes may be anonymous, by class sizes alone, and which are
    minimal_nodes        the anonymous nodes without an anonymous node directly below them
    cheapest_minimal     only the cheapest of them, without counting the classes of every node
    weigh                the exact costs of nodes

A model that depends on sizes alone is decided by one pass over the lattice; for any other, the pass
only rules nodes out, and the remaining ones are viewed one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.methods.lattice.lattice import Lattice, Measures, Node, most_suppressed, view
from shoal.methods.lattice.node_counts import Feasible, find_cheap_minimal, find_feasible
from shoal.methods.lattice.objectives import Costs, Objective
from shoal.privacy.model import Model
from shoal.release.provenance import Candidate
from shoal.support.arrays import Bools
from shoal.support.options import check_range
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.table import Table

MAX_NODES = 10_000_000  # a larger lattice is not measured completely
NOT_MONOTONE = (
    "with suppression this model is not monotone: nodes above an anonymous node were assumed to be "
    "anonymous, so a better node may exist; method flash finds it"
)
NOT_MONOTONE_OVER_PEOPLE = (
    "some people have several rows, so this model is not monotone: every node that could be "
    "anonymous was checked"
)


@dataclass(frozen=True, eq=False)
class Problem:
    """A lattice under a model.

    corner: levels below which no node is feasible.
    limit: number of records that may be suppressed.
    """

    lattice: Lattice
    model: Model
    corner: Node
    limit: int

    @classmethod
    def of(
        cls, table: Table, model: Model, max_suppression: float, origin: Table | None = None
    ) -> Problem:
        """Return the lattice of a table, or of a part of the origin, if it can be measured."""
        lattice = Lattice.of(table, origin)
        problem = cls.above_corner(lattice, model, max_suppression)
        if not measurable(lattice):
            raise InputError(
                f"the lattice has {lattice.nodes:,} nodes, which is too many to search; use fewer "
                "quasi-identifiers, flatter hierarchies, or method flash, which returns the best "
                "node that it finds"
            )
        return problem

    @classmethod
    def above_corner(cls, lattice: Lattice, model: Model, max_suppression: float) -> Problem:
        """Return a lattice of any size, without the levels that no feasible node has."""
        limit = most_suppressed(lattice, max_suppression)
        return cls(lattice, model, lattice.corner(model.least_size, limit), limit)

    @cached_property
    def measures(self) -> Measures:
        """Measures of every node for the least class size of the model.

        Exact if the model requires nothing else, otherwise a lower bound of suppression.
        """
        return self.lattice.measure(self.model.least_size, corner=self.corner)

    @property
    def by_size(self) -> bool:
        """Whether the measures are exact."""
        return self.model.by_size and self.lattice.exact_sizes

    @property
    def monotone(self) -> bool:
        """Whether searches assume that nodes above an anonymous node are anonymous."""
        return self.model.monotone_on(self.lattice.table)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about this model for a search that relies on monotonicity."""
        if not self.monotone:
            return (NOT_MONOTONE_OVER_PEOPLE,)
        return (NOT_MONOTONE,) if self.limit and not self.model.by_size else ()

    @cached_property
    def possible(self) -> Bools:
        """Nodes that may be anonymous: class size alone suppresses no more than the limit."""
        if self._feasible is not None:
            return self._feasible.nodes
        found: Bools = self.measures.suppressed <= self.limit
        return found

    @cached_property
    def _feasible(self) -> Feasible | None:
        """The feasible nodes, if they are found without measuring all nodes."""
        if "measures" in vars(self):
            return None
        return find_feasible(self.lattice, self.corner, self.model.least_size, self.limit)

    def suppressed(self, node: Node) -> int:
        """Return the records in classes of a node that are smaller than the model's least size."""
        if self._feasible is not None:
            suppressed = self._feasible.suppressed
            if node in suppressed:
                return suppressed[node]
            return self.lattice.measure_node(node, self.model.least_size)[2]
        return int(self.measures.suppressed[node])

    @property
    def evaluated(self) -> int:
        """Number of nodes whose classes were counted to find the possible ones."""
        found = self._feasible
        return self.lattice.nodes if found is None else found.counted

    def anonymous(self, node: Node) -> bool:
        """Return whether a node meets the model with no more suppression than allowed."""
        if not self.possible[node]:
            return False
        return self.by_size or view(self.lattice, node, self.model).suppressed <= self.limit

    def infeasible(self) -> Infeasible:
        """Return the error for a lattice without an anonymous node."""
        return Infeasible(
            f"{self.model} cannot be met: no node suppresses at most "
            f"{counted(self.limit, 'record')}; allow more suppression or weaken the model"
        )


def measurable(lattice: Lattice) -> bool:
    """Return whether a lattice has few enough nodes to measure each of them."""
    return lattice.nodes <= MAX_NODES


def check_share(option: str, value: float) -> None:
    """Reject a value that is not a share."""
    check_range(option, value, 0, 1)


def minimal_nodes(problem: Problem) -> tuple[list[Node], int]:
    """Return the anonymous nodes without an anonymous direct predecessor, and the evaluated count.

    Exact if the model depends on class sizes only, if nothing may be suppressed, or if people with
    several rows make the model not monotone; otherwise nodes above an anonymous node are assumed to
    be anonymous, as in OLA.
    """
    if problem.by_size:
        return minimal(problem.possible), problem.evaluated
    anonymous, seen = ask_upwards(problem, problem.lattice, problem.possible)
    return minimal(anonymous), seen


def minimal(anonymous: Bools) -> list[Node]:
    """Return the anonymous nodes without an anonymous node directly below them."""
    blocked = np.zeros_like(anonymous)
    for axis in range(anonymous.ndim):
        ahead = np.moveaxis(blocked, axis, 0)
        ahead[1:] |= np.moveaxis(anonymous, axis, 0)[:-1]
    return [tuple(int(i) for i in node) for node in np.argwhere(anonymous & ~blocked)]


def ask_upwards(problem: Problem, lattice: Lattice, possible: Bools) -> tuple[Bools, int]:
    """Return which of the possible nodes are anonymous, and the number of evaluated nodes.

    Goes from the bottom up; if the model is monotone, nodes directly above an anonymous node are
    assumed to be anonymous.

    lattice: of all attributes or of some.
    """
    anonymous, seen, skip = np.zeros(lattice.shape, dtype=np.bool_), 0, problem.monotone
    for node in sorted((tuple(map(int, n)) for n in np.argwhere(possible)), key=sum):
        below = ((*node[:j], node[j] - 1, *node[j + 1 :]) for j in range(len(node)) if node[j] > 0)
        if skip and any(anonymous[one] for one in below):
            anonymous[node] = True
            continue
        seen += 1
        if seen % 64 == 0:
            report("search", seen, None)
        anonymous[node] = view(lattice, node, problem.model).suppressed <= problem.limit
    return anonymous, seen


def cheapest_minimal(problem: Problem, objective: Objective) -> tuple[Candidate | None, int] | None:
    """Return the cheapest minimal node, None if no node is anonymous; and the evaluated count.

    Returns None if all nodes have to be evaluated: costs must be bounded by the levels, and class
    sizes alone must decide whether a node is anonymous.
    """
    lattice, costs = problem.lattice, Costs(problem.lattice, objective)
    if not (problem.by_size and costs.bounded):
        return None
    least = problem.model.least_size
    found = find_cheap_minimal(lattice, problem.corner, least, problem.limit, costs.levels_alone())
    if found is None:
        return None
    minimal, evaluated = found
    weighed = []
    for node, out in minimal.items():
        if costs.by_level:
            value = costs.at(node, out)
        else:
            value = costs.exact(node, view(lattice, node, problem.model))
        weighed.append(Candidate(lattice.named(node), value, out))
    return min(weighed, key=_rank, default=None), evaluated


def weigh(problem: Problem, nodes: list[Node], objective: Objective) -> list[Candidate]:
    """Return the exact cost and suppression of nodes, cheapest first, finer levels first."""
    lattice, costs = problem.lattice, Costs(problem.lattice, objective)
    exact = costs.by_pass(problem.measures) if problem.by_size and costs.by_classes else None
    weighed = []
    for done, node in enumerate(nodes):
        if exact is not None:
            value, out = float(exact[node]), int(problem.measures.suppressed[node])
        elif problem.by_size and costs.by_level:
            out = problem.suppressed(node)
            value = costs.at(node, out)
        else:
            node_view = view(lattice, node, problem.model)
            value, out = costs.exact(node, node_view), node_view.suppressed
            report("weigh", done + 1, len(nodes))
        weighed.append(Candidate(lattice.named(node), value, out))
    return sorted(weighed, key=_rank)


def _rank(candidate: Candidate) -> tuple[float, int, Node]:
    levels = tuple(candidate.node.values())
    return round(candidate.loss, 12), sum(levels), levels  # ties of sums of shares up to rounding


class MinimalNodes(Sequence[Candidate]):
    """The best node and the minimal nodes, cheapest first, evaluated on first use."""

    def __init__(self, problem: Problem, objective: Objective, best: Candidate) -> None:
        self._problem, self._objective, self._best = problem, objective, best

    @cached_property
    def _weighed(self) -> list[Candidate]:
        others = weigh(self._problem, minimal_nodes(self._problem)[0], self._objective)
        return [self._best, *(other for other in others if other.node != self._best.node)]

    def __len__(self) -> int:
        return len(self._weighed)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        return self._weighed[index]
