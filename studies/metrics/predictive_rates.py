"""Could a loss be developed that predicts utility? `predictive` beside all metrics of the study.

It was built by looking at cmc and ring; what it is worth shows on the tables that it was not built
on. de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, ends with
the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from shoal.release.release import Release
from shoal.support.arrays import Floats
from shoal.utility.predictive_loss import predictive
from studies.metrics.pairs import Pairs
from studies.metrics.releases import METRICS, UTILITIES
from studies.metrics.singles import values
from studies.runs import Row, groups

BUILT_ON = ("cmc", "ring")
PREDICTIVE, NO_TARGET = "predictive", "predictive, no target"
META = "Meta-Metric of another table"
OTHERS = "another model's score"
_Cell = tuple[str, str]  # algorithm, utility


def measured(release: Release, target: str) -> Row:
    """Return both figures of one release."""
    return {PREDICTIVE: predictive(release, target), NO_TARGET: predictive(release)}


def predictive_rates(rows: Sequence[Row], fits: Sequence[Row] = ()) -> list[Row]:
    """Return, for each table and loss, how often the lesser loss has the greater utility.

    Averaged over algorithms and utilities, with a 95 % interval over resampled releases, the same
    for all losses; `ahead` is how much more often `predictive` is right, with its interval, and
    `built on` whether the table was looked at in making it. To compare: how often the scores of the
    other models are right, on average, and, where `fits` are given, the Meta-Metrics of the other
    tables.

    rows: the study's, with the figures of `measured`; fits: as of `meta_metrics`.
    """
    found = []
    for (table,), part in groups(rows, "table"):
        said = {name: _by_loss(part, name) for name in (PREDICTIVE, NO_TARGET, *METRICS)}
        said[OTHERS] = _by_others(part)
        said[META] = _by_meta(part, [fit for fit in fits if fit["table"] != table])
        drawn = {name: _means(cells) for name, cells in said.items() if _count(cells)}
        best = drawn[PREDICTIVE]
        for name, means in drawn.items():
            labels = {"table": table, "built on": table in BUILT_ON, "metric": name}
            ahead = best - means
            found.append({**labels, **_interval("rate", means), **_interval("ahead", ahead)})
    return found


def _by_loss(rows: Sequence[Row], name: str) -> dict[_Cell, list[Pairs]]:
    return {
        (algorithm, utility): [Pairs.of(-values(cell, name), values(cell, utility))]
        for algorithm, utility, cell in _cells(rows)
    }


def _by_others(rows: Sequence[Row]) -> dict[_Cell, list[Pairs]]:
    """Return the pairs ranked by the same score of the other models."""
    return {
        (algorithm, utility): [
            Pairs.of(values(cell, other), values(cell, utility))
            for other in UTILITIES
            if other != utility and other.split()[1] == utility.split()[1]
        ]
        for algorithm, utility, cell in _cells(rows)
    }


def _by_meta(rows: Sequence[Row], fits: Sequence[Row]) -> dict[_Cell, list[Pairs]]:
    found: dict[_Cell, list[Pairs]] = {}
    for algorithm, utility, cell in _cells(rows):
        place = f"{cell[0]['table']}/{algorithm}"
        found[algorithm, utility] = [
            Pairs.of(fit["elsewhere"][place], values(cell, utility))
            for fit in fits
            if fit["utility"] == utility and place in fit["elsewhere"]
        ]
    return found


def _cells(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    for (algorithm,), cell in groups(rows, "algorithm"):
        for utility in UTILITIES:
            yield algorithm, utility, cell


def _count(cells: Mapping[_Cell, Sequence[Pairs]]) -> int:
    """Return how many comparisons there are in which some pair counts."""
    return sum(pairs.rate is not None for each in cells.values() for pairs in each)


def _means(cells: Mapping[_Cell, Sequence[Pairs]]) -> Floats:
    """(1 + resamples,) the mean rate over cells, as found and over resampled releases.

    Releases by one algorithm are drawn alike for all utilities and losses.
    """
    drawn = [
        [pairs.rate, *pairs.resampled(np.random.default_rng([*algorithm.encode()]))]
        for (algorithm, _), each in cells.items()
        for pairs in each
        if pairs.rate is not None
    ]
    rates = np.array(drawn, dtype=np.float64)  # (cells, 1 + resamples), nan where none counts
    known = ~np.isnan(rates)
    return np.asarray(np.where(known, rates, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _interval(name: str, means: Floats) -> Row:
    low, high = np.quantile(means[1:], [0.025, 0.975])
    return {name: float(means[0]), f"{name} low": float(low), f"{name} high": float(high)}
