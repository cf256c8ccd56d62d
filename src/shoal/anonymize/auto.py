"""Auto: picks the method that loses least in the time allowed, and says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from shoal.anonymize.freeform.doka_hungarian import DokaHungarian
from shoal.anonymize.partition.anneal import Anneal
from shoal.anonymize.partition.mondrian import Mondrian
from shoal.anonymize.partition.optimal import Optimal
from shoal.core.release import Release, Run
from shoal.core.table import Table
from shoal.privacy.model import Model, check_range, check_whole

_FEW, _SMALL_K = 60, 5  # records and k up to which an optimum is usually proven in a minute
_STEP = 1.2e-7  # seconds of annealing for a record, a column and a step, on one core
_START = 1.5e-5  # seconds for a record and a column before annealing begins
_FREEFORM = 3_000  # records up to which freeform boxes lose less; beyond, sorting loses to anneal


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Chooses by rows, columns, k, model, hierarchies and time; the release tells why.

    time_limit: seconds that the search may take.
    seed: of methods that draw at random.
    """

    name: ClassVar[str] = "auto"
    time_limit: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_range("time_limit", self.time_limit, 0, above=True)
        check_whole("seed", self.seed, 0)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of the chosen method."""
        method, reason = self.choose(table, model)
        release: Release = method.search(table, model)
        notes = (f"auto chose {method.name}: {reason}", *release.run.notes)
        return replace(release, run=Run(notes=notes))

    def choose(self, table: Table, model: Model) -> tuple[Any, str]:
        """Return the method for a table and a model, and why."""
        rows, width = len(table), len(table.quasi)
        if table.counts is not None:
            return Mondrian(), "rows stand for several records each, which it keeps together"
        detailed = not model.by_class and model.by_size  # who asks so takes ranges, not labels
        if detailed and rows <= _FREEFORM:
            boxes = DokaHungarian()
            return boxes, f"{model} allows each record a range of its own, and loses less so"
        if not detailed and any(column.hierarchy is not None for column in table.quasi_columns):
            return Mondrian(), "it publishes labels of the hierarchies, record by record"
        if rows <= _FEW and model.least_size <= _SMALL_K:
            few = Optimal(time_limit=self.time_limit)
            return few, f"{rows} records are few enough to look for the best there is"
        start = rows * width * _START
        full = Anneal(seed=self.seed)
        needed = start + rows * width * full.steps * _STEP
        if needed <= self.time_limit:
            return full, f"it loses least, and {rows} records take about {needed:.0f} s on one core"
        if start <= self.time_limit / 4:
            short = replace(full, time_limit=self.time_limit - start)
            return short, f"it loses least, and stops after {self.time_limit:g} s"
        return Mondrian(), f"anything finer takes over {self.time_limit:g} s for {rows} records"
