"""Optimal: the grouping with the least loss, with a proof, or a bound on the distance from it.

For a few hundred records; for more, the best grouping found in the time given, and a bound.
The problem is that of Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, §3.2: as the mixed-integer program given there, or as a choice among all possible
groups, which is far faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from shoal.methods.partition.bound import penalties
from shoal.methods.partition.groups import Weights, release_groups
from shoal.privacy.model import Model
from shoal.release.provenance import Proof, Run
from shoal.release.release import Release
from shoal.support.arrays import Codes
from shoal.support.options import check_choice, check_range, check_whole
from shoal.support.progress import working_time
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.column_generation import GroupingProblem
    from shoal.methods.partition.records import Records

Solver = Literal["set-partitioning", "big-m"]
_NO_BOUND = (
    "some people have several rows: groups are optimal for one row of each person at a time, and "
    "no bound is known for all rows together"
)


@dataclass(frozen=True, kw_only=True)
class Optimal:
    """Exact grouping with the least loss.

    solver: set-partitioning chooses among all groups by column generation, cuts and branching;
        big-m is the published program, for tables of a dozen rows.
    time_limit: seconds, after which the best grouping so far is released with its bound; None
        waits for the proof. Runs that stop early may differ, except at 0, which does not search.
    seed: random seed of the first groupings.
    weights: cost of losing each quasi-identifier, by name or in order.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age", method=Optimal(time_limit=None))
    >>> release.proof
    Proof(loss=1.0, bound=1.0)
    """

    name: ClassVar[str] = "optimal"
    solver: Solver = "set-partitioning"
    time_limit: float | None = 60.0
    seed: int = 0
    weights: Weights = None

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))
        check_whole("seed", self.seed, 0)
        if self.time_limit is not None:
            check_range("time_limit", self.time_limit, 0)

    def search(self, table: Table, model: Model) -> Release:
        """Return the best release found, with its proof."""
        solved: list[GroupingProblem] = []

        def cluster(records: Records, k: int, rows: Table) -> Codes:
            solved.append(self._solve(records, k, rows))
            return solved[-1].ids

        release = release_groups(table, model, cluster, self.weights)
        if table.unit is not None:
            return replace(release, run=Run(notes=(_NO_BOUND,)))
        if model.equivalent_size < max(model.least_size, 2):
            return replace(release, run=Run(notes=(_unbounded_note(model),)))
        loss = penalties(release)
        if not solved:  # too few rows for two groups
            return _proven(release, Proof(loss, loss), "proven optimal: only one group is possible")
        alone = _alone(release, solved[0])
        proof = Proof(loss, min(alone.bound, loss))
        if loss > alone.loss * (1 + 1e-12):
            return _proven(release, proof, _merged_note(alone, proof))
        return _proven(release, proof, self._note(proof, solved[0].stopped))

    def _solve(self, records: Records, k: int, table: Table) -> GroupingProblem:
        from shoal.methods.partition.column_generation import (
            GroupingProblem,
            neighbour_bound,
            start,
        )

        limit = np.inf if self.time_limit is None else self.time_limit
        deadline = working_time() + limit
        if self.solver == "big-m":
            from shoal.methods.partition.big_m import solve_big_m

            count = len(records) // k
            first = np.minimum(np.arange(len(records)) // k, count - 1).astype(np.int32)
            problem = GroupingProblem(records, k, first, deadline)
            solve_big_m(problem, table.take(records.rows))
            return problem
        starts = start(records, table, k, limit, self.seed)
        problem = GroupingProblem(records, k, starts[0], deadline)
        problem.raise_bound(neighbour_bound(records, k))
        if limit > 0:
            from shoal.methods.partition.set_partitioning import solve

            solve(problem, starts)
        return problem

    def _note(self, proof: Proof, stopped: str) -> str:
        if proof.proven:
            return "proven optimal"
        why = f"stopped after {self.time_limit:g} s" if stopped in ("", "time is up") else stopped
        return f"{why}: {proof.describe()}"


def _alone(release: Release, problem: GroupingProblem) -> Proof:
    """Return the proof for the groups that were found, before they were merged.

    Units are rounded, by one for each cell at most.
    """
    ids, records = problem.ids, problem.records
    groups = Release.of_groups(
        release.original,
        records.by_row(ids),
        int(ids.max()) + 1,
        release.model,
        use_hierarchies=False,
    )
    loss = penalties(groups)
    if problem.bound >= problem.loss:
        return Proof(loss, loss)
    bound = max(problem.bound - problem.cells, 0) * records.scale
    return Proof(loss, min(bound, loss))


def _unbounded_note(model: Model) -> str:
    """Return a note about a model that smaller classes, or none, can meet too."""
    return (
        f"groups have at least {max(model.least_size, 2)} people, and {model} can also be met "
        "without such groups: a release that loses less may exist, and no bound is known"
    )


def _merged_note(alone: Proof, proof: Proof) -> str:
    """Return a note on the proof after groups were merged for a further model."""
    best = "proven optimal" if alone.proven else "not proven optimal"
    return (
        f"{best} for group sizes only; groups were then merged to meet the rest of the model, "
        f"{proof.describe()} for group sizes only"
    )


def _proven(release: Release, proof: Proof, note: str) -> Release:
    return replace(release, proof=replace(proof, note=note))
