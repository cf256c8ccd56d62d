"""Metrics that are sums over cells: what cells pay altogether, by attribute, by record.

Prices are set once for each dictionary entry, never row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.cells import mean_over_records
from shoal.metrics.scale import scaled


class Price(NamedTuple):
    """What the cells of one attribute pay.

    entries: (entries,) a released cell, by its dictionary entry.
    whole: a cell of a suppressed record, which is the most.
    """

    entries: Floats
    whole: float


Pricing = Callable[[Release, Recoding], Price]


class Paid(NamedTuple):
    """What a record pays on average, and what it would pay if it were suppressed."""

    mean: float
    whole: float


def paid_by_attribute(release: Release, pricing: Pricing) -> dict[str, Paid]:
    """Return what the cells of each attribute pay."""
    found = {}
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        mean = mean_over_records(release, name, price.entries, price.whole)
        found[name] = Paid(mean, price.whole)
    return found


def paid(release: Release, pricing: Pricing) -> Paid:
    """Return what the cells of a record pay together."""
    parts = paid_by_attribute(release, pricing).values()
    return Paid(sum(part.mean for part in parts), sum(part.whole for part in parts))


def loss(release: Release, pricing: Pricing, *, raw: bool = False) -> float:
    """Return what all cells pay against what they would pay if all were suppressed, or the sum."""
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
    """(rows,) what each record pays against what it would pay if it were suppressed.

    weights: how much each attribute counts.
    """
    total, most = np.zeros(len(release.original)), 0.0
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        weight = 1.0 if weights is None else weights[name]
        total += weight * price.entries[recoding.codes]
        most += weight * price.whole
    return with_suppressed(release, total / most if most else np.zeros(len(total)))


def with_suppressed(release: Release, losses: Floats) -> Floats:
    """Return the losses of all rows, 1 where a row is left out."""
    return losses if release.suppressed is None else np.where(release.suppressed, 1.0, losses)
