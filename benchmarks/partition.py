"""Section partition: methods that group records, on one core."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, figure, runs_grid
from jobs import run_each
from tables import NO_ADULT, have_adult

LIMIT = 1800


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, the exact method to its full time."""
    if not have_adult():
        return {"runs": NO_ADULT}
    return {"runs": run_each("job_partition.py", _jobs(full), limit=LIMIT)}


def _jobs(full: bool) -> dict[str, dict[str, Any]]:
    adult = _job("anneal", 0, 8, 5, 1)
    jobs = {
        "greedy 100k x 8 k=3": _job("greedy", 100_000, 8, 3, 3),
        "greedy 500k x 8 k=10": _job("greedy", 500_000, 8, 10, 1),
        "k-member 20k x 8 k=5": _job("k-member", 20_000, 8, 5, 5),
        **{
            f"{name} 20k x 8 k={k}": _job(name, 20_000, 8, k, 3 if name != "anneal" else 1)
            for k in (5, 10)
            for name in ("mondrian", "sorted", "greedy", "anneal")
        },
        "anneal 100k x 8 k=5": _job("anneal", 100_000, 8, 5, 1),
        "anneal 100k x 8 k=5, two threads": {
            **_job("anneal", 100_000, 8, 5, 1), "kind": "threads", "threads": 2,
        },
        "anneal adult k=5": {**adult, "table": "adult"},
        "mondrian adult k=5": {**_job("mondrian", 0, 8, 5, 3), "table": "adult"},
        "anneal adult 2k k=5, bound": _bounded(2_000),
        "split-carry 100k x 4 k=3 S=3": _job("split-carry", 100_000, 4, 3, 1),
        "sorted 100k x 4 k=3, published": _job(
            "sorted", 100_000, 4, 3, 1, grouping="consecutive", order="variance"
        ),
        "greedy 100k x 4 k=3": _job("greedy", 100_000, 4, 3, 1),
        "doka-hungarian 5k x 4 k=4": {
            **_job("doka-hungarian", 5_000, 4, 4, 1), "model": "freeform-anonymity(4)",
        },
        **{
            f"{name} {rows // 1000}k x {width} k={k}, freeform": {
                **_job(name, rows, width, k, 1), "model": f"freeform-anonymity({k})",
            }
            for rows, width, k in ((5_000, 4, 4), (10_000, 8, 3))
            for name in ("doka-sort-greedy", "anneal")
        },
        "optimal 100 x 8 k=3, five draws": {
            **_job("optimal", 100, 8, 3, 5, time_limit=60.0), "kind": "draws",
        },
    }  # fmt: skip
    if full:
        five = {**_job("optimal", 100, 8, 5, 5, time_limit=300.0), "kind": "draws"}
        jobs["optimal 100 x 8 k=5, five draws"] = five
        jobs["anneal adult k=5, bound"] = _bounded(0)
    return jobs


def _job(name: str, rows: int, width: int, k: int, times: int, **options: Any) -> dict[str, Any]:
    table = {"table": "numbered", "rows": rows, "width": width, "k": k, "times": times}
    return {
        **table,
        "kind": "method",
        "method": name,
        "model": f"k-anonymity({k})",
        "options": options,
    }


def _bounded(rows: int) -> dict[str, Any]:
    """Return a job with the search for a lower bound of the loss, limited to five minutes."""
    job = _job("anneal", rows, 8, 5, 1, bound=True, bound_seconds=300.0)
    return {**job, "table": "adult"}


FIGURES = {
    **COST,
    "loss": figure("loss", ".4f"),
    "class": figure("class", ".4f"),
    "classes": figure("classes", ","),
}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "partition: methods that group records, on one core"
    caption = (
        "Medians where run more than once, after a small run that loads the kernels; "
        "verification included. Census rows with every attribute as a number (beyond 30,162 "
        "rows some attributes are another row's); adult: the eight attributes as they are. "
        "Loss: weighted penalties a record (GCP). Five draws: the longest, and the widest gap."
    )
    return [runs_grid(title, caption, result, FIGURES, _remark)]


def _remark(row: Row) -> str:
    if "gain" in row:
        return f"{row['gain']:.2f} x one thread by the clock, the same release"
    if "excess" in row:
        return f"≤ {100 * row['excess']:.1f} % above the best possible"
    if "proven" in row:
        return f"{row['proven']} of {len(row['each'])} proven, gap ≤ {100 * row['gap']:.2f} %"
    return ""
