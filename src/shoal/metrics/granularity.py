"""Granularity: number of other values that a cell may stand for.

Every value counts the same, regardless of its distance and frequency.
Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.costs import Price, loss, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats


def granularity(release: Release, *, raw: bool = False) -> float:
    """Return the other values that cells may stand for, from 0 (best) to 1 (all suppressed).

    A cell costs (values − 1) / domain, whatever the kind of its column.

    Parameters:
        release: The release to measure.
        raw: Return the sum over all cells.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity(release), granularity(release, raw=True)
    (0.4, 2.0)
    """
    return loss(release, _price, raw=raw)


def granularity_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the granularity of each attribute's cells.

    Parameters:
        release: The release to measure.
        raw: Return the sum over the cells.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity_by_attribute(release, raw=True)
    {'age': 1.0, 'sex': 1.0}
    """
    return loss_by_attribute(release, _price, raw=raw)


def granularity_by_record(release: Release) -> Floats:
    """Return the cost of each record's cells, divided by that of a suppressed record.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity_by_record(release).round(3).tolist()
    [0.2, 0.2, 0.6, 0.6]
    """
    return loss_by_record(release, _price)


def _price(release: Release, recoding: Recoding) -> Price:
    domain = max(recoding.column.domain, 1)
    others = recoding.subsets.sizes - 1
    return Price(np.asarray(others / domain, dtype=np.float64), (domain - 1) / domain)


GRANULARITY = Metric(
    "granularity",
    granularity,
    title="Granularity",
    scope="cell",
    by_cell=True,
    meaning="other values that a cell may stand for",
    formula="sum over cells: (values − 1) / domain",
    use="nominal data, or numbers without meaningful distances",
    source="Iyengar 2002",
    published=partial(granularity, raw=True),
    raw_range="0 to cells",
    by_attribute=granularity_by_attribute,
    by_record=granularity_by_record,
)
