"""Normalized Certainty Penalty, and its sum over a record, the Global Certainty Penalty.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, definitions
8 and 9; Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
"""

from __future__ import annotations

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.costs import Price, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats


def ncp(release: Release) -> float:
    """Return the mean penalty of a cell, weighted by attribute, from 0 (best) to 1.

    An ordered cell costs the width of its range divided by the column's extent, a nominal cell
    (values − 1) / domain; a suppressed record costs 1. Attribute weights are scaled to sum to 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp(release)
    0.25
    """
    total = sum(column.weight for column in release.original.quasi_columns)
    return gcp(release) / total if total else 0.0


def gcp(release: Release) -> float:
    """Return the mean over records of the weighted sum of cell penalties, 0 (best) and up.

    Parameters:
        release: The release to measure.

    Returns:
        The penalty, from 0 to the sum of the attributes' weights.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> gcp(release)  # each of the two columns costs 0.25 on average
    0.5
    """
    by_attribute = ncp_by_attribute(release)
    return sum(
        column.weight * by_attribute[column.name] for column in release.original.quasi_columns
    )


def ncp_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean penalty of each attribute's cells.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp_by_attribute(release)
    {'age': 0.25, 'sex': 0.25}
    """
    return loss_by_attribute(release, _price)


def ncp_by_record(release: Release) -> Floats:
    """Return the mean penalty of each record's cells, weighted by attribute.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp_by_record(release).tolist()
    [0.125, 0.125, 0.375, 0.375]
    """
    weights = {column.name: column.weight for column in release.original.quasi_columns}
    return loss_by_record(release, _price, weights)


def _price(release: Release, recoding: Recoding) -> Price:
    if recoding.column.ordered:
        return Price(recoding.widths(), 1.0)
    sizes = recoding.subsets.sizes
    return Price(np.asarray((sizes - 1) / max(recoding.column.domain, 1), dtype=np.float64), 1.0)


NCP = Metric(
    "ncp",
    ncp,
    title="Normalized certainty penalty",
    scope="cell",
    by_cell=True,
    meaning="normalized certainty penalty, weighted by attribute",
    formula="mean over cells: width of a range / extent, or (values − 1) / domain",
    use="the usual single figure; uses the weights of attributes",
    source="Xu et al. 2006; Liang 2020",
    published=gcp,
    raw_range="0 to the sum of weights",
    by_attribute=ncp_by_attribute,
    by_record=ncp_by_record,
)
