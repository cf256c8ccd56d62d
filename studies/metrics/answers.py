"""Tests of claims on single metrics: their lines, their distributions, their weights.

Intervals are over resampled releases, drawn within each table and algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

import numpy as np

from shoal.support.arrays import Floats
from studies.claims import Answer
from studies.metrics import published
from studies.metrics.analysis import Analysis
from studies.metrics.releases import METRICS, UTILITIES
from studies.metrics.singles import effects_by_regression, lines, slope_signs, values
from studies.runs import Row, groups
from studies.verdicts import (
    Estimate,
    Range,
    above,
    all_of,
    at_most,
    below,
    between,
    decide,
    estimate_mean,
    resample,
)

MIXED = 0.5  # share of panels from which lines do not agree
AGREEING = 0.25  # share of panels up to which they do
SAME, APART = 0.5, 0.2  # overlaps of two histograms: mostly the same, and mostly apart
NO_COST = 0.02  # a loss of mean utility up to which nothing is lost
_CROSSING = ("hellinger", "information-loss", "squared-distance-error")


def over_releases(
    found: Analysis, statistic: Callable[[Sequence[Row]], float], metrics: Sequence[str] = METRICS
) -> Estimate:
    """Return a statistic of all releases with its interval over resampled releases.

    metrics: those that the statistic needs; others are left out to save time.
    """
    kept = ("table", "algorithm", *metrics, *UTILITIES)
    cells = [
        [{name: row[name] for name in kept} for row in cell]
        for _, cell in groups(found.rows, "table", "algorithm")
    ]
    fewest = min(len(cell) for cell in cells)

    def of(chosen: Sequence[int]) -> float:
        # the same positions in every cell, up to the length of the shortest
        return statistic([cell[index] for cell in cells for index in chosen])

    return resample(fewest, of)


def crossing(found: Analysis) -> Answer:
    """Test whether the lines of some tables rise and those of others fall."""
    if len(found.tables_there) < 2:
        return "undecided", "needs more than one table"
    share = over_releases(
        found,
        lambda rows: fmean(_mixed(lines(rows, "table", metrics=_CROSSING), m, "utility")
                           for m in _CROSSING),
        _CROSSING,
    )  # fmt: skip
    every = ", ".join(f"{m} {_mixed(found.lines, m, 'utility'):.0%}" for m in METRICS)
    return decide(share, above(MIXED)), (
        f"panels of the three with lines both ways: {share.text('.0%')}; of each metric: {every}"
    )


def between_algorithms(metric: str, *, agree: bool) -> Callable[[Analysis], Answer]:
    """Test whether the lines of a metric agree between algorithms, or do not."""
    claimed = below(AGREEING) if agree else above(MIXED)

    def test(found: Analysis) -> Answer:
        share = over_releases(
            found,
            lambda rows: _mixed(
                lines(rows, "table", "algorithm", metrics=(metric,)), metric, "utility", "table"
            ),
            (metric,),
        )
        text = share.text(".0%")
        return decide(share, claimed), f"tables and utilities with lines both ways: {text}"

    return test


def inconsistent(found: Analysis) -> Answer:
    """Test how often the lines of a table go both ways between algorithms, over all metrics."""
    metrics = tuple(published.SINGLE["cmc"])

    def mixed(rows: Sequence[Row]) -> Floats:
        """(metrics,) the share of tables and utilities in which some lines rise and others fall."""
        shares = []
        for _, part in groups(rows, "table"):
            cells = [slope_signs(cell, metrics) for _, cell in groups(part, "algorithm")]
            signs = np.array(cells)  # (algorithms, metrics, utilities)
            shares.append(((signs > 0).any(axis=0) & (signs < 0).any(axis=0)).mean(axis=1))
        return np.asarray(np.mean(shares, axis=0))

    share = over_releases(found, lambda rows: float(mixed(rows).mean()), metrics)
    each = zip(metrics, mixed(found.rows), strict=True)
    every = ", ".join(f"{metric} {ways:.0%}" for metric, ways in each)
    return decide(share, above(AGREEING)), (
        f"tables and utilities with lines both ways: {share.text('.0%')}; of each metric: {every}"
    )


def _mixed(drawn: Sequence[Row], metric: str, *by: str) -> float:
    """Return the share of panels in which some lines rise and others fall."""
    same = [line for line in drawn if line["metric"] == metric]
    signs = [{line["slope"] > 0 for line in part if line["slope"]} for _, part in groups(same, *by)]
    return fmean(len(each) == 2 for each in signs)


def predicts(found: Analysis) -> Answer:
    """Test whether measured utility has a slope near 1 over predicted utility, model by model."""
    slopes, correlations = [], []
    for _, part in groups(found.said, "table", "algorithm", "utility"):
        said, true = values(part, "predicted"), values(part, "found")
        if said.std() > 1e-9 and true.std() > 1e-9:
            correlations.append(float(np.corrcoef(said, true)[0, 1]))
            slopes.append(correlations[-1] * float(true.std() / said.std()))
    if not slopes:
        return "undecided", "nothing varies"
    slope = resample(len(slopes), lambda chosen: float(np.median([slopes[i] for i in chosen])))
    return decide(slope, between(0.7, 1.3)), (
        f"median slope {slope.text('.2f')}, median correlation {np.median(correlations):.2f} over "
        f"{len(slopes)} models"
    )


def apart(found: Analysis) -> Answer:
    """Test whether the metrics of both Datafly are distributed alike, and Mondrian's apart."""
    same, other = (
        over_releases(found, partial(_mean_overlap, one="datafly", other=name))
        for name in ("datafly-shuffled", "mondrian")
    )
    return all_of((decide(same, above(SAME)), decide(other, below(APART)))), (
        f"mean overlap of the histograms: {same.text('.2f')} between the two Datafly, "
        f"{other.text('.2f')} between Datafly and Mondrian"
    )


