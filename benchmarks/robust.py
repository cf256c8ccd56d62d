"""Section robust: networks trained and attacked, and the same attack by foolbox."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from grids import COST, Row, figure, runs_grid
from jobs import HERE, JobError, bench_python, installed, run_job, scratch

LIMIT = 300
TRAIN = "5 digits networks, 30 epochs"
ONE, ONE_BY_THEM = "C&W, 81 examples, one network", "foolbox C&W, the same"
FIVE, FIVE_BY_THEM = "C&W, 9 examples, each of 5 networks", "foolbox C&W, one after another"
SETTINGS = {"steps": 1000, "searches": 9, "rate": 0.01, "constant": 1e-3}


def measure(*, full: bool) -> dict[str, Any]:
    """Train, then attack what was trained; with `full`, the attack as published too."""
    one, five = ({"pictures": p, "networks": n, "settings": SETTINGS} for p, n in ((9, 1), (1, 5)))
    jobs: dict[str, dict[str, Any]] = {
        TRAIN: {"kind": "train"},
        ONE: {"kind": "attack", **one},
        ONE_BY_THEM: one,
        FIVE: {"kind": "attack", **five},
        FIVE_BY_THEM: five,
    }
    if full:
        jobs["C&W as published"] = {**jobs[ONE], "settings": {**SETTINGS, "published": True}}
    python = bench_python(HERE.parent)
    rows: dict[str, Any] = {}
    with scratch() as named:
        for place, (name, job) in enumerate(jobs.items()):
            theirs = name in (ONE_BY_THEM, FIVE_BY_THEM)
            script = "job_foolbox.py" if theirs else "job_robust.py"
            runner = python if theirs else Path(sys.executable)
            folder = Path(named) / str(place)
            try:
                asked = {**job, "shared": named}
                rows[name] = run_job(script, asked, folder, python=runner, limit=LIMIT)
            except JobError as failed:
                rows[name] = {"note": str(failed)}
    for pair in ((ONE, ONE_BY_THEM), (FIVE, FIVE_BY_THEM)):
        _compare(*(rows[name] for name in pair))
    return {"runs": rows, "versions": installed(python, "foolbox"), "load": os.getloadavg()[0]}


def _compare(ours: Row, theirs: Row) -> None:
    """Tell how often ours costs less, and how long its examples are against foolbox's."""
    if "note" not in ours and "note" not in theirs:
        ours["gain"] = theirs["cpu"] / ours["cpu"]
        both = [pair for pair in zip(ours["lengths"], theirs["lengths"], strict=True) if all(pair)]
        sums = [sum(column) for column in zip(*both, strict=True)]
        ours["length_ratio"] = sums[0] / sums[1]
    for row in (ours, theirs):
        row.pop("lengths", None)


FIGURES = {
    **COST,
    "success": figure("success", ".1%"),
    "mean L2": figure("length", ".4f"),
    "accuracy": figure("accuracy", ".3f"),
}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "robust: networks for the 8 × 8 digits, and Carlini–Wagner on them"
    caption = (
        "Each in its own process, the call only. At most 9 constants × 1,000 steps, rate 0.01, "
        "c from 0.001, κ = 0, abort early, as foolbox "
        f"{result['versions']['foolbox']}; one thread. The first pictures that the network gets "
        "right, toward every other class. Lengths are compared where both succeeded. "
        f"Load {result['load']:.1f} on {os.cpu_count()} cores at the end."
    )
    return [runs_grid(title, caption, result["runs"], FIGURES, _remark)]


def _remark(row: Row) -> str:
    if "gain" not in row:
        return ""
    return f"{row['gain']:.1f} x foolbox's speed, L2 {row['length_ratio']:.4f} of its"
