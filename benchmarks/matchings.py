"""Section matchings: expected cracks, exact and walked, beside one permanent of a peer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from grids import COST, figure, runs_grid
from jobs import HERE, JobError, bench_python, installed, run_job, scratch

LIMIT = 300
DENSE: dict[str, Any] = {"shape": "dense", "kind": "exact", "times": 5}


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, the peer on larger matrices too."""
    rows: dict[str, dict[str, Any]] = {}
    python = bench_python(HERE.parent)
    with scratch() as named:
        for place, (name, job) in enumerate(_jobs(full)):
            runner = python if job["kind"] == "peer" else Path(sys.executable)
            folder = Path(named) / str(place)
            try:
                rows[name] = run_job("job_matchings.py", job, folder, python=runner, limit=LIMIT)
            except JobError as failed:
                rows[name] = {"note": str(failed)}
    for name, row in rows.items():
        ours = rows.get(f"Ψ, dense, {name.removeprefix('one permanent, dense, ')}", {})
        if ours is not row and "cpu" in row and "cpu" in ours:
            row["ratio"] = row["cpu"] / ours["cpu"]
    try:
        versions = installed(python, "thewalrus")
    except subprocess.CalledProcessError:
        versions = {"thewalrus": "not installed in .venv-bench"}
    return {"runs": rows, "versions": versions, "load": os.getloadavg()[0]}


def _jobs(full: bool) -> list[tuple[str, dict[str, Any]]]:
    band = {"shape": "band", "size": 1000, "half": 4}
    return [
        *((f"Ψ, dense, n={n}", {**DENSE, "size": n}) for n in (20, 25)),
        *((f"Ψ, dense, n={n}", {**DENSE, "size": n, "times": 1}) for n in (28, 30)),
        ("Ψ, dense, n=28, two threads", {**DENSE, "kind": "threads", "size": 28, "times": 3,
                                         "threads": 2}),
        ("Ψ, band of half-width 4, n=1000", {**DENSE, **band}),
        ("Ψ, 4 kinds of rows and columns, n=100", {**DENSE, "shape": "kinds", "kinds": 4,
                                                   "size": 100}),
        ("all n² marginals, dense, n=24", {**DENSE, "kind": "every", "size": 24, "times": 1}),
        ("matchings counted, zeros and ones, n=26", {**DENSE, "kind": "count", "size": 26,
                                                     "shape": "zeros and ones", "times": 1}),
        ("Ψ within 1 %, dense, n=10,000", {**DENSE, "kind": "walk", "size": 10_000, "times": 1}),
        ("frequency attack, 1,000 items", {**DENSE, "kind": "frequencies", "shape": "none",
                                           "size": 1_000, "times": 3}),
        *(
            (f"one permanent, dense, n={n}", {**DENSE, "kind": "peer", "size": n, "times": 3})
            for n in ((20, 25, 28, 30) if full else (20, 25))
        ),
    ]  # fmt: skip


FIGURES = {
    "CPU s": figure("cpu", ".3f"),
    "wall s": figure("wall", ".3f"),
    "×": figure("ratio", ".1f"),
    "two threads": figure("gain", ".2f"),
    "bound on Ψ": figure("error", ".0e"),
    "route": figure("route", ""),
    "peak MB": COST["peak MB"],
}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    told = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    caption = (
        "Ψ comes with the permanent, the probability of each true pair, and an error bound; the "
        "peer's line is its permanent alone. ×: the peer's CPU against ours at the same size. Two "
        "threads: how many times as fast by the clock, best of 3 in turn, which means little on "
        "busy cores. Median of 5, once from n=28. The frequency attack knows each item's frequency "
        "to within random widths, 13 candidates on average. Of a walk the bound is half its 95 % "
        f"interval. Load {result['load']:.1f}.\n{told}"
    )
    title = "matchings: exact values and walks, kernels loaded"
    return [runs_grid(title, caption, result["runs"], FIGURES, lambda row: row.get("note", ""))]
