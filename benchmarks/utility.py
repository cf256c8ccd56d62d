"""Section utility: the cost of learning from releases, and of making the releases of a study."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, runs_grid
from jobs import run_each
from tables import NO_ADULT, have_adult

LIMIT = 600
RELEASES = 200  # that the study makes of a table, per setting
MEASURED = 20  # of them; with `full` all
WAYS = {
    "datafly": "random ordered trees",
    "datafly-shuffled": "shuffled trees",
    "mondrian": "permuted orders",
}


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, every release of the study."""
    if not have_adult():
        return {"runs": NO_ADULT}
    return {"runs": run_each("job_utility.py", _jobs(full), limit=LIMIT)}


def _jobs(full: bool) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = {
        "learning, adult k=5, 4 models x 5 folds": {"kind": "learning", "raw": False},
        "learning, adult k=5, raw rows beside": {"kind": "learning", "raw": True},
        "predictive, adult k=5, a target": {"kind": "predictive", "target": "salary-class"},
        "predictive, adult k=5, no target": {"kind": "predictive", "target": None},
    }
    count = RELEASES if full else MEASURED
    for algorithm, drawn in WAYS.items():
        name = f"{RELEASES} releases, {algorithm.partition('-')[0]}, {drawn}"
        jobs[name] = {
            "kind": "releases", "algorithm": algorithm, "releases": RELEASES, "count": count,
        }  # fmt: skip
    return jobs


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "utility: learning from releases of adult, 30,162 rows"
    caption = (
        "Learning and predictive: a release by Mondrian, made before the clock starts, eight "
        "quasi-identifiers; four models and five folds, features included. Predictive: medians of "
        "five, kernels loaded. Releases: the metrics-vs-utility study's, twelve quasi-identifiers, "
        "k = 2 + Poisson(1), verification included."
    )
    return [runs_grid(title, caption, result, COST, _remark)]


def _remark(row: Row) -> str:
    if "loss" in row:
        return f"loss {row['loss']:.4f}"
    if "auroc" in row:
        beside = "" if row["raw"] is None else f", from raw rows {row['raw']:.4f}"
        return f"gradient boosting: AUROC {row['auroc']:.4f}{beside}"
    if row["count"] == row["releases"]:
        return f"k from {row['least']} to {row['greatest']}"
    return f"{row['count']} measured, scaled; k from {row['least']} to {row['greatest']}"
