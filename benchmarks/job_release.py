"""Job: the cost of measuring, comparing and reporting a release, without making it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from jobs import answer, receive
from meter import metered

FOLDER, JOB = receive()

import shoal  # noqa: E402


def main() -> None:
    measured = {"metrics": metrics, "report": report, "compare": compare}
    answer(FOLDER, measured[JOB["kind"]]())


def release() -> Any:
    """Return a release of the requested table."""
    if JOB["table"] == "adult 9":
        table = shoal.datasets.load("adult", {"salary-class": "quasi"})
    else:
        table = shoal.datasets.patients(JOB["rows"], seed=1)
    return shoal.anonymize(table, shoal.KAnonymity(5))


def metrics() -> dict[str, Any]:
    """Evaluate every metric that is defined, once kernels are loaded."""
    small = shoal.anonymize(shoal.datasets.patients(500), shoal.KAnonymity(5))
    shoal.metrics.evaluate(small)
    made = release()
    with metered() as cost:
        found = shoal.metrics.evaluate(made)
    return {**cost, "count": len(found)}


def report() -> dict[str, Any]:
    """Write the report of a release."""
    made = release()
    with tempfile.TemporaryDirectory() as folder, metered() as cost:
        page = Path(folder) / "report.html"
        made.report(page)
        size = page.stat().st_size
    return {**cost, "megabytes": size / 1e6}


def compare() -> dict[str, Any]:
    """Compare twelve releases one after the other, and two at a time."""
    table = shoal.datasets.patients(JOB["rows"], seed=1)
    grid: dict[str, Any] = {"methods": ["mondrian", "greedy", "anneal"], "k": [3, 5, 10, 20]}
    shoal.compare(table.take(slice(0, 300)), **grid, processes=1)
    costs = []
    for processes in (1, 2):
        with metered() as cost:
            found = shoal.compare(table, **grid, processes=processes)
        costs.append(cost)
    return {**costs[1], "gain": costs[0]["wall"] / costs[1]["wall"], "count": len(found.done)}


main()
