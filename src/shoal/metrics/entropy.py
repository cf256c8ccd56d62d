"""Entropy: uncertainty about the original value of a cell, given the frequencies of the values.

Not monotone: a cell of two rare values can have a higher entropy than the whole column.
Gionis & Tassa, "k-Anonymization with minimal loss of information", ESA 2007.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.grouping import sum_by
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.cells import over_members
from shoal.metrics.costs import Price, loss, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats


def entropy(release: Release, *, raw: bool = False) -> float:
    """Return the conditional entropy of the original cells, from 0 (best) to 1 (all suppressed).

    A cell costs the entropy of the original column among the values that it may stand for.

    Parameters:
        release: The release to measure.
        raw: Return bits, summed over all cells.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> round(entropy(release), 3)
    0.5
    """
    return loss(release, _price, raw=raw)


def entropy_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the conditional entropy of each attribute's cells.

    Parameters:
        release: The release to measure.
        raw: Return bits, summed over the cells.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> entropy_by_attribute(release)
    {'age': 0.5, 'sex': 0.5}
    """
    return loss_by_attribute(release, _price, raw=raw)


def entropy_by_record(release: Release) -> Floats:
    """Return the entropy of each record's cells, divided by that of a suppressed record.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> entropy_by_record(release).round(3).tolist()
    [0.356, 0.356, 0.644, 0.644]
    """
    return loss_by_record(release, _price)


def _price(release: Release, recoding: Recoding) -> Price:
    column, subsets = recoding.column, recoding.subsets
    seen = sum_by(column.codes, column.domain, release.original.counts)
    weighed = seen * np.log2(np.maximum(seen, 1))
    together = np.maximum(over_members(subsets, seen), 1)
    bits = np.log2(together) - over_members(subsets, weighed) / together
    bits[subsets.sizes == 1] = 0.0
    records = max(release.original.records, 1)
    whole = float(np.log2(records) - weighed.sum() / records) if column.domain > 1 else 0.0
    return Price(np.maximum(bits, 0.0), max(whole, 0.0))


ENTROPY = Metric(
    "entropy",
    entropy,
    title="Entropy",
    scope="cell",
    meaning="uncertainty about the original value of a cell",
    formula="sum over cells: entropy of the original column among the cell's values",
    use="attributes whose values differ in frequency",
    source="Gionis & Tassa 2007",
    published=partial(entropy, raw=True),
    raw_range="bits, 0 and up",
    by_attribute=entropy_by_attribute,
    by_record=entropy_by_record,
)
