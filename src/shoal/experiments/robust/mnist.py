"""Networks that vote and answer from noise, under attack, on MNIST.

Repeats chapter 4 of Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, on handwritten digits, or the 8 × 8 digits of scikit-learn, which need no files.
"""

from __future__ import annotations

from pathlib import Path


def run(out: Path, *, full: bool, data: str) -> Path:
    """Train, attack, draw and judge; returns the page."""
    from shoal.experiments.robust.study import run_on

    return run_on(out, data, full=full)
