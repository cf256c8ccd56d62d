"""How single metrics relate to utility: rates over pairs, regressions, lines of best fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shoal.support.arrays import Floats
from studies.metrics import published
from studies.metrics.pairs import Pairs, mean_rate
from studies.metrics.releases import METRICS, UTILITIES
from studies.runs import Row, groups

RANDOM, ITSELF = "(random)", "(utility itself)"
_NORMAL = 1.959963984540054
_WEAK = 0.01  # directions in which metrics vary less than that, against the first, are left out
_ALIKE = 1e-9  # spread below which a figure is the same in all releases


def values(rows: Sequence[Row], name: str) -> Floats:
    """(releases,) one figure of some releases."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def single_rates(rows: Sequence[Row]) -> list[Row]:
    """Return, for each table and metric, how often the lesser loss has the greater utility.

    Averaged over algorithms and utilities, as in table 4.1; with what chance and utility itself
    would say.
    """
    found = []
    for (table,), part in groups(rows, "table"):
        for metric in (*METRICS, RANDOM, ITSELF):
            cells = [_pairs(cell, metric, utility) for cell, utility in _cells(part)]
            ties = [_pairs(c, metric, u, ties_agree=True).rate or 0.0 for c, u in _cells(part)]
            row = {"table": table, "metric": metric, **mean_rate(cells)}
            row["ties right"] = float(np.mean(ties))
            row["published"] = published.SINGLE[table].get(metric)
            found.append(row)
    return found


def _cells(rows: Sequence[Row]) -> Iterator[tuple[list[Row], str]]:
    for _, cell in groups(rows, "table", "algorithm"):
        for utility in UTILITIES:
            yield cell, utility


def _pairs(cell: Sequence[Row], metric: str, utility: str, *, ties_agree: bool = False) -> Pairs:
    true = values(cell, utility)
    if metric == RANDOM:
        said = np.random.default_rng([*cell[0]["algorithm"].encode(), *utility.encode()]).random(
            len(cell)
        )
    elif metric == ITSELF:
        said = true
    else:
        said = -values(cell, metric)
    return Pairs.of(said, true, ties_agree=ties_agree)


def tied_shares(rows: Sequence[Row]) -> list[Row]:
    """Return, for each table, algorithm and utility, the share of pairs of equal utility."""
    found = []
    for (table, algorithm), cell in groups(rows, "table", "algorithm"):
        for utility in UTILITIES:
            pairs = Pairs.of(values(cell, utility), values(cell, utility))
            every = len(cell) * (len(cell) - 1)
            tied = 1 - float(pairs.counted.sum()) / every
            labels = {"table": table, "algorithm": algorithm, "utility": utility}
            found.append({**labels, "tied": tied})
    return found


def effect_sizes(rows: Sequence[Row]) -> list[Row]:
    """Return the mean size of each metric's coefficient over the regressions of all cells.

    Metrics are standardized, utility is as it is; a metric that is the same in all releases of a
    cell has no effect there. Metrics that go together share their effect: what they hardly differ
    in is left out. `alone` is the mean absolute correlation with utility.
    """
    fitted = [_effects(cell, utility) for cell, utility in _cells(rows)]
    found = []
    for place, metric in enumerate(METRICS):
        sizes = np.array([abs(effects[place]) for effects, _ in fitted])
        half = _NORMAL * float(sizes.std(ddof=1)) / math.sqrt(len(sizes))
        middle = float(sizes.mean())
        alone = float(np.mean([abs(single[place]) for _, single in fitted]))
        row = {"metric": metric, "effect": middle, "low": middle - half, "high": middle + half}
        found.append({**row, "alone": alone, "regressions": len(sizes)})
    return sorted(found, key=lambda row: -row["effect"])


def effects_by_regression(rows: Sequence[Row]) -> Floats:
    """(cells, utilities, metrics) the size of each metric's coefficient in each regression."""
    return np.abs(
        [
            [_effects(cell, utility)[0] for utility in UTILITIES]
            for _, cell in groups(rows, "table", "algorithm")
        ]
    )


def _effects(cell: Sequence[Row], utility: str) -> tuple[Floats, Floats]:
    """(metrics,) the coefficients of one regression, and each metric's correlation."""
    given = np.column_stack([_standard(values(cell, metric)) for metric in METRICS])
    true = values(cell, utility)
    effects = np.linalg.lstsq(given, true - true.mean(), rcond=_WEAK)[0]
    return effects, given.T @ _standard(true) / len(cell)


def _standard(found: Floats) -> Floats:
    spread = float(found.std())
    alike = spread <= _ALIKE * max(float(np.abs(found).max()), 1e-300)
    return np.zeros_like(found) if alike else (found - found.mean()) / spread


def lines(rows: Sequence[Row], *by: str, metrics: Sequence[str] = METRICS) -> list[Row]:
    """Return the line of best fit of each utility over each metric, for each group of releases."""
    found = []
    for place, part in groups(rows, *by):
        labels = dict(zip(by, place, strict=True))
        for metric in metrics:
            across = values(part, metric)
            for utility in UTILITIES:
                ends = _line(across, values(part, utility))
                row = {**labels, "metric": metric, "utility": utility}
                found.append(
                    {**row, **dict(zip(("x", "y", "x2", "y2", "slope"), ends, strict=True))}
                )
    return found


def slope_signs(rows: Sequence[Row], metrics: Sequence[str]) -> Floats:
    """(metrics, utilities) whether the lines of best fit rise (1), fall (−1) or are flat (0)."""
    across, upward = (
        np.column_stack([_standard(values(rows, name)) for name in names])
        for names in (metrics, UTILITIES)
    )
    return np.asarray(np.sign(np.round(across.T @ upward / len(rows), 12)))


def _line(across: Floats, up: Floats) -> tuple[float, float, float, float, float]:
    low, high, middle = float(across.min()), float(across.max()), float(up.mean())
    spread = float(across.var())
    slope = 0.0
    if high - low > _ALIKE * max(abs(high), 1e-300):
        slope = float(((across - across.mean()) * (up - middle)).mean()) / spread
    begin, end = (middle + slope * (place - float(across.mean())) for place in (low, high))
    return low, begin, high, end, slope


def long(rows: Sequence[Row], names: Sequence[str], what: str) -> list[dict[str, Any]]:
    """Return one row for each release and figure."""
    kept = ("table", "algorithm", "release", "k")
    return [
        {**{n: row[n] for n in kept}, what: name, "value": row[name]}
        for row in rows
        for name in names
    ]
