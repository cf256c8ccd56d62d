"""Flash: the node with the least loss in the whole lattice, for any objective.

It is the best node for every model of classes. A model of the whole release is met by a search for
k-anonymity, whose best node need not be the best one for the model.

    few nodes, or costs that rise with the levels    `find_optimum`: proven, or with a bound
    too many nodes, and other costs                  a random walk, with a weak lower bound
    stated levels                                    the release at this node

Boxes of nodes are searched in the order of a lower bound on their loss, until none can contain a
better node; see `optimum.py`. Named after Kohlmayer et al., "Flash: efficient, stable and optimal
k-anonymity", PASSAT 2012, whose result it reaches with another algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from shoal.errors import Infeasible, InputError, unknown
from shoal.methods.lattice.lattice import Lattice, Node, most_suppressed, release_at, view
from shoal.methods.lattice.local import recode_locally
from shoal.methods.lattice.objectives import Costs, Objective
from shoal.methods.lattice.optimum import find_optimum
from shoal.methods.lattice.problem import MinimalNodes, Problem, check_share, measurable
from shoal.privacy.model import Model
from shoal.release.provenance import Candidate
from shoal.release.release import Release
from shoal.support.options import check_choice, check_range, check_whole
from shoal.support.progress import report, working_time
from shoal.support.wording import counted
from shoal.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Flash:
    """Full-domain generalization at the node with the least loss, optimal for models of classes.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    objective: the loss to minimize.
    local: publish rows in rounds, each at the node whose levels cost its rows least, until the rest
        cannot form a class; rows then differ in level.
    step: least share of its rows that a round of local recoding publishes; smaller steps lose less
        and take longer.
    time_limit: seconds for a lattice too large to measure completely, without local recoding; the
        release then states a bound on its distance from the optimum.
    levels: publish these levels instead of searching, such as {"age": 2}; columns that are not
        named stay as they are.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Flash(objective="discernibility"))
    Release(flash, k-anonymity(k=5), rows=100, classes=8, suppressed=3)
    """

    name: ClassVar[str] = "flash"
    by_level: ClassVar[bool] = True
    max_suppression: float = 0.05
    objective: Objective = "loss"
    local: bool = False
    step: float = 0.02
    time_limit: float = 60.0
    levels: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))
        check_choice("local", self.local, (True, False))
        check_share("step", self.step)
        check_range("time_limit", self.time_limit, 0, above=True)
        for name, level in (self.levels or {}).items():
            check_whole(f"level of {name!r}", level, 0)
        if self.levels is not None and self.local:
            raise InputError("levels and local cannot be combined; leave one of them out")

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the optimal node, or the best node found if there are too many.

        It has the minimal nodes as candidates, evaluated on first use.
        """
        if self.levels is not None:
            return self._at_levels(Lattice.of(table), model, self.levels)
        if self.local:
            return recode_locally(table, model, self.objective, self.max_suppression, self.step)
        problem = Problem.above_corner(Lattice.of(table), model, self.max_suppression)
        costs = Costs(problem.lattice, self.objective)
        if not measurable(problem.lattice) and not costs.rises:
            return self._walk(table, model)
        best = find_optimum(problem, costs, self.time_limit)
        candidate, notes = best.candidate, []
        if not best.proven:
            notes.append(self._unproven(problem.lattice, candidate, best.bound))
        few = measurable(problem.lattice)
        return release_at(
            problem.lattice,
            best.node,
            model,
            found=best.view,
            candidates=MinimalNodes(problem, self.objective, candidate) if few else (candidate,),
            evaluated=best.evaluated,
            notes=notes,
        )

    def _at_levels(self, lattice: Lattice, model: Model, levels: Mapping[str, int]) -> Release:
        """Return the release at stated levels, if it suppresses few enough records."""
        names = [column.name for column in lattice.columns]
        for name in levels:
            if name not in names:
                raise unknown("no quasi-identifier", name, names)
        node = tuple(levels.get(name, 0) for name in names)
        for name, level, height in zip(names, node, lattice.heights, strict=True):
            if level > height:
                raise InputError(f"level of {name!r} must be 0 to {height}, not {level}")
        node_view = view(lattice, node, model)
        limit = most_suppressed(lattice, self.max_suppression)
        if node_view.suppressed > limit:
            records = counted(lattice.table.records, "record")
            raise Infeasible(
                f"at these levels {node_view.suppressed:,} of {records} break {model}, and at most "
                f"{limit:,} may be suppressed; raise a level or max_suppression"
            )
        return release_at(lattice, node, model, found=node_view, evaluated=1)

    def _walk(self, table: Table, model: Model) -> Release:
        walk = Walk(table, model, self.max_suppression, self.objective)
        best = walk.go(self.time_limit)
        return release_at(
            walk.lattice,
            tuple(best.node.values()),
            model,
            candidates=(best,),
            evaluated=walk.evaluated,
            notes=(self._unproven(walk.lattice, best, walk.bound),),
        )

    def _unproven(self, lattice: Lattice, best: Candidate, bound: float) -> str:
        """Return a note about a node that may not be optimal."""
        return (
            f"{lattice.nodes:,} nodes are too many to search completely in {self.time_limit:g} s; "
            f"the best node found has {self.objective} {best.loss:.4f}, and no node can be below "
            f"{bound:.4f}"
        )


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
            node_view = view(self.lattice, node, self._model)
            self._seen[node] = (self._costs.exact(node, node_view), node_view.suppressed)
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

        # prefer a step that keeps more records; if no step does, any step up
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
