"""The Meta-Metric: a regression of utility on all metrics, for one table, algorithm and utility.

de Spoelberch (2020), 3.6 and 4.2, gave auto-sklearn a day for each. Here FLAML searches for a
stated time (extra `automl`; what it finds depends on the machine's speed); without it the better of
ridge regression and gradient boosting is taken, by cross-validation. A tenth of the releases is
held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shoal.support.arrays import Counts, Floats
from studies.metrics.releases import METRICS, UTILITIES
from studies.runs import Row, Task, groups, measure_in_parallel

SPLITS = 5  # each with another tenth held out
SECONDS, FULL_SECONDS = 1.0, 60.0  # that FLAML searches, for each
_BATCH = 30  # to a process
STAND_IN = "ridge or boosting"


def engine() -> str:
    """Return the search for the regression: FLAML if it is installed."""
    there = [find_spec(name) is not None for name in ("flaml", "lightgbm", "xgboost")]
    return "FLAML" if all(there) else STAND_IN


def meta_metrics(rows: Sequence[Row], folder: Path, *, full: bool) -> list[Row]:
    """Train every Meta-Metric; return its predictions for releases that it has not seen.

    A row has the releases `held` out and the predictions for them, `said`; the first split also has
    predictions `elsewhere`: for all releases by another algorithm, or of another table.
    """
    chosen, seconds = engine(), FULL_SECONDS if full else SECONDS
    settings: Row = {"engine": chosen, "seconds": seconds if chosen == "FLAML" else None}
    settings |= {"of": [[t, a, len(part), part[0]["rows"]] for (t, a), part in _by_cell(rows)]}
    cells = dict(_by_cell(rows))
    tasks = [
        {"table": table, "algorithm": algorithm, "utility": utility, "split": split, **settings}
        for table, algorithm in cells
        for utility in UTILITIES
        for split in range(SPLITS)
    ]
    work = partial(train, cells=cells)
    return measure_in_parallel(tasks, work, folder, batch=_BATCH, stage="Meta-Metrics")


def train(task: Task, cells: dict[tuple[str, str], list[Row]]) -> Row:
    """Train one Meta-Metric and predict with it."""
    import sklearn.ensemble  # noqa: F401  what is loaded later would not be limited
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    own = (task["table"], task["algorithm"])
    cell = cells[own]
    held = held_out(len(cell), task["split"])
    rest = np.setdiff1d(np.arange(len(cell)), held)
    given, true = features(cell), np.array([row[task["utility"]] for row in cell])
    search = _by_flaml if task["engine"] == "FLAML" else _by_hand
    elsewhere = {}
    with threadpool_limits(1):
        model = search(given[rest], true[rest], task["seconds"])
        if task["split"] == 0:
            for place, other in cells.items():
                if place != own and (place[0] == own[0] or place[1] == own[1]):
                    elsewhere["/".join(place)] = _predict(model, other)
        said = _predict(model, [cell[i] for i in held])
    return {"held": held.tolist(), "said": said, "elsewhere": elsewhere}


def held_out(releases: int, split: int) -> Counts:
    """Return the releases that a split holds out: a tenth, at least two; splits share none.

    Of fewer than ten releases, splits may overlap.
    """
    size = max(round(releases / 10), 2)
    order = np.random.default_rng(releases).permutation(releases)
    return np.sort(np.roll(order, -split * size)[:size])


def features(rows: Sequence[Row]) -> Floats:
    """(releases, metrics) the inputs of the regressions."""
    return np.array([[row[metric] for metric in METRICS] for row in rows], dtype=np.float64)


def _by_cell(rows: Sequence[Row]) -> list[tuple[tuple[str, str], list[Row]]]:
    return [((place[0], place[1]), part) for place, part in groups(rows, "table", "algorithm")]


def _predict(model: Any, rows: Sequence[Row]) -> list[float]:
    found: list[float] = np.asarray(model.predict(features(rows)), dtype=np.float64).tolist()
    return found


def _by_flaml(given: Floats, true: Floats, seconds: float) -> Any:
    import logging

    from flaml import AutoML  # type: ignore[import-not-found, unused-ignore]

    logging.getLogger("flaml").setLevel(logging.ERROR)
    search = AutoML()
    search.fit(
        given,
        true,
        task="regression",
        metric="rmse",
        time_budget=seconds,
        eval_method="cv",
        n_splits=min(5, len(true)),
        n_jobs=1,
        seed=0,
        verbose=0,
    )
    return search


def _by_hand(given: Floats, true: Floats, _: float | None) -> Any:
    """Return ridge regression or gradient boosting, whichever errs less in five folds."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = [
        make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))),
        HistGradientBoostingRegressor(
            max_iter=60, min_samples_leaf=5, early_stopping=False, random_state=0
        ),
    ]
    folds = KFold(min(5, len(true)), shuffle=True, random_state=0)
    errors = [
        -cross_val_score(m, given, true, cv=folds, scoring="neg_mean_squared_error").mean()
        for m in models
    ]
    return models[int(np.argmin(errors))].fit(given, true)
