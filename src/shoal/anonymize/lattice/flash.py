"""Flash: the node with the least loss in the whole lattice, for any model and any objective.

One pass computes a lower bound on the loss of every node; nodes are then evaluated in the order of
that bound until none can be better. Named after Kohlmayer et al., "Flash: efficient, stable and
optimal k-anonymity", PASSAT 2012, whose result it reaches with another algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

from shoal.anonymize.lattice.best_effort import Walk
from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.local import recode_locally
from shoal.anonymize.lattice.objectives import Objective
from shoal.anonymize.lattice.searching import (
    Ground,
    MinimalNodes,
    best_first,
    check_share,
    measurable,
)
from shoal.anonymize.lattice.views import most_suppressed, release_at
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model, check_range
from shoal.support.options import check_choice


@dataclass(frozen=True, kw_only=True)
class Flash:
    """Full-domain generalization at the node with the least loss, proven optimal.

    max_suppression: share of records that may be suppressed instead of generalized.
    objective: the loss to minimize.
    local: search again among the suppressed rows, until the rest cannot form a class.
    time_limit: seconds for a lattice too large to measure completely, without local recoding; the
        release then states a bound on its distance from the optimum.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Flash(objective="discernibility"))
    Release(flash, k-anonymity(k=5), rows=100, classes=8, suppressed=3)
    """

    name: ClassVar[str] = "flash"
    max_suppression: float = 0.05
    objective: Objective = "loss"
    local: bool = False
    time_limit: float = 60.0

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))
        check_choice("local", self.local, (True, False))
        check_range("time_limit", self.time_limit, 0, above=True)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the optimal node, or the best node found if there are too many.

        It has the minimal nodes as candidates, evaluated on first use.
        """
        lattice = Lattice.of(table)
        limit = most_suppressed(lattice, self.max_suppression)
        corner = lattice.corner(model.least_size, limit)
        if not measurable(lattice):
            return self._walk(table, model)
        if self.local:
            return recode_locally(table, model, self.max_suppression, self._choose)
        ground = Ground.above(lattice, corner, model, limit)
        best, evaluated = best_first(ground, self.objective)
        node = tuple(best.node.values())
        candidates = MinimalNodes(ground, self.objective, best)
        return release_at(ground.lattice, node, model, candidates=candidates, evaluated=evaluated)

    def _choose(self, ground: Ground) -> Node:
        return tuple(best_first(ground, self.objective)[0].node.values())

    def _walk(self, table: Table, model: Model) -> Release:
        walk = Walk(table, model, self.max_suppression, self.objective)
        best = walk.go(self.time_limit)
        note = (
            f"{walk.lattice.nodes:,} nodes are too many to search; the best node found has "
            f"{self.objective} {best.loss:.4f}, and no node can be below {walk.bound:.4f}"
        )
        return release_at(
            walk.lattice,
            tuple(best.node.values()),
            model,
            candidates=(best,),
            evaluated=walk.evaluated,
            notes=(note,),
        )
