"""All methods by name, and `auto`, which chooses the one with the least loss in the time allowed.

Add a method here by its import and its name in `__all__`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from shoal.methods.freeform import DokaGreedy, DokaHungarian, DokaSortGreedy
from shoal.methods.lattice.flash import Flash
from shoal.methods.lattice.safe_la import SafeLA
from shoal.methods.lattice.searches import Datafly, Incognito, MinGen, Ola, Samarati
from shoal.methods.partition.anneal import Anneal
from shoal.methods.partition.greedy import Greedy, KMember
from shoal.methods.partition.mondrian import Mondrian
from shoal.methods.partition.optimal import Optimal
from shoal.methods.partition.sorted import Sorted
from shoal.methods.partition.split_carry import SplitCarry
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.options import check_range, check_whole
from shoal.table.table import Table

__all__ = [  # noqa: RUF022  in the order of the documentation
    "Auto",
    "Mondrian",
    "Anneal",
    "Sorted",
    "Greedy",
    "KMember",
    "SplitCarry",
    "Optimal",
    "Datafly",
    "Samarati",
    "MinGen",
    "Incognito",
    "Ola",
    "Flash",
    "SafeLA",
    "DokaGreedy",
    "DokaSortGreedy",
    "DokaHungarian",
]


_MAX_PROVABLE_RECORDS, _MAX_PROVABLE_K = 60, 5  # an optimum is usually proven within a minute
_STEP = 1.2e-7  # seconds of annealing per record, column and step, on one core
_START = 1.5e-5  # seconds per record and column before annealing begins
_MAX_FREEFORM_RECORDS = 3_000  # above it freeform boxes lose more than anneal


@dataclass(frozen=True)
class Shape:
    """What the choice of a method depends on.

    rows, width: numbers of records and quasi-identifiers.
    hierarchies: whether a quasi-identifier has a hierarchy.
    weighted: whether rows stand for several records.
    on_disk: whether the rows stay on disk.
    in_parts: whether methods that group records may work part by part, as they do on disk.
    """

    rows: int
    width: int
    hierarchies: bool
    weighted: bool = False
    on_disk: bool = False
    in_parts: bool = True


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Chooses a method by rows, columns, k, model, hierarchies and time; the release states why.

    time_limit: time limit of the search in seconds.
    seed: seed of methods that use random numbers.

    >>> import shoal
    >>> release = shoal.anonymize(shoal.datasets.patients(100), k=5, method=Auto(time_limit=10))
    >>> print(release.run.notes[0])
    auto chose mondrian: it publishes labels of the hierarchies, chosen class by class
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
        hierarchies = any(column.hierarchy is not None for column in table.quasi_columns)
        weighted = table.counts is not None
        return self.choose_by(Shape(len(table), len(table.quasi), hierarchies, weighted), model)

    def choose_by(self, shape: Shape, model: Model) -> tuple[Any, str]:
        """Return the method for a table of some shape and a model, and why."""
        rows, width = shape.rows, shape.width
        if shape.weighted:
            return Mondrian(), "it keeps the records of each row of a weighted table together"
        detailed = not model.by_class and model.by_size  # these accept ranges for labels
        if detailed and rows <= _MAX_FREEFORM_RECORDS and not shape.on_disk:
            boxes = DokaHungarian()
            return boxes, f"{model} allows each record its own ranges, which lose less"
        if not detailed and shape.hierarchies:
            return Mondrian(), "it publishes labels of the hierarchies, chosen class by class"
        if not shape.in_parts:
            return Mondrian(), f"others work on parts of a table on disk, which {model} rules out"
        if rows <= _MAX_PROVABLE_RECORDS and model.least_size <= _MAX_PROVABLE_K:
            few = Optimal(time_limit=self.time_limit)
            return few, f"{rows} records are few enough to search for the optimum"
        # from here on only the time decides
        start = rows * width * _START
        full = Anneal(seed=self.seed)
        needed = start + rows * width * full.steps * _STEP
        if needed <= self.time_limit:
            return full, f"it loses least, and {rows} records take about {needed:.0f} s on one core"
        if start <= self.time_limit / 4:
            short = replace(full, time_limit=self.time_limit - start)
            return short, f"it loses least, and stops after {self.time_limit:g} s"
        return Mondrian(), f"slower methods need over {self.time_limit:g} s for {rows} records"


METHODS: dict[str, type[Any]] = {
    method.name: method for method in (globals()[name] for name in __all__)
}
