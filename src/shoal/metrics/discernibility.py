"""Discernibility: number of record pairs that can no longer be distinguished.

It depends on the sizes of classes, not on the published values.
Bayardo & Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Counts


def discernibility(release: Release, *, raw: bool = False) -> float:
    """Return the ordered pairs of indistinguishable records, 0 (as in the original) to 1 (all).

    A record costs the size of its class, a suppressed record the size of the table.

    Parameters:
        release: The release to measure.
        raw: Return the number of pairs, including each record with itself.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> discernibility(release, raw=True)  # two classes of two records: 2² + 2²
    8.0
    """
    records = release.original.records
    rows = release.classes.rows
    alike = _pairs(rows, np.ones_like(rows)) + release.classes.suppressed * records
    if raw:
        return float(alike)
    before = _pairs(*release.original_sizes())
    return scaled(alike / max(records, 1), before / max(records, 1), records, release)


def _pairs(sizes: Counts, numbers: Counts) -> int:
    """Return the pairs in groups of these sizes, exactly: squares of large counts overflow."""
    listed = zip(sizes.tolist(), numbers.tolist(), strict=True)
    return sum(size * size * number for size, number in listed)


DISCERNIBILITY = Metric(
    "discernibility",
    discernibility,
    title="Discernibility",
    scope="cell",
    by_cell=True,
    meaning="record pairs that can no longer be distinguished",
    formula="sum of squared class sizes; a suppressed record adds the size of the table",
    use="the sizes of classes matter, not the published values",
    source="Bayardo & Agrawal 2005",
    published=partial(discernibility, raw=True),
    raw_range="records to records²",
)
