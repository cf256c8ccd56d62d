"""OLA: the minimal node of the lattice with the least loss.

A minimal node is anonymous and no node below it is. Optimal if loss and anonymity both increase
with the levels.
El Emam et al., "A globally optimal k-anonymity method for the de-identification of health data",
JAMIA 16(5), 2009; as described by Li, "Improving a de-identification algorithm that achieves both
k-anonymity and differential privacy", 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from shoal.anonymize.lattice.local import recode_locally
from shoal.anonymize.lattice.objectives import Objective
from shoal.anonymize.lattice.searching import (
    Ground,
    MinimalNodes,
    cheapest_minimal,
    check_share,
    minimal_nodes,
    weigh,
)
from shoal.anonymize.lattice.views import release_at
from shoal.core.provenance import Candidate
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.support.options import check_choice


@dataclass(frozen=True, kw_only=True)
class Ola:
    """Full-domain generalization at the minimal node with the least loss.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    objective: the loss to minimize.
    local: publish rows in rounds, each at the node whose levels cost its rows least, until the rest
        cannot form a class; rows then differ in level.
    step: least share of its rows that a round of local recoding publishes; smaller steps lose less
        and take longer.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Ola(local=True))
    Release(ola, k-anonymity(k=5), rows=100, classes=16, suppressed=4)
    """

    name: ClassVar[str] = "ola"
    max_suppression: float = 0.05
    objective: Objective = "precision"
    local: bool = False
    step: float = 0.02

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))
        check_choice("local", self.local, (True, False))
        check_share("step", self.step)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the best minimal node, with all minimal nodes as candidates."""
        if self.local:
            return recode_locally(table, model, self.objective, self.max_suppression, self.step)
        ground = Ground.of(table, model, self.max_suppression)
        candidates: Sequence[Candidate]
        if found := cheapest_minimal(ground, self.objective):
            best, evaluated = found
            candidates = MinimalNodes(ground, self.objective, best) if best else ()
        else:
            nodes, evaluated = minimal_nodes(ground)
            candidates = weigh(ground, nodes, self.objective)
            best = candidates[0] if candidates else None
        if best is None:
            raise ground.infeasible()
        return release_at(
            ground.lattice,
            tuple(best.node.values()),
            model,
            candidates=candidates,
            evaluated=evaluated,
            notes=ground.notes,
        )
