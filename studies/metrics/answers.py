"""Questions about single metrics: their lines, how they are spread, what they weigh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from studies.claims import Answer
from studies.metrics.found import Found
from studies.metrics.releases import METRICS, UTILITIES
from studies.metrics.singles import values
from studies.runs import Row, groups


def crossing(found: Found) -> Answer:
    """Count the panels in which the lines of some tables rise and those of others fall."""
    named = ("hellinger", "information-loss", "squared-distance-error")
    share = {name: _mixed(found.lines, name, "utility") for name in METRICS}
    if len(found.tables_there) < 2:
        return None, "needs more than one table"
    told = ", ".join(f"{name} {share[name]:.0%}" for name in METRICS)
    return fmean(share[name] for name in named) > 0.5, f"panels with lines both ways: {told}"


def between_algorithms(metric: str, *, agree: bool) -> Callable[[Found], Answer]:
    """Ask whether lines of a metric agree between algorithms, or do not."""

    def judged(found: Found) -> Answer:
        share = _mixed(found.lines_by_algorithm, metric, "utility", "table")
        told = f"{share:.0%} of tables and utilities have lines both ways"
        return share < 0.25 if agree else share > 0.5, told

    return judged


def _mixed(lines: Sequence[Row], metric: str, *by: str) -> float:
    same = [line for line in lines if line["metric"] == metric]
    signs = [{line["slope"] > 0 for line in part if line["slope"]} for _, part in groups(same, *by)]
    return fmean(len(each) == 2 for each in signs)


def predicts(found: Found) -> Answer:
    """Fit what was found over what was predicted, model by model."""
    slopes, correlations = [], []
    for _, part in groups(found.said, "table", "algorithm", "utility"):
        said, true = values(part, "predicted"), values(part, "found")
        if said.std() > 1e-9 and true.std() > 1e-9:
            correlation = float(np.corrcoef(said, true)[0, 1])
            correlations.append(correlation)
            slopes.append(correlation * float(true.std() / said.std()))
    if not slopes:
        return None, "nothing varies"
    slope, correlation = float(np.median(slopes)), float(np.median(correlations))
    told = f"median slope {slope:.2f}, median correlation {correlation:.2f} over {len(slopes)}"
    return 0.7 <= slope <= 1.3, told


def apart(found: Found) -> Answer:
    """Ask whether the metrics of both Datafly are spread alike, and those of Mondrian apart."""
    same = [_overlap(found.rows, m, "datafly", "datafly-shuffled") for m in METRICS]
    other = [_overlap(found.rows, m, "datafly", "mondrian") for m in METRICS]
    told = (
        f"mean overlap of the spreads: {fmean(same):.2f} between the two Datafly, "
        f"{fmean(other):.2f} between Datafly and Mondrian"
    )
    return fmean(same) > 0.5 and fmean(other) < 0.2, told


def _overlap(rows: Sequence[Row], name: str, one: str, other: str) -> float:
    """Return the mean over tables of what two histograms have in common, 0 to 1."""
    shares = []
    for _, part in groups(rows, "table"):
        by = {algorithm: values(cell, name) for (algorithm,), cell in groups(part, "algorithm")}
        both = np.concatenate([by[one], by[other]])
        edges = np.linspace(both.min(), both.max() + 1e-12, 11)
        counts = [np.histogram(by[each], edges)[0] / len(by[each]) for each in (one, other)]
        shares.append(float(np.minimum(*counts).sum()))
    return fmean(shares)


def _means(found: Found) -> dict[str, dict[str, float]]:
    return {
        table: {
            algorithm: fmean(row[utility] for row in cell for utility in UTILITIES)
            for (algorithm,), cell in groups(part, "algorithm")
        }
        for (table,), part in groups(found.rows, "table")
    }


def mondrian_leads(found: Found) -> Answer:
    """Ask whether Mondrian's releases are of more use on every table."""
    means = _means(found)
    told = "; ".join(f"{t}: {m['mondrian']:.3f} over {m['datafly']:.3f}" for t, m in means.items())
    return all(m["mondrian"] > m["datafly"] for m in means.values()), f"mean utility {told}"


def shuffling_costs_nothing(found: Found) -> Answer:
    """Ask whether shuffled trees leave utility as it is."""
    means = _means(found)
    told = "; ".join(
        f"{table}: {m['datafly']:.3f} ordered, {m['datafly-shuffled']:.3f} shuffled"
        for table, m in means.items()
    )
    near = all(m["datafly"] - m["datafly-shuffled"] < 0.02 for m in means.values())
    return near, f"mean utility {told}"


def largest(found: Found) -> Answer:
    """Ask whether the three metrics that weighed most do so here."""
    order = [row["metric"] for row in found.effects]
    named = {"average-class-size", "granularity", "discernibility"}
    told = f"ours, largest first: {', '.join(order)}"
    return named <= set(order[:4]), told


def trailing(found: Found) -> Answer:
    """Ask whether the three metrics that weighed least do so here."""
    order = [row["metric"] for row in found.effects]
    last = {"hellinger", "bivariate-correlation", "squared-distance-error"}
    return last <= set(order[-5:]), f"the last five here: {', '.join(order[-5:])}"
