"""Entropy: how uncertain a published cell leaves the reader who knows how common values are.

Not monotone: a cell that tells two rare values from all others may leave more open than none.
Gionis & Tassa, "k-Anonymization with minimal loss of information", ESA 2007.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.grouping import sum_by
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.cells import over_members
from shoal.metrics.costs import Price, loss, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric


def entropy(release: Release, *, raw: bool = False) -> float:
    """Conditional entropy of the original cells, against that of suppressed ones, 0 (best) to 1.

    A cell pays the entropy of the original column among the values that it may stand for.
    raw: bits, summed over all cells.
    """
    return loss(release, _price, raw=raw)


def entropy_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the entropy of each attribute's cells."""
    return loss_by_attribute(release, _price, raw=raw)


def entropy_by_record(release: Release) -> Floats:
    """(rows,) the entropy of each record's cells, against that of a suppressed record's."""
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
    meaning="how uncertain a cell leaves its reader",
    formula="sum over cells: entropy of the original column among the cell's values",
    use="attributes whose values are unequally common",
    source="Gionis & Tassa 2007",
    published=partial(entropy, raw=True),
    raw_range="bits, 0 and up",
    by_attribute=entropy_by_attribute,
    by_record=entropy_by_record,
)
