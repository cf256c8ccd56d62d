"""Section risk: the expected number of people found in a release, and the cost of computing it."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, runs_grid
from jobs import run_each
from tables import have_adult

LIMIT = 600
FIVE = ["sex", "age", "race", "marital-status", "education"]
ADULT: dict[str, Any] = {"table": "adult", "k": 5, "target": 0.01}


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, a million rows that overlap too."""
    return {"runs": run_each("job_risk.py", _jobs(full), limit=LIMIT)}


def _jobs(full: bool) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = {
        "Ψ, adult, 4,096 boxes that overlap, 8 known": {**ADULT, "method": "halves"},
        "Ψ, adult, 4,096 boxes that overlap, 5 known": {**ADULT, "method": "halves", "known": FIVE},
        "Ψ, adult, greedy, 8 known": {**ADULT, "method": "greedy"},
        "Ψ, adult, greedy, 5 known": {**ADULT, "method": "greedy", "known": FIVE},
    }
    patients = {"table": "patients", "rows": 1_000_000, "k": 5, "target": 0.01}
    if not have_adult():
        jobs = {}
    jobs["Ψ, 1M patients, flash: no overlaps"] = {**patients, "method": "flash"}
    if full:
        jobs["Ψ, 1M patients, mondrian"] = {**patients, "method": "mondrian"}
    return jobs


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "risk: expected people found, kernels loaded"
    caption = (
        "The release is made before the clock starts, k = 5; 4,096 boxes: the rows halved twelve "
        "times at the middle row of the widest column. Within 1 % where it is sampled."
    )
    return [runs_grid(title, caption, result, COST, _remark)]


def _remark(row: Row) -> str:
    half = (row["high"] - row["low"]) / 2
    return (
        f"{row['value']:,.0f} ± {half:,.1f} {row['way']}; {row['classes']:,} classes, "
        f"Σ 1/degree {row['naive']:,.0f}"
    )
