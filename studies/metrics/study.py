"""Whether information-loss metrics predict which of two releases is more useful to a learner.

Repeats chapters 3 and 4 of de Spoelberch, "The limits of information loss metrics as measures for
utility", 2020: many releases of four tables, twelve metrics, six utilities; then single metrics,
regressions over all of them, and how far those carry. Published figures stand beside ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from shoal.datasets import random_k
from shoal.errors import InputError
from studies.metrics.releases import ALGORITHMS, FOLDS, TABLES, measure
from studies.runs import Task, measure_in_parallel

RELEASES, FULL_RELEASES = 100, 200
ADULT_ROWS = 6_000  # by default; --full has all
_BATCH = 20  # releases to a process, which takes two seconds to start
_APART = 100_000  # seeds of two cells lie that far apart


def run(out: Path, *, full: bool, data: str, releases: int | None = None) -> Path:
    """Measure, analyse, draw and judge; returns the page."""
    from studies.metrics.sections import write_study

    tables = tuple(TABLES) if data == "all" else (data,)
    count = (FULL_RELEASES if full else RELEASES) if releases is None else releases
    if count < 4:
        raise InputError(f"releases must be 4 or more, not {count}: some are held out")
    tasks = list(tasks_for(tables, count, full=full))
    rows = measure_in_parallel(tasks, measure, out / "releases", batch=_BATCH, stage="releases")
    return write_study(out, rows, full=full)


def tasks_for(tables: Sequence[str], releases: int, *, full: bool) -> Iterator[Task]:
    """Yield every release of the study, the slow tables first; k = 2 + Poisson(1)."""
    for table in sorted(tables, key=["ring", "adult", "heart", "cmc"].index):
        for algorithm in reversed(ALGORITHMS):
            place = list(TABLES).index(table) * len(ALGORITHMS) + ALGORITHMS.index(algorithm)
            for number, k in enumerate(random_k(releases, place)):
                yield {
                    "table": table,
                    "algorithm": algorithm,
                    "release": number,
                    "k": k,
                    "seed": place * _APART + number,
                    "rows": ADULT_ROWS if table == "adult" and not full else None,
                    "folds": FOLDS,
                }
