"""Intervals of counted shares.

Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4), 1934.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats


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
    from scipy.stats import beta

    if not tries:
        return Interval(0.0, 0.0, 1.0)
    low = float(beta.ppf(0.025, hits, tries - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, tries - hits)) if hits < tries else 1.0
    return Interval(hits / tries, low, high)


def sum_of_chances(chances: Floats, seed: int = 0, draws: int = 10_000) -> Interval:
    """Return how many of independent events happen, on average, and in 95 % of drawn cases."""
    each, events = np.unique(chances, return_counts=True)
    drawn = np.zeros(draws, dtype=np.int64)
    rng = np.random.default_rng(seed)
    for chance, count in zip(each.tolist(), events.tolist(), strict=True):
        drawn += rng.binomial(count, min(chance, 1.0), draws)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(chances.sum()), float(low), float(high))
