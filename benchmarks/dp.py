"""Section dp: the cost of differentially private releases, on one core."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, figure, runs_grid
from jobs import run_each
from tables import PATIENTS_INSTEAD, have_adult

LIMIT = 300
TIMES = 3


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process."""
    return {"runs": run_each("job_dp.py", _jobs(full), limit=LIMIT)}


def _jobs(full: bool) -> dict[str, dict[str, Any]]:
    table = "adult 10" if have_adult() else "patients"
    options = {"epsilon": 1.704, "choice": 0.5, "beta": 0.7, "n0": 30_000}
    release = {"kind": "release", "table": table, "k": 75, "times": 3 * TIMES if full else TIMES}
    node = {"kind": "node", "table": table, "k": 75}
    return {
        f"safe-la {table} k=75": {**release, "options": options},
        f"safe-la {table} k=75, published": {
            **release,
            "options": {**options, "published": True},
        },
        f"best node {table}, expected rows": {**node, "score": "expected"},
        f"best node {table}, published score": {**node, "score": "published"},
        "planner, any k and β": {"kind": "planner"},
    }


FIGURES = {
    **COST,
    "P(best)": figure("chance", ".4f"),
    "nodes": figure("nodes", ","),
    "rows": figure("rows", ","),
}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "dp: differentially private releases, on one core"
    title += "" if have_adult() else PATIENTS_INSTEAD
    caption = (
        f"Releases: medians of {TIMES} after a first run, drawn by a secure generator, every node "
        "scored again, verification included. P(best): computed probability of the best node "
        "at ε′ = 0.1, β = 0.7."
    )
    return [runs_grid(title, caption, result, FIGURES, _remark)]


def _remark(row: Row) -> str:
    if "slowest_ms" in row:
        return f"slowest of {row['questions']} questions: {row['slowest_ms']:.1f} ms"
    return ""
