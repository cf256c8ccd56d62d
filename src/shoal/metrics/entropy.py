"""Losses in bits, or of published labels: entropy, non-uniform entropy, published loss.

    entropy               uncertainty about a cell's original value, given the values' frequencies;
                          not monotone: a cell of two rare values can exceed the whole column
    non_uniform_entropy   bits that identify the original value; monotone, and rare values count
                          more
    published_loss        width of the published label, whatever the frequencies

Gionis & Tassa, "k-Anonymization with minimal loss of information", ESA 2007.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.metrics.divergence import with_hidden_rows
from shoal.metrics.metric import (
    Metric,
    Price,
    loss,
    loss_by_attribute,
    loss_by_record,
    over_members,
    scaled,
    set_share,
    with_suppressed,
)
from shoal.release.release import Release
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.table.classes import count_values
from shoal.table.people import sum_by
from shoal.table.recoding import Recoding


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
    return loss(release, _entropy_price, raw=raw)


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
    return loss_by_attribute(release, _entropy_price, raw=raw)


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
    return loss_by_record(release, _entropy_price)


def _entropy_price(release: Release, recoding: Recoding) -> Price:
    column, subsets = recoding.column, recoding.subsets
    # the entropy of counts n with sum N is log₂ N − Σ n log₂ n / N: both sums over a cell's values
    seen = sum_by(column.codes, column.domain, release.original.counts)
    weighed = seen * np.log2(np.maximum(seen, 1))
    together = np.maximum(over_members(subsets, seen), 1)
    bits = np.log2(together) - over_members(subsets, weighed) / together
    bits[subsets.sizes == 1] = 0.0
    records = max(release.original.records, 1)
    most = float(np.log2(records) - weighed.sum() / records) if column.domain > 1 else 0.0
    return Price(np.maximum(bits, 0.0), max(most, 0.0))


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


class _Bits(NamedTuple):
    """Bits of one attribute over all records: needed after release, and held by the original."""

    lacking: float
    held: float


def non_uniform_entropy(release: Release, *, raw: bool = False) -> float:
    """Return the bits needed to identify every original cell, 0 (best) to 1 (all suppressed).

    A cell costs −log₂ of its original value's share among the values that it may stand for.

    Parameters:
        release: The release to measure.
        raw: Return bits, summed over all cells.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> round(non_uniform_entropy(release), 3)
    0.57
    """
    parts = [_bits(release, recoding) for recoding in with_hidden_rows(release).values()]
    lacking, held = sum(part.lacking for part in parts), sum(part.held for part in parts)
    return lacking if raw else scaled(lacking, 0.0, held, release)


def non_uniform_entropy_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the bits needed in each attribute, divided by those of the original.

    Parameters:
        release: The release to measure.
        raw: Return the bits, summed over the cells.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> bits = non_uniform_entropy_by_attribute(release, raw=True)
    >>> bits["age"]  # each cell stands for two equally frequent ages
    4.0
    """
    parts = {name: _bits(release, found) for name, found in with_hidden_rows(release).items()}
    if raw:
        return {name: part.lacking for name, part in parts.items()}
    return {name: scaled(part.lacking, 0.0, part.held, release) for name, part in parts.items()}


def non_uniform_entropy_by_record(release: Release) -> Floats:
    """Return the bits needed to identify each record's cells, divided by those of the mean record.

    A suppressed record needs all bits of its values, which exceeds 1 if its values are rare.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best).

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> non_uniform_entropy_by_record(release).round(3).tolist()
    [0.356, 0.356, 1.067, 0.503]
    """
    records = max(release.original.records, 1)
    total, held = np.zeros(len(release.original)), 0.0
    for recoding in with_hidden_rows(release).values():
        seen, together = _seen(release, recoding)
        total += np.log2(together[recoding.codes] / seen[recoding.column.codes])
        held += _bits(release, recoding).held / records
    return total / held if held else with_suppressed(release, total)


def _bits(release: Release, recoding: Recoding) -> _Bits:
    seen, together = _seen(release, recoding)
    entries = len(recoding.labels)
    pairs = count_values(recoding.column, recoding.codes, entries, release.original.counts)
    owners = np.repeat(np.arange(entries), np.diff(pairs.indptr))
    lacking = weighted_sum(pairs.counts, np.log2(together[owners] / seen[pairs.codes]))
    used = seen[seen > 0]
    return _Bits(lacking, weighted_sum(used, np.log2(release.original.records / used)))


def _seen(release: Release, recoding: Recoding) -> tuple[Counts, Counts]:
    """Return the number of original records with each value, and with any value of each entry."""
    column = recoding.column
    seen = sum_by(column.codes, column.domain, release.original.counts)
    return seen, np.maximum(over_members(recoding.subsets, seen), 1)


NON_UNIFORM_ENTROPY = Metric(
    "non-uniform-entropy",
    non_uniform_entropy,
    title="Non-uniform entropy",
    scope="column",
    meaning="bits needed to identify the original value",
    formula="sum over cells: −log₂ of the original value's share among the cell's values",
    use="the same, but a wider cell never costs less; losing rare values counts more",
    source="Gionis & Tassa 2007",
    published=partial(non_uniform_entropy, raw=True),
    raw_range="bits, 0 and up",
    by_attribute=non_uniform_entropy_by_attribute,
    by_record=non_uniform_entropy_by_record,
)


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
    return loss_by_attribute(release, _published_price)


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
    return loss_by_record(release, _published_price)


def _published_price(release: Release, recoding: Recoding) -> Price:
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
