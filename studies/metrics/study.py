"""Whether information-loss metrics predict which of two releases is more useful to a learner.

Repeats chapters 3 and 4 and the appendix of de Spoelberch, "The limits of information loss metrics
as measures for utility", 2020: many releases of four tables, twelve metrics, six utilities; then
single metrics, regressions over all of them, and how far those carry. Published figures stand
beside ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from shoal.datasets import random_k
from shoal.errors import InputError
from studies.metrics.releases import ALGORITHMS, FOLDS, MONDRIANS, TABLES, measure
from studies.runs import Row, Task, measure_in_parallel

RELEASES, FULL_RELEASES = 100, 200
OTHER_RELEASES = 30  # at most, by each Mondrian that is no part of the published study
ADULT_ROWS = 6_000  # by default; --full has all
_BATCH = 20  # releases to a process, which takes two seconds to start
_APART = 100_000  # seeds of two cells lie that far apart


def run(out: Path, *, full: bool, data: str, releases: int | None = None) -> Path:
    """Measure, analyse, draw and judge; returns the page."""
    from studies.metrics import accuracy_by_k
    from studies.metrics.sections import write_study

    tables = tuple(TABLES) if data == "all" else (data,)
    count = (FULL_RELEASES if full else RELEASES) if releases is None else releases
    if count < 4:
        raise InputError(f"releases must be 4 or more, not {count}: some are held out")
    tasks = list(tasks_for(tables, count, full=full))
    rows = measure_in_parallel(tasks, measure, out / "releases", batch=_BATCH, stage="releases")
    by_k: Sequence[Row] = ()
    if accuracy_by_k.TABLE in tables:
        tasks = list(accuracy_by_k.tasks_for(full=full))
        by_k = measure_in_parallel(
            tasks, accuracy_by_k.measure, out / "accuracy-by-k", batch=_BATCH, stage="figure 3.4"
        )
    return write_study(out, rows, by_k, full=full)


def tasks_for(tables: Sequence[str], releases: int, *, full: bool) -> Iterator[Task]:
    """Yield every release of the study, the slow tables first; k = 2 + Poisson(1).

    Releases by other Mondrians have the orders and the k of the published one's.
    """
    others = [name for name in MONDRIANS if name not in ALGORITHMS]
    for table in sorted(tables, key=["ring", "adult", "heart", "cmc"].index):
        for algorithm in (*reversed(ALGORITHMS), *others):
            like = "mondrian" if algorithm in others else algorithm
            place = list(TABLES).index(table) * len(ALGORITHMS) + ALGORITHMS.index(like)
            count = min(releases, OTHER_RELEASES) if algorithm in others else releases
            for number, k in enumerate(random_k(count, place)):
                yield {
                    "table": table,
                    "algorithm": algorithm,
                    "options": MONDRIANS.get(algorithm, {}),
                    "release": number,
                    "k": k,
                    "seed": place * _APART + number,
                    "rows": ADULT_ROWS if table == "adult" and not full else None,
                    "folds": FOLDS,
                }
