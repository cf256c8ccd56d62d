"""Granularity: how many other values a cell may stand for.

Every value counts alike, however near or common it is.
Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.costs import Price, loss, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric


def granularity(release: Release, *, raw: bool = False) -> float:
    """Other values that cells may stand for, against those of suppressed ones, 0 (best) to 1.

    A cell pays (values − 1) / domain, whatever kind its column is.
    raw: the sum over all cells.
    """
    return loss(release, _price, raw=raw)


def granularity_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the granularity of each attribute's cells."""
    return loss_by_attribute(release, _price, raw=raw)


def granularity_by_record(release: Release) -> Floats:
    """(rows,) what each record's cells pay, against a suppressed record's."""
    return loss_by_record(release, _price)


def _price(release: Release, recoding: Recoding) -> Price:
    domain = max(recoding.column.domain, 1)
    others = recoding.subsets.sizes - 1
    return Price(np.asarray(others / domain, dtype=np.float64), (domain - 1) / domain)


GRANULARITY = Metric(
    "granularity",
    granularity,
    title="Granularity",
    meaning="other values that a cell may stand for",
    formula="sum over cells: (values − 1) / domain",
    use="nominal data, or numbers whose distances mean nothing",
    source="Iyengar 2002",
    published=partial(granularity, raw=True),
    raw_range="0 to cells",
    by_attribute=granularity_by_attribute,
    by_record=granularity_by_record,
)
