"""Flash: the node with the least loss in the whole lattice, for any objective.

It is the best node for every model of classes. A model of the whole release is met by a search for
k-anonymity, whose best node need not be the best one for the model.
Boxes of nodes are searched in the order of a lower bound on their loss, until none can contain a
better node; see `optimum.py`. Named after Kohlmayer et al., "Flash: efficient, stable and
optimal k-anonymity", PASSAT 2012, whose result it reaches with another algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

from shoal.anonymize.lattice.best_effort import Walk
from shoal.anonymize.lattice.lattice import Lattice
from shoal.anonymize.lattice.local import recode_locally
from shoal.anonymize.lattice.objectives import Costs, Objective
from shoal.anonymize.lattice.optimum import find_optimum
from shoal.anonymize.lattice.searching import Ground, MinimalNodes, check_share, measurable
from shoal.anonymize.lattice.views import most_suppressed, release_at, view
from shoal.core.provenance import Candidate
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import Infeasible, InputError, unknown
from shoal.privacy.model import Model
from shoal.support.options import check_choice, check_range, check_whole
from shoal.support.wording import counted


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
        ground = Ground.above_corner(Lattice.of(table), model, self.max_suppression)
        costs = Costs(ground.lattice, self.objective)
        if not measurable(ground.lattice) and not costs.rises:
            return self._walk(table, model)
        best = find_optimum(ground, costs, self.time_limit)
        candidate, notes = best.candidate, []
        if not best.proven:
            notes.append(self._unproven(ground.lattice, candidate, best.bound))
        few = measurable(ground.lattice)
        return release_at(
            ground.lattice,
            best.node,
            model,
            found=best.view,
            candidates=MinimalNodes(ground, self.objective, candidate) if few else (candidate,),
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
        found = view(lattice, node, model)
        limit = most_suppressed(lattice, self.max_suppression)
        if found.suppressed > limit:
            records = counted(lattice.table.records, "record")
            raise Infeasible(
                f"at these levels {found.suppressed:,} of {records} break {model}, and at most "
                f"{limit:,} may be suppressed; raise a level or max_suppression"
            )
        return release_at(lattice, node, model, found=found, evaluated=1)

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
