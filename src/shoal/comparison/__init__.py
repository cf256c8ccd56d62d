"""Compare many releases of one table: a grid of runs, a tidy table, and the Pareto front.

    grid         every method with every model (`grid.py`)
    run_tasks    each run in a process of its own (`runner.py`, `worker.py`)
    Bench        makes the release of a run and measures it (`bench.py`, `learning.py`)
    identify     names a run by its table, model, method, options, seed, figures and version, so
                 that a repeated comparison only runs what is new
    Comparison   one row for each run, the front and the picture (`results.py`)

A run that fails is a row with its reason.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.comparison.bench import COST, RISKS, RUN, SHAPE, Bench, check_asked, fresh
from shoal.comparison.grid import METHODS_BY_DEFAULT, Method, Trial, grid, options_of
from shoal.comparison.results import Comparison
from shoal.comparison.runner import Outcome, run_tasks
from shoal.errors import InputError
from shoal.methods import check_askable, versions
from shoal.methods.algorithm import Algorithm
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.wording import plain
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.table.hierarchy import Hierarchy

__all__ = [
    "METHODS_BY_DEFAULT",
    "Comparison",
    "Outcome",
    "Trial",
    "compare",
    "run_tasks",
]


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
    """Make a release by every method for every model, each in its own process.

    A run that fails, or whose method does not support the model, is a row with the reason.

    Parameters:
        table: The table to release.
        models: Privacy models or their expressions.
        k: Values of k; each is joined, as k-anonymity, with each model.
        methods: Names, pairs of a name and its options, or instances.
        seed: The random seed, for randomized methods.
        metrics: Names from METRICS; by default all that are defined for a release.
        measures: Further figures by name, each a function of a release from an importable module.
        utility: A column for models to predict; adds their scores and `utility loss`, 0 to 1.
        risk: Whether to estimate `expected risk`, the expected share of people whom an attacker
            finds who knows the quasi-identifiers of everyone.
        processes: The number of parallel runs; by default one per core.
        folder: The folder for finished runs, from which a repeated call resumes.
        time_limit: The seconds that a run may take, including the start of its process.

    Returns:
        The comparison, one row per run.

    Raises:
        InputError: A model, a method, a metric or another option is wrong.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> table = shoal.read(rows, roles={"age": "quasi", "ill": "sensitive"})
    >>> compared = compare(table, k=2, methods="mondrian", metrics=["ncp"])
    >>> compared, round(compared.best("ncp")["ncp"], 3)
    (Comparison(done=1), 0.088)
    """
    trials = grid(models, k, methods, seed)
    asked = check_asked(metrics, measures or {})
    check_askable(table, None)
    plain = fresh(table)
    figures = _figures(plain, utility, risk, measures or {})
    bench = Bench(plain, asked, figures)
    # without a folder nothing is looked up, so names of runs need not depend on the data
    print_of_table = fingerprint(plain) if folder is not None else ""
    tasks = {identify(trial, print_of_table, bench): trial for trial in trials}
    outcomes = run_tasks(
        tasks,
        bench,
        processes=processes,
        folder=None if folder is None else Path(folder),
        time_limit=time_limit,
    )
    return Comparison.of([(trial, outcomes[name]) for name, trial in tasks.items()], bench.measures)


def _figures(
    table: Table,
    utility: str | None,
    risk: bool,
    measures: Mapping[str, Callable[[Release], float]],
) -> dict[str, Callable[[Release], float]]:
    """Return the figures in addition to the metrics: risk and utility first, then the caller's."""
    figures: dict[str, Callable[[Release], float]] = {}
    if risk:
        from shoal.comparison.bench import NAME, expected_risk

        figures[NAME] = expected_risk
    if utility is not None:
        from shoal.comparison.learning import learned

        figures |= learned(table, utility)
    taken = [name for name in measures if name in figures]
    if taken:
        raise InputError(
            f"measure {taken[0]!r}: `utility` or `risk` adds a measure of this name; rename yours"
        )
    return {**figures, **measures}


def identify(trial: Trial, table: str, bench: Bench) -> str:
    """Return a name for a run, the same on every machine and in every process."""
    identity = {
        "table": table,
        "method": [trial.method, plain(type(trial.algorithm))],
        "options": options_of(trial.algorithm),
        "model": str(trial.model),
        "seed": trial.seed,
        "metrics": bench.metrics,
        "measures": plain(bench.measures),
        "columns": [*RUN, *COST, *SHAPE, *RISKS],
        "shoal": versions().get("shoal"),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]


def fingerprint(table: Table) -> str:
    """Return a digest of everything that a method reads from a table.

    This includes cells, kinds, weights, hierarchies, and the person and household of each row.
    """
    digest = hashlib.sha256()
    for column in table.columns:
        settings = (column.name, column.role, column.kind, float(column.weight), column.bounds)
        digest.update(repr(settings).encode())
        digest.update(column.codes.tobytes())
        digest.update(_bytes(column.values))
        if column.hierarchy is not None:
            _add_hierarchy(digest, column.hierarchy)
    if table.counts is not None:
        digest.update(table.counts.tobytes())
    for what, unit in (("person", table.person), ("household", table.household)):
        if unit is not None:
            digest.update(what.encode())
            digest.update(unit.ids.tobytes())
    return digest.hexdigest()


def _add_hierarchy(digest: Any, hierarchy: Hierarchy) -> None:
    for level in hierarchy.levels:
        digest.update(repr(level.labels).encode())
        digest.update(level.groups.tobytes())
        if level.bounds is not None:
            digest.update(level.bounds.tobytes())


def _bytes(values: Any) -> Any:
    """Return an Arrow array as the bytes of a file: type, nulls, values."""
    batch = pa.record_batch([values], names=["values"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()
