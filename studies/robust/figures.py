"""The results of the stages of a study of robust predictions, with intervals over pictures.

Examples of one picture have similar outcomes: thousands of them from nine pictures say no more
about other pictures than nine do, so a picture is a draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.report.robust import over_pictures
from shoal.robust import Judged
from studies.robust.setup import PUBLISHED
from studies.runs import Row
from studies.verdicts import Estimate, estimate_mean

OUTCOMES = ("correct", "target", "other")
PUBLISHED_AS = {
    "mnist": "mnist",
    "digits": "mnist",
    "cifar10": "cifar10",
}  # figures shown
_FREE = (
    "queries",
    "climbs",
    "precision",
    "moved_epochs",
    "seed",
)  # any value
_ALIKE = 6  # equal differences that are no chance: by chance they have one sign 1 in 32 times


def stage(rows: Sequence[Row], name: str, **where: Any) -> Row:
    """Return the row of a stage."""
    for row in rows:
        if row["stage"] == name and all(row[key] == value for key, value in where.items()):
            return row
    raise LookupError(name)


def judged(row: Row) -> Judged:
    """Return the evaluated examples of a row."""
    return Judged(
        pa.table(row["columns"]), row["networks"], row["single_clean"], row["single_attacked"]
    )


def is_whole(rows: Sequence[Row]) -> bool:
    """Return whether this is the published study at its published size."""
    row = stage(rows, "single", model="plain")
    published = asdict(PUBLISHED[row["data"]])
    return row["data"] != "digits" and all(
        row[name] == value for name, value in published.items() if name not in _FREE
    )


def share(row: Row, outcome: str = "correct") -> Estimate:
    """Return the share of examples with this outcome of the vote."""
    interval = over_pictures(judged(row), np.array(row["columns"]["outcome"]) == outcome)
    return Estimate(*interval, len(set(row["columns"]["sample"])))


def own_share(row: Row, what: str) -> Estimate:
    """Return the share of examples for which their own network names their `goal` or `label`.

    row: of the stage `own`, whose columns are lists of rows, or of networks and rows.
    """
    columns = row["columns"]
    named = np.array(columns["named"])  # (networks, rows)
    hits = named == np.array(columns[what])
    samples = np.broadcast_to(columns["sample"], named.shape).ravel()
    table = pa.table({"sample": samples})
    interval = over_pictures(Judged(table, len(named), 0.0, 0.0), hits.ravel())
    return Estimate(*interval, len(set(columns["sample"])))


def ahead(first: Row, second: Row, outcome: str = "correct") -> Estimate:
    """Return the share of the first less that of the second, picture by picture."""
    gap = difference(
        *(
            by_picture(row, [named == outcome for named in row["columns"]["outcome"]])
            for row in (first, second)
        )
    )
    return replace(gap, low=max(gap.low, -1.0), high=min(gap.high, 1.0))


def by_picture(row: Row, values: Sequence[float]) -> dict[int, float]:
    """Return the mean over the examples of each picture; values has one entry per example."""
    found: dict[int, list[float]] = {}
    for place, value in zip(row["columns"]["sample"], values, strict=True):
        found.setdefault(place, []).append(value)
    return {place: fmean(each) for place, each in found.items()}


def difference(first: dict[int, float], second: dict[int, float]) -> Estimate:
    """Return the mean of first less second over the draws that both have."""
    return mean_over_draws([first[place] - second[place] for place in first if place in second])


def mean_over_draws(values: Sequence[float]) -> Estimate:
    """Return the mean over pictures or other draws, with Student's interval.

    The interval is infinite for a few draws that all have the same value.
    """
    found = estimate_mean(values)
    if max(values) - min(values) < 1e-12 and len(values) < _ALIKE:
        return replace(found, low=-math.inf, high=math.inf)
    return found


def percent(value: float) -> str:
    """Return a share as text, with enough digits to stand beside published ones."""
    return f"{100 * value:.1f} %"


def within(found: Estimate) -> str:
    """Return a share with its interval as text."""
    if not math.isfinite(found.low + found.high):
        return percent(found.value)
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    return f"{percent(found.value)} ({100 * low:.0f} to {100 * high:.0f} %)"


def points(gap: Estimate) -> str:
    """Return the interval of a difference of shares as text."""
    if not math.isfinite(gap.low + gap.high):
        return "the difference has no interval"
    return f"the difference lies between {100 * gap.low:+.0f} and {100 * gap.high:+.0f} points"
