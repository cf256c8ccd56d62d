"""Published loss: uncertainty of each published cell.

Like class loss, but measured on the published label.
"""

from __future__ import annotations

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.cells import set_share
from shoal.metrics.costs import Price, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats


def published_loss(release: Release) -> float:
    """Return the mean uncertainty of the published cells, from 0 (best) to 1.

    Ordered: width of the published bounds / extent of the column; nominal: (values that the cell
    may stand for − 1) / (domain − 1); a suppressed record counts 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> published_loss(release)
    0.375
    """
    return float(np.mean(list(published_loss_by_attribute(release).values())))


def published_loss_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean uncertainty of each attribute's cells.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> published_loss_by_attribute(release)
    {'age': 0.25, 'sex': 0.5}
    """
    return loss_by_attribute(release, _price)


def published_loss_by_record(release: Release) -> Floats:
    """Return the mean uncertainty of each record's cells.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> published_loss_by_record(release).tolist()
    [0.125, 0.125, 0.625, 0.625]
    """
    return loss_by_record(release, _price)


def _price(release: Release, recoding: Recoding) -> Price:
    if recoding.column.ordered:
        return Price(recoding.widths(), 1.0)
    sizes = recoding.subsets.sizes.astype(np.float64)
    return Price(set_share(sizes, recoding.column.domain), 1.0)


PUBLISHED_LOSS = Metric(
    "pub",
    published_loss,
    title="Published loss",
    scope="cell",
    by_cell=True,
    meaning="uncertainty of a published cell",
    formula="mean over cells: width of a range / extent, or (values − 1) / (domain − 1)",
    use="the loss for a reader of the file",
    source="Shoal",
    by_attribute=published_loss_by_attribute,
    by_record=published_loss_by_record,
)
