"""Class loss: the spread of the original values inside each class.

Suited to comparing tools: it depends on the values in a class, not on how its cells are labelled.
"""

from __future__ import annotations

import numpy as np

from shoal.core.column import Column
from shoal.core.release import Release
from shoal.metrics.cells import class_width, set_share
from shoal.metrics.costs import with_suppressed
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats, weighted_sum


def class_loss(release: Release) -> float:
    """Return the mean spread inside the record's class over all cells, from 0 (best) to 1.

    Ordered: (greatest − least) / extent of the column; nominal: (values − 1) / (domain − 1);
    a suppressed record counts 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss(release)
    0.375
    """
    by_attribute = class_loss_by_attribute(release)
    return float(np.mean(list(by_attribute.values())))


def class_loss_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean spread of each attribute inside the classes.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss_by_attribute(release)
    {'age': 0.25, 'sex': 0.5}
    """
    classes = release.classes
    records = max(release.original.records, 1)
    losses = {}
    for column in release.original.quasi_columns:
        lost = float(classes.suppressed)
        if len(classes):
            lost += weighted_sum(_spread(release, column), classes.rows)
        losses[column.name] = lost / records
    return losses


def class_loss_by_record(release: Release) -> Floats:
    """Return the mean spread inside each record's class.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> class_loss_by_record(release).tolist()
    [0.125, 0.125, 0.625, 0.625]
    """
    if not len(release.classes):
        return np.ones(len(release.original))
    spreads = [_spread(release, column) for column in release.original.quasi_columns]
    by_class = np.mean(spreads, axis=0)
    return with_suppressed(release, by_class[release.classes.ids])


def _spread(release: Release, column: Column) -> Floats:
    """(classes,) spread of the values of a column inside each class, 0 to 1."""
    values = release.classes.row_histogram(column.name)
    if column.ordered:
        return class_width(column, values)
    return set_share(np.diff(values.indptr).astype(np.float64), column.domain)


CLASS_LOSS = Metric(
    "class",
    class_loss,
    title="Class loss",
    scope="class",
    meaning="spread of values inside a class",
    formula="mean over cells: spread of the original values in the record's class / extent",
    use="comparing methods and tools that label their cells differently",
    source="Shoal",
    by_attribute=class_loss_by_attribute,
    by_record=class_loss_by_record,
)
