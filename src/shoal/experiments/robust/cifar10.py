"""Networks that vote and answer from noise, under attack, on CIFAR-10.

Repeats chapter 4 of Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, on small photographs of ten kinds of things.
"""

from __future__ import annotations

from pathlib import Path


def run(out: Path, *, full: bool, data: str) -> Path:
    """Train, attack, draw and judge; returns the page."""
    from shoal.experiments.robust.study import run_on

    return run_on(out, data, full=full)
