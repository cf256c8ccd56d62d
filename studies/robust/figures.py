"""What the stages of a study of robust predictions say, with intervals over pictures.

Examples of one picture fare alike, so that thousands of them from nine pictures say no more of
other pictures than nine do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.report.robust import over_pictures
from shoal.risk.proportion import Interval
from shoal.robust import Judged
from studies.claims import half_width
from studies.robust.setup import PUBLISHED
from studies.runs import Row

OUTCOMES = ("correct", "target", "other")
PUBLISHED_AS = {"mnist": "mnist", "digits": "mnist", "cifar10": "cifar10"}  # whose figures are near
_FREE = ("queries", "climbs", "precision", "moved_epochs", "seed")  # no published figure's matter
_ALIKE = 6  # differences that are all the same and no chance: they are of one sign 1 in 32 times


def stage(rows: Sequence[Row], name: str, **where: Any) -> Row:
    """Return the row of a stage."""
    for row in rows:
        if row["stage"] == name and all(row[key] == value for key, value in where.items()):
            return row
    raise LookupError(name)


def judged(told: Row) -> Judged:
    """Return what a row keeps of examples that were judged."""
    return Judged(
        pa.table(told["columns"]), told["networks"], told["single_clean"], told["single_attacked"]
    )


def is_whole(rows: Sequence[Row]) -> bool:
    """Tell whether this was the published study in its published size."""
    row = stage(rows, "single", model="plain")
    published = asdict(PUBLISHED[row["data"]])
    return row["data"] != "digits" and all(
        row[name] == value for name, value in published.items() if name not in _FREE
    )


def share(told: Row, outcome: str = "correct") -> Interval:
    """Return the share of examples that the vote takes so."""
    found = judged(told)
    return over_pictures(found, np.array(told["columns"]["outcome"]) == outcome)


def own_share(told: Row, what: str) -> Interval:
    """Return the share of examples whose own network names their `goal`, or their `label`.

    told: of the stage `own`, whose columns are lists of rows, or of networks and rows.
    """
    columns = told["columns"]
    named = np.array(columns["named"])  # (networks, rows)
    hits = named == np.array(columns[what])
    samples = np.broadcast_to(columns["sample"], named.shape).ravel()
    table = pa.table({"sample": samples})
    return over_pictures(Judged(table, len(named), 0.0, 0.0), hits.ravel())


def ahead(first: Row, second: Row, outcome: str = "correct") -> Interval:
    """Return by how much the share of the first is above the second's."""
    found = [
        by_picture(told, [named == outcome for named in told["columns"]["outcome"]])
        for told in (first, second)
    ]
    gap = difference(*found)
    return Interval(gap.value, max(gap.low, -1.0), min(gap.high, 1.0))


def by_picture(told: Row, values: Sequence[float]) -> dict[int, float]:
    """Return the mean of one value an example, for each picture."""
    found: dict[int, list[float]] = {}
    for place, value in zip(told["columns"]["sample"], values, strict=True):
        found.setdefault(place, []).append(value)
    return {place: fmean(each) for place, each in found.items()}


def difference(first: dict[int, float], second: dict[int, float]) -> Interval:
    """Return the mean of first less second over the pictures of both, with Student's interval.

    It has no ends where there is one picture only, or a few that all differ by the same.
    """
    gaps = [first[place] - second[place] for place in first if place in second]
    middle = fmean(gaps)
    even = max(gaps) - min(gaps) < 1e-12
    few = len(gaps) < (_ALIKE if even else 2)
    half = float("inf") if few else half_width(gaps)
    return Interval(middle, middle - half, middle + half)


def above(gap: Interval) -> bool | None:
    """Tell whether a difference is above 0; None where its interval does not say."""
    if gap.low > 0:
        return True
    return False if gap.high < 0 else None


def percent(value: float) -> str:
    """Return a share in words, with enough digits to stand beside published ones."""
    return f"{100 * value:.1f} %"


def within(found: Interval) -> str:
    """Return a share with its interval in words."""
    return f"{percent(found.value)} ({100 * found.low:.0f} to {100 * found.high:.0f} %)"
