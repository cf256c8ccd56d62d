"""Section robust: networks trained and attacked, and the same attack by foolbox."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, figure, runs_grid
from jobs import HERE, bench_python, installed, run_each, scratch

LIMIT = 300
TRAIN = "5 digits networks, 30 epochs"
ONE, ONE_BY_THEM = "C&W, 81 examples, one network", "foolbox C&W, the same"
FIVE, FIVE_BY_THEM = "C&W, 9 examples, each of 5 networks", "foolbox C&W, one after another"
SETTINGS = {"steps": 1000, "searches": 9, "rate": 0.01, "constant": 1e-3}


def measure(*, full: bool) -> dict[str, Any]:
    """Train, then attack what was trained; with `full`, the attack as published too."""
    one, five = ({"pictures": p, "networks": n, "settings": SETTINGS} for p, n in ((9, 1), (1, 5)))
    ours: dict[str, dict[str, Any]] = {
        TRAIN: {"kind": "train"},
        ONE: {"kind": "attack", **one},
        FIVE: {"kind": "attack", **five},
    }
    if full:
        ours["C&W as published"] = {**ours[ONE], "settings": {**SETTINGS, "published": True}}
    theirs = {ONE_BY_THEM: one, FIVE_BY_THEM: five}
    python = bench_python(HERE.parent)
    with scratch() as shared:
        for job in (*ours.values(), *theirs.values()):
            job["shared"] = shared
        rows = run_each("job_robust.py", ours, limit=LIMIT)
        rows |= run_each("job_foolbox.py", theirs, limit=LIMIT, python=python)
    for pair in ((ONE, ONE_BY_THEM), (FIVE, FIVE_BY_THEM)):
        _compare(*(rows[name] for name in pair))
    side_by_side = (TRAIN, ONE, ONE_BY_THEM, FIVE, FIVE_BY_THEM)
    rows = {name: rows[name] for name in (*side_by_side, *rows)}
    return {"runs": rows, "versions": installed(python, "foolbox")}


def _compare(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Add the speed of ours relative to foolbox, and the ratio of the lengths of examples."""
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
        "right, toward every other class. Lengths are compared where both succeeded."
    )
    return [runs_grid(title, caption, result, FIGURES, _remark)]


def _remark(row: Row) -> str:
    if "gain" not in row:
        return ""
    return f"{row['gain']:.1f} x foolbox's speed, L2 {row['length_ratio']:.4f} of its"
