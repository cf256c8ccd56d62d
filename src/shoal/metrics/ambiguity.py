"""Ambiguity: number of different records that a published record may stand for.

The product over attributes grows so fast that a few coarse records dominate; it is computed with
logarithms. Goldberger & Tassa, "Efficient anonymizations with enhanced utility", ICDM Workshops
2009.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.release import Release
from shoal.metrics.boxes import released_boxes
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Counts, Floats


def ambiguity(release: Release, *, raw: bool = False) -> float:
    """Return the mean number of tuples that a record may stand for, 0 (one) to 1 (whole domain).

    Parameters:
        release: The release to measure.
        raw: Return the number, from 1 to the product of the domains; infinite if it overflows a
            float.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ambiguity(release, raw=True)  # two ages, and two sexes in one of the two classes
    3.0
    """
    boxes = released_boxes(release)
    if not len(boxes):
        return 0.0
    most = float(sum(np.log(column.domain) for column in boxes.columns))
    volumes = boxes.log_volumes()
    if raw:
        top = float(volumes.max())
        with np.errstate(over="ignore"):
            return float(np.exp(top) * _mean(np.exp(volumes - top), boxes.counts))
    share = _mean(np.exp(np.minimum(volumes - most, 0.0)), boxes.counts)
    return scaled(share, float(np.exp(-most)), 1.0, release)


def ambiguity_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the mean number of values that a cell of each attribute may stand for.

    Parameters:
        release: The release to measure.
        raw: Return the number itself.

    Returns:
        The loss of each quasi-identifier, from 0 (one value) to 1 (the whole domain).

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ambiguity_by_attribute(release, raw=True)
    {'age': 2.0, 'sex': 1.5}
    """
    boxes = released_boxes(release)
    found = {}
    for j, column in enumerate(boxes.columns):
        sizes = boxes.subsets[j].sizes[boxes.entries[j]]
        mean = _mean(sizes.astype(np.float64), boxes.counts)
        found[column.name] = mean if raw else scaled(mean, 1.0, column.domain, release)
    return found


def _mean(values: Floats, counts: Counts) -> float:
    return float((values * counts).sum() / max(int(counts.sum()), 1))


AMBIGUITY = Metric(
    "ambiguity",
    ambiguity,
    title="Ambiguity",
    scope="cell",
    meaning="tuples that a record may stand for",
    formula="mean over records: product over attributes of the values a cell may stand for",
    use="how many different records a record could describe; a few coarse records dominate",
    source="Goldberger & Tassa 2009",
    published=partial(ambiguity, raw=True),
    raw_range="1 to the product of the domains",
    by_attribute=ambiguity_by_attribute,
)
