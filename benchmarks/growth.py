"""Section growth: the cost of Mondrian, checks, metrics, report, risk and annealing by rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rich.table import Table as Grid

from grids import load_note
from jobs import run_each
from scaling import slope
from targets import verdict

LIMIT = 900
SIZES = (30_000, 300_000, 3_000_000)
WORK = ("mondrian", "metrics", "verify", "report", "assess", "anneal")
LARGEST = {"anneal": 1_000_000}  # rows


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each kind of work on generated tables, each in a fresh process.

    full: also assess and anneal a million rows with the default schedule.
    """
    jobs = {
        f"{work}, {min(rows, LARGEST.get(work, rows)):,} rows": {
            "work": work,
            "rows": min(rows, LARGEST.get(work, rows)),
        }
        for work in WORK
        for rows in SIZES
    }
    if full:
        jobs["assess, 1,000,000 rows"] = {"work": "assess", "rows": 1_000_000}
        jobs["anneal, 1,000,000 rows, default"] = {"work": "default", "rows": 1_000_000}
    return {"runs": run_each("job_growth.py", jobs, limit=LIMIT)}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    caption = (
        "Patients, k = 5, kernels loaded; mondrian makes the releases of all but the first and "
        "the last kind of work, before the clock starts. Exponent: "
        "CPU grows as rows to this power, since the line before. mondrian includes the check of "
        "the release; verify reads a Parquet file; assess is the expected number of people found "
        "within 1 %; anneal has a short schedule, 25 steps a record, and ends at a million rows."
    )
    grid = Grid(title="growth", caption=f"{caption} {load_note(result)}")
    grid.add_column("what", no_wrap=True)
    for heading in ("CPU s", "wall s", "peak MB", "exponent"):
        grid.add_column(heading, justify="right")
    grid.add_column("target, remarks")
    grown = _exponents(result["runs"])
    for name, row in result["runs"].items():
        if "cpu" not in row:
            grid.add_row(name, "", "", "", "", row["note"])
            continue
        figures = f"{row['cpu']:.2f}", f"{row['wall']:.2f}", f"{row['peak_mb']:,.0f}"
        remark = f"loss {row['loss']:.4f} a record" if "loss" in row else verdict(name, row)
        grid.add_row(name, *figures, grown.get(name, ""), remark)
    return [grid]


def _exponents(runs: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the exponent of each run since the smaller one of the same work."""
    found = {}
    for (_, small), (name, large) in pairwise(runs.items()):
        if small.get("work") == large.get("work") and "cpu" in small and "cpu" in large:
            found[name] = f"{slope([small, large]):.2f}"
    return found
