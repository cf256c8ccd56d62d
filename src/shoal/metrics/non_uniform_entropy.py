"""Non-uniform entropy: bits needed to identify the original value of a cell.

Monotone, unlike entropy: a wider cell never costs less, and losing a rare value costs more.
Gionis & Tassa, "k-Anonymization with minimal loss of information", ESA 2007.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.core.grouping import sum_by
from shoal.core.histogram import count_values
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.boxes import with_hidden_rows
from shoal.metrics.cells import over_members
from shoal.metrics.costs import with_suppressed
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Counts, Floats, weighted_sum


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
