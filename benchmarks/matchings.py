"""Section matchings: expected re-identifications, exact and sampled, and a peer's permanent."""

from __future__ import annotations

import subprocess
from typing import Any

from grids import COST, figure, runs_grid
from jobs import HERE, bench_python, installed, run_each

LIMIT = 300
PEER = "one permanent, dense, "
DENSE: dict[str, Any] = {"shape": "dense", "kind": "exact", "times": 5}


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, the peer on larger matrices too."""
    python = bench_python(HERE.parent)
    ours = run_each("job_matchings.py", dict(_jobs()), limit=LIMIT)
    theirs = run_each("job_matchings.py", _peer_jobs(full), limit=LIMIT, python=python)
    for name, row in theirs.items():
        beside = ours[f"Ψ, dense, {name.removeprefix(PEER)}"]
        if "cpu" in row and "cpu" in beside:
            row["ratio"] = row["cpu"] / beside["cpu"]
    try:
        versions = installed(python, "thewalrus")
    except subprocess.CalledProcessError:
        versions = {"thewalrus": "not installed in .venv-bench"}
    return {"runs": {**ours, **theirs}, "versions": versions}


def _jobs() -> list[tuple[str, dict[str, Any]]]:
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
    ]  # fmt: skip


def _peer_jobs(full: bool) -> dict[str, dict[str, Any]]:
    sizes = (20, 25, 28, 30) if full else (20, 25)
    return {f"{PEER}n={n}": {**DENSE, "kind": "peer", "size": n, "times": 3} for n in sizes}


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
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    caption = (
        "Ψ comes with the permanent, the probability of each true pair, and an error bound; the "
        "peer's line is its permanent alone. ×: the peer's CPU against ours at the same size. Two "
        "threads: speed-up in wall time, best of 3 in turn, which means little on "
        "busy cores. Median of 5, once from n=28. The frequency attack knows each item's frequency "
        "to within random widths, 13 candidates on average. Of a walk the bound is half its 95 % "
        f"interval. The peer: {versions}."
    )
    title = "matchings: exact values and walks, kernels loaded"
    return [runs_grid(title, caption, result, FIGURES)]