def _mean_overlap(rows: Sequence[Row], one: str, other: str) -> float:
    return fmean(_overlap(rows, metric, one, other) for metric in METRICS)


def _overlap(rows: Sequence[Row], name: str, one: str, other: str) -> float:
    """Return the mean over tables of the common part of two histograms, 0 to 1."""
    shares = []
    for _, part in groups(rows, "table"):
        by = {algorithm: values(cell, name) for (algorithm,), cell in groups(part, "algorithm")}
        both = np.concatenate([by[one], by[other]])
        edges = np.linspace(both.min(), both.max() + 1e-12, 11)
        counts = [np.histogram(by[each], edges)[0] / len(by[each]) for each in (one, other)]
        shares.append(float(np.minimum(*counts).sum()))
    return fmean(shares)


def _gains(one: str, other: str, claimed: Range) -> Callable[[Analysis], Answer]:
    """Test by how much the mean utility of an algorithm exceeds another's, on every table."""

    def test(found: Analysis) -> Answer:
        gaps = {}
        for (table,), part in groups(found.rows, "table"):
            means = {
                algorithm: estimate_mean([fmean(row[u] for u in UTILITIES) for row in cell])
                for (algorithm,), cell in groups(part, "algorithm")
            }
            gaps[table] = means[one].minus(means[other])
        text = "; ".join(f"{table} {gap.text('+.3f')}" for table, gap in gaps.items())
        return all_of(decide(gap, claimed) for gap in gaps.values()), (
            f"mean utility of {one} less that of {other}: {text}"
        )

    return test


mondrian_leads = _gains("mondrian", "datafly", above(0))
shuffling_costs_nothing = _gains("datafly", "datafly-shuffled", at_most(NO_COST))


def _lead(named: Sequence[str], place: int, sign: int) -> Callable[[Analysis], Answer]:
    """Test whether named metrics are among the first of all by weight (sign 1), or the last (−1).

    The quantity is by how much the least of the named exceeds the first that must be behind.

    place: how many metrics may be among the first.
    """

    def test(found: Analysis) -> Answer:
        cells = effects_by_regression(found.rows)  # (clusters, regressions, metrics)
        mine = [METRICS.index(name) for name in named]
        rest = [index for index in range(len(METRICS)) if index not in mine]

        def ahead(chosen: Sequence[int]) -> float:
            sizes = sign * cells[list(chosen)].mean(axis=(0, 1))
            return float(sizes[mine].min() - np.sort(sizes[rest])[::-1][place - len(mine)])

        gap = resample(len(cells), ahead)
        order = [row["metric"] for row in found.effects]
        shown = order if sign > 0 else order[-place:]
        return decide(gap, above(0)), (
            f"lead over the next metric {gap.text('+.4f')}; here, largest first: {', '.join(shown)}"
        )

    return test


largest = _lead(("average-class-size", "granularity", "discernibility"), 3, 1)
trailing = _lead(("hellinger", "bivariate-correlation", "squared-distance-error"), 5, -1)
