"""Job: the cost of work on a release of a given size; making the release is not counted."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jobs import answer, receive
from meter import metered

FOLDER, JOB = receive()

import shoal  # noqa: E402

MODEL = shoal.KAnonymity(5)


def main() -> None:
    work: Callable[[Any], Callable[[], Any]] = {
        "mondrian": mondrian,
        "metrics": metrics,
        "verify": verify,
        "report": report,
        "assess": assess,
        "anneal": partial(anneal, steps=25),
        "default": anneal,
    }[JOB["work"]]
    work(patients(600))()  # loads the kernels
    prepared = work(patients(JOB["rows"]))
    with metered() as cost:
        result = prepared()
    losses = {"loss": shoal.metrics.gcp(result)} if JOB["work"] in ("anneal", "default") else {}
    answer(FOLDER, {**cost, **losses, **JOB})


def patients(rows: int) -> Any:
    """Return a generated table."""
    return shoal.datasets.patients(rows, seed=1)


def metrics(table: Any) -> Callable[[], object]:
    """Evaluate every metric that is defined."""
    release = shoal.anonymize(table, MODEL)
    return lambda: shoal.metrics.evaluate(release)


def verify(table: Any) -> Callable[[], object]:
    """Check a released file."""
    release = shoal.anonymize(table, MODEL)
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "released.parquet"
    release.write(path)
    names = [column.name for column in table.quasi_columns]
    return lambda: shoal.check(path, k=5, quasi=names)


def report(table: Any) -> Callable[[], object]:
    """Write the report of a release."""
    release = shoal.anonymize(table, MODEL)
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "report.html"
    return lambda: release.report(path)


def assess(table: Any) -> Callable[[], object]:
    """Estimate how many people are found."""
    release = shoal.anonymize(table, MODEL)
    return lambda: shoal.risk.assess(release, half_width=0.01, seed=1)


def mondrian(table: Any) -> Callable[[], object]:
    """Anonymize by Mondrian, with hierarchies, as `auto` does."""
    return lambda: shoal.anonymize(table, MODEL, "mondrian")


def anneal(table: Any, **options: Any) -> Callable[[], object]:
    """Anonymize by annealing."""
    return lambda: shoal.anonymize(table, MODEL, "anneal", seed=1, **options)


main()
