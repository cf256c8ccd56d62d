"""Section release: the cost of measuring, comparing and reporting releases."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, runs_grid
from jobs import run_each
from tables import have_adult

LIMIT = 900


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process."""
    jobs: dict[str, dict[str, Any]] = {
        "all metrics, adult 9": {"kind": "metrics", "table": "adult 9"},
        "all metrics, 1M patients": {"kind": "metrics", "table": "patients", "rows": 1_000_000},
        "report, 1M patients": {"kind": "report", "table": "patients", "rows": 1_000_000},
        "compare, 12 runs, two at a time": {"kind": "compare", "rows": 10_000},
    }
    if not have_adult():
        del jobs["all metrics, adult 9"]
    return {"runs": run_each("job_release.py", jobs, limit=LIMIT)}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "release: metrics, report, comparison"
    caption = (
        "Releases by Mondrian, k = 5; the release is made before the clock starts. Compared "
        "with one at a time in wall time; 10,000 patients, mondrian, greedy and anneal, four "
        "values of k."
    )
    return [runs_grid(title, caption, result, COST, _remark)]


def _remark(row: Row) -> str:
    if "megabytes" in row:
        return f"{row['megabytes']:.2f} MB"
    if "gain" in row:
        return f"{row['gain']:.2f} x, {row['count']} done"
    return f"{row['count']} metrics"
