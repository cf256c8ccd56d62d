"""The work of one run: make the release, and measure its cost, its loss and its risk."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from shoal.comparison.grid import Trial
from shoal.errors import Infeasible, InputError, NotConverged, unknown
from shoal.methods import anonymize
from shoal.metrics import METRICS, evaluate
from shoal.metrics.cell_width import uses_hierarchies
from shoal.release.provenance import Tally
from shoal.release.release import Release
from shoal.risk.assessment import assess
from shoal.risk.reidentification import Reidentification
from shoal.table.column import Role
from shoal.table.table import Table

_QUICK_SECONDS = 2.0  # CPU time below which loading compiled kernels is a large part
RUN = ("method", "options", "model", "k", "seed", "status", "reason")
COST = ("search seconds", "verify seconds", "cpu seconds", "peak MB")
SHAPE = (
    "records",
    "people",
    "suppressed",
    "released people",
    "classes",
    "smallest class",
    "smallest class rows",
)
RISKS = ("highest risk", "average risk")
LABELS = ("hierarchies",)
_HIERARCHIES = {True: "used", False: "not used", None: "none"}


@dataclass(frozen=True, eq=False)
class Bench:
    """Makes the release of a trial and measures it.

    metrics: names; None for all that are defined.
    measures: further functions of the release.
    """

    table: Table
    metrics: tuple[str, ...] | None
    measures: Mapping[str, Callable[[Release], float]]

    def __call__(self, trial: Trial) -> dict[str, Any]:
        """Return the figures of the release, or the reason why there is none."""
        settings = trial.to_dict()
        try:
            release, cost = self._timed(trial)
        except Infeasible as error:
            return {**settings, "status": "infeasible", "reason": str(error)}
        except InputError as error:
            return {**settings, "status": "unfit", "reason": str(error)}
        tally = Tally.of(release.classes)
        return {
            **settings,
            "status": "done",
            "reason": "",
            **cost,
            **{name: getattr(tally, name.replace(" ", "_")) for name in SHAPE},
            **risks(release),
            "hierarchies": _HIERARCHIES[uses_hierarchies(release)],
            "metrics": self._metrics(release),
            "measures": {name: _figure(m, release) for name, m in self.measures.items()},
        }

    def _timed(self, trial: Trial) -> tuple[Release, dict[str, float | None]]:
        """Make the release; repeat the timing if it was mostly loading or compiling kernels."""
        from shoal._compat.numba import listen_to_compilation

        # a second run on a fresh copy, which has no cached results, measures the method alone
        compilations: list[None] = []
        with listen_to_compilation(lambda: compilations.append(None)):
            release, cost = _run(self.table, trial)
        if compilations or (cost["cpu seconds"] or 0.0) < _QUICK_SECONDS:
            release, cost = _run(fresh(self.table), trial)
        return release, cost

    def _metrics(self, release: Release) -> dict[str, float | None]:
        if self.metrics is None:
            return {name: finite(value) for name, value in evaluate(release).items()}
        return {name: _figure(partial(_metric, name), release) for name in self.metrics}


def _run(table: Table, trial: Trial) -> tuple[Release, dict[str, float | None]]:
    begun = time.process_time()
    release = anonymize(table, trial.model, trial.algorithm, seed=trial.seed)
    taken = release.run.seconds
    cost = (taken["search"], taken["verify"], time.process_time() - begun, peak_megabytes())
    return release, dict(zip(COST, cost, strict=True))


def _metric(name: str, release: Release) -> float:
    return evaluate(release, [name])[name]


def _figure(measure: Callable[[Release], float], release: Release) -> float | None:
    """Return a figure, or None if it is not defined for this release."""
    try:
        return finite(measure(release))
    except InputError:
        return None


def finite(value: float) -> float | None:
    """Return a number that JSON can represent, or None."""
    number = float(value)
    return number if math.isfinite(number) else None


def fresh(table: Table) -> Table:
    """Return the table without identifiers, which no run needs, and without cached results.

    The person of each row is kept.
    """
    kept = (column for column in table.columns if column.role is not Role.IDENTIFIER)
    return replace(table, columns=tuple(replace(column) for column in kept), replacements={})


def peak_megabytes() -> float | None:
    """Return the peak memory of this process.

    The figure of the operating system is preferred: that of getrusage also counts the parent.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def check_asked(
    metrics: Iterable[str] | None, measures: Mapping[str, Any]
) -> tuple[str, ...] | None:
    """Return the names of the metrics; unknown names and wrong measures are errors."""
    names = None if metrics is None else tuple(dict.fromkeys(metrics))
    for name in names or ():
        if name not in METRICS:
            raise unknown("no metric", name, METRICS)
    for name, measure in measures.items():
        if name in (*RUN, *COST, *SHAPE, *RISKS, *LABELS, *METRICS):
            raise InputError(
                f"measure {name!r}: the table has a column of this name; choose another"
            )
        if not callable(measure):
            raise InputError(f"measure {name!r} must be a function of a release")
    return names


def risks(release: Release) -> dict[str, float]:
    """Return the highest and the average chance of picking a person's record, 0 if none is left."""
    risk = Reidentification.of(release)
    return dict(zip(RISKS, (risk.highest_risk, risk.average_risk), strict=True))


NAME = "expected risk"
_HALF_WIDTH = 0.02


def expected_risk(release: Release) -> float:
    """Return the expected share of people found by an attacker who knows all quasi-identifiers.

    A sampled share has an error of up to 0.02; it is NaN if the sampling does not converge.
    """
    try:
        return assess(release, half_width=_HALF_WIDTH, seed=0, threads=1).share
    except NotConverged:
        return math.nan
