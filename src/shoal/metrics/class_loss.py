"""Class loss: how far apart the values inside a class really are.

The yardstick for comparing tools: it looks at what a class mixes, however its cells are labelled.
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import weighted_sum
from shoal.core.release import Release
from shoal.metrics.cells import class_width, set_share


def class_loss(release: Release) -> float:
    """Mean over all cells of the spread inside the record's class, from 0 (best) to 1.

    Ordered: (greatest − least) / extent of the column; nominal: (values − 1) / (domain − 1);
    a suppressed record counts 1.
    """
    by_attribute = class_loss_by_attribute(release)
    return float(np.mean(list(by_attribute.values())))


def class_loss_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean spread of each attribute."""
    classes = release.classes
    records = max(release.original.records, 1)
    losses = {}
    for column in release.original.quasi_columns:
        lost = float(classes.suppressed)
        if len(classes):
            values = classes.histogram(column.name)
            if column.ordered:
                spread = class_width(column, values)
            else:
                spread = set_share(np.diff(values.indptr).astype(np.float64), column.domain)
            lost += weighted_sum(spread, classes.sizes)
        losses[column.name] = lost / records
    return losses
