"""Confidence intervals of counted shares, also if the trials come in clusters.

Korn & Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", Survey Methodology 24(2), 1998.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.support.arrays import Counts, Floats
from shoal.support.binomial import confidence_interval


class Interval(NamedTuple):
    """A figure with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the figures as plain data."""
        return {"value": self.value, "low": self.low, "high": self.high}


def proportion(hits: int, tries: int) -> Interval:
    """Return the share of hits with its exact interval; 0 to 1 if nothing was tried."""
    return Interval(hits / max(tries, 1), *confidence_interval(hits, tries))


def clustered_proportion(hits: Counts, tries: Counts) -> Interval:
    """Return the share of hits among tries that come in clusters, such as several of one person.

    The interval is that of the effective number of independent tries, which is at most the number
    of tries and at least the number of clusters. With a single cluster it is 0 to 1.

    Parameters:
        hits: (clusters,) hits of each cluster.
        tries: (clusters,) tries of each cluster.
    """
    from scipy.stats import t

    total, clusters = int(tries.sum()), int((tries > 0).sum())
    value = float(hits.sum()) / max(total, 1)
    if clusters < 2:
        return Interval(value, 0.0, 1.0)
    largest = float((tries**2).sum()) / total  # design effect if all tries of a cluster agree
    few_clusters = float(t.ppf(0.975, total - 1) / t.ppf(0.975, clusters - 1)) ** 2
    effective = max(few_clusters * total / _design_effect(hits, tries, largest), total / largest)
    return Interval(value, *confidence_interval(value * effective, effective))


def _design_effect(hits: Counts, tries: Counts, largest: float) -> float:
    """Return the number of tries that carry as much information as an independent one.

    Only clusters with the rarer outcome show how similar the tries of a cluster are. The estimate
    treats one of them as if all its tries agreed; without this correction the interval would be
    narrower if a few clusters miss than if none does.
    """
    informative = int(min((hits > 0).sum(), (hits < tries).sum()))
    if not informative:
        return largest
    total, clusters = float(tries.sum()), int((tries > 0).sum())
    value = float(hits.sum()) / total
    squares = float(((hits - value * tries) ** 2).sum()) * clusters / (clusters - 1)
    measured = min(max(squares / (total * value * (1 - value)), 1.0), largest)
    return (measured * (informative - 1) + largest) / informative


def sum_of_chances(chances: Floats, seed: int = 0, draws: int = 10_000) -> Interval:
    """Return the expected number of independent events that happen, with a 95 % range.

    Parameters:
        chances: (events,) the probability of each.
        seed: Seed of the simulation.
        draws: Number of simulated outcomes.
    """
    each, events = np.unique(chances, return_counts=True)
    drawn = np.zeros(draws, dtype=np.int64)
    rng = np.random.default_rng(seed)
    for chance, count in zip(each.tolist(), events.tolist(), strict=True):
        drawn += rng.binomial(count, min(chance, 1.0), draws)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(chances.sum()), float(low), float(high))
