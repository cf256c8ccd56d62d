"""MinGen: of all nodes, an anonymous one with the least distortion.

Exhaustive by definition; ties are resolved by a preference of the user. Nodes that branch and bound
excludes are not evaluated.
Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression",
IJUFKS 10(5), 2002; as described by de Spoelberch (2020), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from shoal.anonymize.lattice.objectives import Costs
from shoal.anonymize.lattice.optimum import TIE, find_tied
from shoal.anonymize.lattice.searching import Ground, check_share
from shoal.anonymize.lattice.views import release_at, view
from shoal.core.provenance import Candidate
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.support.progress import report

Preference = Callable[[Sequence[Candidate]], Candidate]


@dataclass(frozen=True, kw_only=True)
class MinGen:
    """Full-domain generalization with the best Precision, weighted by attribute.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    prefer: function that chooses among nodes of equal Precision; by default the first by levels.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=MinGen(max_suppression=0.1))
    Release(mingen, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "mingen"
    max_suppression: float = 0.0
    prefer: Preference | None = None

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at a node of minimal distortion, chosen by the preference."""
        ground = Ground.of(table, model, self.max_suppression)
        costs = Costs(ground.lattice, "precision")
        tied, seen = find_tied(ground, costs) or _examine_all(ground, costs)
        if not tied:
            raise ground.infeasible()
        chosen = (self.prefer or _first)(tied)
        best = tuple(chosen.node.values())
        return release_at(ground.lattice, best, model, candidates=tied, evaluated=seen)


def _examine_all(ground: Ground, costs: Costs) -> tuple[list[Candidate], int]:
    """Return the nodes with the least cost, and the number of examined nodes, by a sweep."""
    lattice = ground.lattice
    least, tied, seen = float("inf"), [], 0
    bounds = costs.bound(ground.measures)
    for node in product(*(range(n) for n in lattice.shape)):
        seen += 1
        if seen % 4096 == 0:
            report("search", seen, lattice.nodes)
        if not ground.possible[node] or bounds[node] > least + TIE:
            continue
        found = view(lattice, node, ground.model)
        if found.suppressed > ground.limit:
            continue
        value = costs.exact(node, found)
        candidate = Candidate(lattice.named(node), value, found.suppressed)
        if value < least - TIE:
            least, tied = value, [candidate]
        elif value <= least + TIE:
            tied.append(candidate)
    return tied, seen


def _first(tied: Sequence[Candidate]) -> Candidate:
    return min(tied, key=lambda c: tuple(c.node.values()))
