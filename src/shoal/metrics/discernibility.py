"""Discernibility: how many record pairs can no longer be told apart.

It looks at the sizes of classes, not at what is published of them.
Bayardo & Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
"""

from __future__ import annotations

from functools import partial

from shoal.core.arrays import Counts
from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled


def discernibility(release: Release, *, raw: bool = False) -> float:
    """Ordered pairs of records that look alike, 0 as in the original to 1 for all pairs.

    A record pays its class's size, a suppressed one the whole table.
    raw: the number of pairs, a record with itself included.
    """
    records = release.original.records
    alike = _pairs(release.classes.rows) + release.classes.suppressed * records
    if raw:
        return float(alike)
    tuples = release.original.distinct().table.counts
    assert tuples is not None
    return scaled(alike / max(records, 1), _pairs(tuples) / max(records, 1), records, release)


def _pairs(sizes: Counts) -> int:
    return sum(size * size for size in sizes.tolist())  # exact: squares of large counts overflow


DISCERNIBILITY = Metric(
    "discernibility",
    discernibility,
    title="Discernibility",
    meaning="record pairs that can no longer be told apart",
    formula="sum of squared class sizes; a suppressed record adds the whole table",
    use="sizes of classes matter, not what is published of them",
    source="Bayardo & Agrawal 2005",
    published=partial(discernibility, raw=True),
    raw_range="records to records²",
)
