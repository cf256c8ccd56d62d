"""Many releases of one table side by side: a grid of runs, a tidy table, a front to choose from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from shoal.anonymize import check_askable
from shoal.anonymize.algorithm import Algorithm
from shoal.comparison.bench import Bench, check_asked, fresh
from shoal.comparison.grid import METHODS_BY_DEFAULT, Method, Trial, grid
from shoal.comparison.identity import fingerprint, identify
from shoal.comparison.results import Comparison
from shoal.comparison.runner import Outcome, run_tasks
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model


def compare(
    table: Table,
    *,
    models: Iterable[Model | str] | Model | str = (),
    k: Iterable[int] | int = (),
    methods: Iterable[Method] | str | Algorithm = METHODS_BY_DEFAULT,
    seed: int | None = 0,
    metrics: Iterable[str] | None = None,
    measures: Mapping[str, Callable[[Release], float]] | None = None,
    utility: str | None = None,
    risk: bool = False,
    processes: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
) -> Comparison:
    """Make a release by every method for every model, each in a process of its own.

    A run that fails, or whose method and model do not go together, is a row that says why.

    models: privacy models or their expressions; k: each is joined, as k-anonymity, with each model.
    methods: names, pairs of a name and its options, or instances.
    seed: for methods that draw at random.
    metrics: names from METRICS; by default all that are defined for a release.
    measures: further figures by name, each a function of the release from an importable module.
    utility: a column that models are to learn: how well they do, and `utility loss`, 0 to 1.
    risk: whether `expected risk` is counted, the share of people found by who knows everybody.
    processes: how many runs at a time; by default one for each core.
    folder: where finished runs are kept: called again, `compare` goes on from there.
    time_limit: seconds that a run may take, its process's start included.
    """
    trials = grid(models, k, methods, seed)
    asked = check_asked(metrics, measures or {})
    check_askable(table, None)
    plain = fresh(table)
    figures = _figures(plain, utility, risk, measures or {})
    bench = Bench(plain, asked, figures)
    print_of_table = fingerprint(plain) if folder is not None else ""
    tasks = {identify(trial, print_of_table, bench): trial for trial in trials}
    found = run_tasks(
        tasks,
        bench,
        processes=processes,
        folder=None if folder is None else Path(folder),
        time_limit=time_limit,
    )
    return Comparison.of([(trial, found[name]) for name, trial in tasks.items()], bench.measures)


def _figures(
    table: Table,
    utility: str | None,
    risk: bool,
    measures: Mapping[str, Callable[[Release], float]],
) -> dict[str, Callable[[Release], float]]:
    """Return the figures beside the metrics: of risk and learning first, then the caller's."""
    found: dict[str, Callable[[Release], float]] = {}
    if risk:
        from shoal.comparison.finding import NAME, expected_risk

        found[NAME] = expected_risk
    if utility is not None:
        from shoal.comparison.learning import learned

        found |= learned(table, utility)
    taken = [name for name in measures if name in found]
    if taken:
        raise InputError(
            f"measure {taken[0]!r}: `utility` or `risk` brings one of this name; rename yours"
        )
    return {**found, **measures}


__all__ = ["METHODS_BY_DEFAULT", "Comparison", "Outcome", "Trial", "compare", "run_tasks"]
