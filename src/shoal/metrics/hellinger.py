"""Hellinger distance between the distributions of a column before and after.

The released shares are estimated as in `boxes`: every cell is spread evenly over the values that it
may stand for. El Emam, Mosquera & Hoptroff, "Practical synthetic data generation", 2020; de
Spoelberch, "The limits of information loss metrics as measures for utility", 2020, section 2.2.11.
The formula there omits the square roots of the shares: the distance is √(Σ (√p − √q)² / 2).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.release import Release
from shoal.metrics.boxes import estimated_shares, released_boxes
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Floats


def hellinger(release: Release, *, raw: bool = False) -> float:
    """Return the median distance over attributes, from 0 (best) to 1 (all suppressed).

    Parameters:
        release: The release to measure.
        raw: Return the median distance itself, from 0 to 1.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 20, 20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age")
    >>> round(hellinger(release), 3)
    0.816
    """
    found = _distances(release)
    after, most = (float(np.median(part)) for part in zip(*found.values(), strict=True))
    return after if raw else scaled(after, 0.0, most, release)


def hellinger_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the distance of each attribute, divided by that of the suppressed column.

    Parameters:
        release: The release to measure.
        raw: Return the distance itself, from 0 to 1.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 20, 20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age")
    >>> round(hellinger_by_attribute(release, raw=True)["age"], 3)
    0.151
    """
    found = _distances(release)
    if raw:
        return {name: after for name, (after, _) in found.items()}
    return {name: scaled(after, 0.0, most, release) for name, (after, most) in found.items()}


def _distances(release: Release) -> dict[str, tuple[float, float]]:
    """Return, for each attribute, the distance of the release and of the suppressed column."""
    boxes = released_boxes(release)
    found = {}
    for j, column in enumerate(boxes.columns):
        before = release.original.shares(column.name)
        even = np.full(column.domain, 1 / max(column.domain, 1))
        found[column.name] = (
            _distance(before, estimated_shares(boxes, j)),
            _distance(before, even) if release.original.records else 0.0,
        )
    return found


def _distance(p: Floats, q: Floats) -> float:
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


HELLINGER = Metric(
    "hellinger",
    hellinger,
    title="Hellinger distance",
    scope="cell",
    meaning="change in the distributions of single columns",
    formula="median over attributes: √(Σ (√p − √q)² / 2) of the shares before and after",
    use="frequency tables of single columns",
    source="El Emam et al. 2020",
    published=partial(hellinger, raw=True),
    by_attribute=hellinger_by_attribute,
)
