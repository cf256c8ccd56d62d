"""Classification metric: records whose target differs from the majority of their class.

A classifier that sees only the published rows is right on at most 1 − CM of them: it gives all
records of a class the same answer, at best the most frequent one.
Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.column import Column
from shoal.core.histogram import count_values
from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.needs import target_column, without_target
from shoal.metrics.scale import scaled
from shoal.support.arrays import Codes


def classification(release: Release, target: str | None = None, *, raw: bool = False) -> float:
    """Return the share of records that are suppressed or differ from their class's majority.

    Scaled from 0, the share in the original, whose classes are equal quasi-identifier tuples, to 1,
    all records.

    Parameters:
        release: The release to measure.
        target: A sensitive or insensitive column; by default the only sensitive one.
        raw: Return the share itself.

    Returns:
        The loss.

    Raises:
        InputError: The target is not such a column, or none is named and there is not exactly one
            sensitive column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = pa.table({"age": [20, 30, 50, 60], "disease": ["flu", "flu", "flu", "gout"]})
    >>> release = shoal.anonymize(ill, k=2, quasi="age", sensitive="disease")
    >>> classification(release)  # the class [50, 60] has no majority
    0.25
    """
    column = target_column(release, target)
    records = max(release.original.records, 1)
    classes = release.classes
    share = 1 - _outvoting(release, column, classes.ids, len(classes)) / records
    if not release.original.records:
        return 0.0
    if raw:
        return share
    tuples = release.original.distinct()
    least = 1 - _outvoting(release, column, tuples.inverse, len(tuples)) / records
    return scaled(share, least, 1.0, release)


def _outvoting(release: Release, column: Column, ids: Codes, groups: int) -> int:
    """Return the number of records that have the most frequent value of their group."""
    if not groups:
        return 0
    values = count_values(column, ids, groups, release.original.counts)
    return int(np.maximum.reduceat(values.counts, values.indptr[:-1]).sum())


CLASSIFICATION = Metric(
    "classification",
    classification,
    title="Classification metric",
    by_cell=True,
    meaning="records whose target differs from the majority of their class",
    formula="share of records that are suppressed or lack their class's most frequent target value",
    use="classifiers trained on the release; 1 − raw is the best accuracy that they can reach",
    source="Iyengar 2002",
    published=partial(classification, raw=True),
    requires="a target column: the only sensitive column, or the one given as target",
    lacking=without_target,
    takes_target=True,
)
