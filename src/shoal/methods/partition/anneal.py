"""Anneal: simulated annealing over groups of records.

Slower than the greedy methods, with the least loss of all methods that scale: it starts from Greedy
Search around outliers, then moves and swaps records, and dissolves and creates groups.
Simulated annealing after Kirkpatrick, Gelatt & Vecchi, Science 220, 1983, on the objective of
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.methods.partition.bound import add_bound, check_bound, check_bound_options
from shoal.methods.partition.groups import Weights, release_groups
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Codes
from shoal.support.options import check_range, check_whole
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.records import Records

_NEAR = 10  # neighbours of a point
_LARGEST = 256  # records in a group that may still change, if the model requires more than size


@dataclass(frozen=True, kw_only=True)
class Anneal:
    """Simulated annealing over groups of k to 2k − 1 records.

    steps: steps per record; more steps lower the loss slowly and take proportionally longer. Small
        tables are annealed longer and several times.
    time_limit: seconds of annealing, instead of a number of steps; two runs may then differ.
    seed: random seed; the same seed gives the same release with any number of threads.
    threads: number of threads, by default one per core.
    weights: cost of losing each quasi-identifier, by name or in order.
    bound: also find a lower bound of the loss of any division into classes of k; `release.proof`
        then says how far the release is from the best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=Anneal(steps=10, seed=1))
    Release(anneal, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "anneal"
    steps: int = 250
    time_limit: float | None = None
    seed: int = 0
    threads: int | None = None
    weights: Weights = None
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 0)
        check_whole("seed", self.seed, 0)
        if self.threads is not None:
            check_whole("threads", self.threads, 1)
        if self.time_limit is not None:
            check_range("time_limit", self.time_limit, 0)
        check_bound_options(self)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of the groups at the end of the annealing."""
        from shoal.methods.partition.greedy import group_greedily
        from shoal.methods.partition.merging import Merger

        check_bound(self, table, model)
        notes: list[str] = []

        def gather(records: Records, k: int, _: Table) -> Codes:
            return group_greedily(records, k, outliers_first=True)

        def cluster(records: Records, k: int, rows: Table) -> Codes:
            ids = Merger.of(records, rows).merge(gather(records, k, rows), model)
            return self._anneal(records, k, rows, ids, model, notes)

        def improve(records: Records, k: int, rows: Table, ids: Codes) -> Codes:
            return self._anneal(records, k, rows, ids, model, notes)

        first = cluster if table.unit is None else gather
        release = release_groups(table, model, first, self.weights, improve=improve)
        release = replace(release, run=Run(notes=tuple(notes))) if notes else release
        return add_bound(self, release)

    def _anneal(
        self,
        records: Records,
        k: int,
        table: Table,
        ids: Codes,
        model: Model,
        notes: list[str],
    ) -> Codes:
        from shoal.methods.partition.annealing import Plan, anneal, by_appearance, near_records
        from shoal.methods.partition.annealing_rules import rules_of
        from shoal.methods.partition.records import along_curve

        order = along_curve(records)  # neighbours are close in memory, which is faster
        near, start = records.take(order), by_appearance(ids[order])
        rules, without = rules_of(model, table, near.rows)
        if without:
            names = ", ".join(part.name for part in without)
            notes.append(f"the search ignored {names}; groups that broke it were merged afterwards")
        largest = int(np.bincount(ids).max())
        by_size = model.by_size and table.unit is None
        most = 2 * k - 1 if by_size else max(2 * k - 1, min(2 * largest, _LARGEST))
        threads = self.threads or os.cpu_count() or 1
        plan = Plan(self.steps, self.time_limit, self.seed, threads)
        graph = near_records(near, _NEAR, threads)
        found = ids.copy()
        found[order] = anneal(near, start, k, graph, rules, most, plan)
        return found
