"""A walk through lattices too large to measure, for costs that branch and bound does not cover.

Returns the best node found in time, with a weak lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.objectives import Costs, Objective
from shoal.anonymize.lattice.views import most_suppressed, view
from shoal.core.provenance import Candidate
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model
from shoal.support.progress import report
from shoal.support.stopwatch import working_time

_PATIENCE = 200  # jumps without improvement before the walk ends


class Walk:
    """A walk through a lattice: up until anonymous, then to cheaper neighbours."""

    def __init__(
        self, table: Table, model: Model, max_suppression: float, objective: Objective
    ) -> None:
        self.lattice = Lattice.of(table)
        self._model, self._costs = model, Costs(self.lattice, objective)
        self._limit = most_suppressed(self.lattice, max_suppression)
        self._corner = self.lattice.corner(model.least_size, self._limit)
        self._seen: dict[Node, tuple[float, int]] = {}
        self.bound = self._costs.at_least(self._corner)

    @property
    def evaluated(self) -> int:
        """Number of evaluated nodes."""
        return len(self._seen)

    def go(self, seconds: float) -> Candidate:
        """Return the best node found within the time, or earlier if the search stops improving.

        The walk repeatedly jumps up from the best node so far at random, with a fixed seed, and
        descends again.
        """
        end = working_time() + seconds
        draw = np.random.default_rng(0)
        best, idle = self._descend(self._climb(), end), 0
        while working_time() < end and idle < _PATIENCE:
            node = self._descend(self._jump(best, draw), end)
            idle += 1
            if self._look(node)[0] < self._look(best)[0] - 1e-12:
                best, idle = node, 0
            report("search", self.evaluated, None)
        cost, suppressed = self._look(best)
        return Candidate(self.lattice.named(best), cost, suppressed)

    def _jump(self, node: Node, draw: np.random.Generator) -> Node:
        """Raise some attributes at random."""
        room = np.array(self.lattice.heights) - node
        up = draw.binomial(np.minimum(room, 2), draw.uniform(0.1, 0.6))
        return tuple(int(level) for level in np.array(node) + up)

    def _descend(self, node: Node, end: float) -> Node:
        """Move to cheaper anonymous neighbours until there are none."""
        while not self._anonymous(node):
            node = self._raised(node)
        while working_time() < end:
            cheaper = self._cheaper(node, end)
            if cheaper is None:
                break
            node = cheaper
        return node

    def _look(self, node: Node) -> tuple[float, int]:
        if node not in self._seen:
            found = view(self.lattice, node, self._model)
            self._seen[node] = (self._costs.exact(node, found), found.suppressed)
        return self._seen[node]

    def _anonymous(self, node: Node) -> bool:
        return self._look(node)[1] <= self._limit

    def _climb(self) -> Node:
        """Climb from the corner until few enough records are suppressed."""
        node = self._corner
        while not self._anonymous(node):
            node = self._raised(node)
        return node

    def _raised(self, node: Node) -> Node:
        """Raise the attribute that keeps the most additional records for its cost."""
        above = [
            (*node[:j], node[j] + 1, *node[j + 1 :])
            for j, top in enumerate(self.lattice.heights)
            if node[j] < top
        ]
        if not above:
            raise Infeasible(f"{self._model} cannot be met even with every column suppressed")
        cost, suppressed = self._look(node)

        def price(other: Node) -> tuple[float, Node]:
            more, left = self._look(other)
            return (more - cost + 1e-9) / (suppressed - left + 1e-9), other

        saving = [other for other in above if self._look(other)[1] < suppressed]
        return min(saving or above, key=price)

    def _cheaper(self, node: Node, end: float) -> Node | None:
        """Return the first cheaper anonymous neighbour: one level down, or one down and one up."""
        cost = self._look(node)[0]
        for other in self._neighbours(node):
            if working_time() > end:
                return None
            if self._look(other)[0] < cost - 1e-12 and self._anonymous(other):
                return other
        return None

    def _neighbours(self, node: Node) -> Iterator[Node]:
        lower = [j for j in range(len(node)) if node[j] > self._corner[j]]
        for j in lower:
            yield (*node[:j], node[j] - 1, *node[j + 1 :])
        for j in lower:
            for i, top in enumerate(self.lattice.heights):
                if i != j and node[i] < top:
                    step = np.array(node)
                    step[j] -= 1
                    step[i] += 1
                    yield tuple(int(level) for level in step)
