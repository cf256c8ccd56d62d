"""Intervals of counted shares.

Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4), 1934. Korn & Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", Survey Methodology 24(2), 1998.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Counts, Floats


class Interval(NamedTuple):
    """A figure, and what it lies between with 95 % certainty."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return it as plain data."""
        return {"value": self.value, "low": self.low, "high": self.high}


def proportion(hits: int, tries: int) -> Interval:
    """Return the share of hits with its exact interval; 0 to 1 where nothing was tried."""
    return _exact(hits, tries) if tries else Interval(0.0, 0.0, 1.0)


def clustered_proportion(hits: Counts, tries: Counts) -> Interval:
    """Return the share of hits among tries that come in clusters, such as several of one person.

    hits, tries: (clusters,). The interval is that of as many independent tries as say the same,
    never more than there are; where nothing varies at all, of one try a cluster. What a single
    cluster says of others nobody knows: 0 to 1.
    """
    from scipy.stats import t

    total, clusters = int(tries.sum()), int((tries > 0).sum())
    value = float(hits.sum()) / max(total, 1)
    if clusters < 2:
        return Interval(value, 0.0, 1.0)
    if value in (0.0, 1.0):
        return _exact(value * clusters, clusters)
    squares = float(((hits - value * tries) ** 2).sum())
    variance = squares * clusters / (clusters - 1) / total**2
    worth = float(total)
    if variance > 0:
        lost = (t.ppf(0.975, total - 1) / t.ppf(0.975, clusters - 1)) ** 2  # few clusters
        worth = min(worth, value * (1 - value) / variance * float(lost))
    return _exact(value * worth, worth)


def sum_of_chances(chances: Floats, seed: int = 0, draws: int = 10_000) -> Interval:
    """Return how many of independent events happen, on average, and in 95 % of drawn cases."""
    each, events = np.unique(chances, return_counts=True)
    drawn = np.zeros(draws, dtype=np.int64)
    rng = np.random.default_rng(seed)
    for chance, count in zip(each.tolist(), events.tolist(), strict=True):
        drawn += rng.binomial(count, min(chance, 1.0), draws)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(chances.sum()), float(low), float(high))


def _exact(hits: float, tries: float) -> Interval:
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, tries - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, tries - hits)) if hits < tries else 1.0
    return Interval(hits / tries, low, high)
