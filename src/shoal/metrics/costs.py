"""Metrics that are sums over cells: the cost in total, by attribute and by record.

The cost is computed once for each dictionary entry, not row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.cells import mean_over_records
from shoal.metrics.scale import scaled
from shoal.support.arrays import Floats


class Price(NamedTuple):
    """Cost of the cells of one attribute.

    entries: (entries,) cost of a released cell, by its dictionary entry.
    whole: cost of a cell of a suppressed record, which is the maximum.
    """

    entries: Floats
    whole: float


Pricing = Callable[[Release, Recoding], Price]


class Paid(NamedTuple):
    """Mean cost of a record, and its cost if it were suppressed."""

    mean: float
    whole: float


def paid_by_attribute(release: Release, pricing: Pricing) -> dict[str, Paid]:
    """Return the cost of the cells of each attribute."""
    found = {}
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        mean = mean_over_records(release, name, price.entries, price.whole)
        found[name] = Paid(mean, price.whole)
    return found


def paid(release: Release, pricing: Pricing) -> Paid:
    """Return the total cost of the cells of a record."""
    parts = paid_by_attribute(release, pricing).values()
    return Paid(sum(part.mean for part in parts), sum(part.whole for part in parts))


def loss(release: Release, pricing: Pricing, *, raw: bool = False) -> float:
    """Return the cost of all cells divided by their cost if suppressed, or the sum if raw."""
    found = paid(release, pricing)
    if raw:
        return found.mean * release.original.records
    return scaled(found.mean, 0.0, found.whole, release)


def loss_by_attribute(release: Release, pricing: Pricing, *, raw: bool = False) -> dict[str, float]:
    """Return the loss of each attribute, as if it were the only one."""
    found = paid_by_attribute(release, pricing)
    if raw:
        return {name: part.mean * release.original.records for name, part in found.items()}
    return {name: scaled(part.mean, 0.0, part.whole, release) for name, part in found.items()}


def loss_by_record(
    release: Release, pricing: Pricing, weights: Mapping[str, float] | None = None
) -> Floats:
    """(rows,) cost of each record divided by its cost if it were suppressed.

    Parameters:
        weights: Weight of each attribute.
    """
    total, most = np.zeros(len(release.original)), 0.0
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        weight = 1.0 if weights is None else weights[name]
        total += weight * price.entries[recoding.codes]
        most += weight * price.whole
    return with_suppressed(release, total / most if most else np.zeros(len(total)))


def with_suppressed(release: Release, losses: Floats) -> Floats:
    """Return the losses of all rows, 1 for suppressed rows."""
    return losses if release.suppressed is None else np.where(release.suppressed, 1.0, losses)
