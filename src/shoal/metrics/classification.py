"""Classification metric: records whose class outvotes them.

A classifier that knows the published rows alone is right on at most 1 − CM of them: all records of
a class get the same answer, at best its commonest.
Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.arrays import Codes
from shoal.core.column import Column
from shoal.core.histogram import count_values
from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.needs import target_column, without_target
from shoal.metrics.scale import scaled


def classification(release: Release, target: str | None = None, *, raw: bool = False) -> float:
    """Share of records that are suppressed or not of their class's commonest target value.

    From 0, as many as in the original, whose classes are equal quasi tuples, to 1, all.
    target: a sensitive or insensitive column; by default the only sensitive one.
    raw: the share itself.
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
    """Return the records that share the commonest value of their group."""
    if not groups:
        return 0
    values = count_values(column, ids, groups, release.original.counts)
    return int(np.maximum.reduceat(values.counts, values.indptr[:-1]).sum())


CLASSIFICATION = Metric(
    "classification",
    classification,
    title="Classification metric",
    meaning="records that their class outvotes on the target",
    formula="share of records suppressed, or not of their class's commonest target value",
    use="a classifier is to be trained on the release; 1 − raw is the best it can reach there",
    source="Iyengar 2002",
    published=partial(classification, raw=True),
    requires="a target column: the only sensitive one, or one that is named",
    lacking=without_target,
    takes_target=True,
)
