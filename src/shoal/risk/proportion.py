"""Intervals of counted shares.

Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4), 1934. Korn & Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", Survey Methodology 24(2), 1998.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.support.arrays import Counts, Floats


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
    never more than there are, never fewer than one a cluster. What a single cluster says of others
    nobody knows: 0 to 1.
    """
    from scipy.stats import t

    total, clusters = int(tries.sum()), int((tries > 0).sum())
    value = float(hits.sum()) / max(total, 1)
    if clusters < 2:
        return Interval(value, 0.0, 1.0)
    greatest = float((tries**2).sum()) / total  # tries that say as much as one, if a cluster agrees
    lost = float(t.ppf(0.975, total - 1) / t.ppf(0.975, clusters - 1)) ** 2  # few clusters
    worth = max(lost * total / _design_effect(hits, tries, greatest), total / greatest)
    return _exact(value * worth, worth)


def _design_effect(hits: Counts, tries: Counts, greatest: float) -> float:
    """Return how many tries say as much as an independent one.

    How alike those of a cluster are shows only in clusters that have the rarer outcome: of so many,
    one is taken to agree within, whatever it shows. As measured alone, it is far too low where few
    clusters miss: the interval would then be surer than where none does.
    """
    informative = int(min((hits > 0).sum(), (hits < tries).sum()))
    if not informative:
        return greatest
    total, clusters = float(tries.sum()), int((tries > 0).sum())
    value = float(hits.sum()) / total
    squares = float(((hits - value * tries) ** 2).sum()) * clusters / (clusters - 1)
    measured = min(max(squares / (total * value * (1 - value)), 1.0), greatest)
    return (measured * (informative - 1) + greatest) / informative


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
