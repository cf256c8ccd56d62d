"""Binomial probabilities, and what follows from counted trials: intervals, bounds, inverses.

    `exact_chance`, `exact_tail`            fractions
    `log_chance`, `log_tail`, `log_head`    logarithms, accurate far from the mean
    `proportion`, `clustered_proportion`    a share with its 95 % interval
    `sum_of_chances`                        a sum of independent events with its 95 % range
    `lower_bound`, `upper_bound`            one-sided bounds, exact for every number of trials
    `expected_inverse`                      E(1/F) for a class of which f people were drawn

Loader, "Fast and accurate computation of binomial probabilities", 2000: logarithms of factorials
would lose a digit with each digit of n.
Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4), 1934.
Korn & Graubard, "Confidence intervals for proportions with small expected number of positive counts
estimated from survey data", Survey Methodology 24(2), 1998 (trials in clusters).
Benedetti & Franconi, "Statistical and technological solutions for controlled data dissemination",
1998; Rinott, "On models for statistical disclosure risk estimation", 2003 (the expected inverse).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shoal.support.arrays import Counts, Floats

_LEAST = 1e-18  # a summand below this share of the sum does not change a float
_ERROR = 0.05  # probability that an interval misses the true value
_MAX_CLOSED = 8  # people up to which the closed form is used, for p below one half
_MAX_TERMS = 2000  # the series needs some 400 at most


def exact_chance(j: int, n: int, beta: Fraction) -> Fraction:
    """Return P[Bin(n, β) = j]."""
    if not 0 <= j <= n:
        return Fraction(0)
    drawn, of = beta.as_integer_ratio()
    return Fraction(math.comb(n, j) * drawn**j * (of - drawn) ** (n - j), of**n)


def exact_tail(j: int, n: int, beta: Fraction) -> Fraction:
    """Return P[Bin(n, β) ≥ j], summed from the shorter side."""
    if j <= 0 or j > n:
        return Fraction(int(j <= 0))
    # all summands have the denominator of**n, so the sum is over whole numbers: the weights
    drawn, of = beta.as_integer_ratio()
    upper = n - j < j
    first, last = (j, n) if upper else (0, j - 1)
    weight = math.comb(n, first) * drawn**first * (of - drawn) ** (n - first)
    total = weight
    for i in range(first, last):
        weight = weight * (n - i) * drawn // ((i + 1) * (of - drawn))  # leaves no remainder
        total += weight
    tail = Fraction(total, of**n)
    return tail if upper else 1 - tail


def log_chance(j: int, n: int, beta: float) -> float:
    """Return ln P[Bin(n, β) = j] for 0 ≤ j ≤ n."""
    if j in (0, n):
        return n * math.log(beta) if j else n * math.log1p(-beta)
    misses = n - j
    divergence = j * math.log(j / (n * beta))
    divergence += misses * math.log1p((n * beta - j) / (n * (1 - beta)))
    spread = math.log(2 * math.pi * j * (misses / n)) / 2
    return _stirling(n) - _stirling(j) - _stirling(misses) - divergence - spread


def log_tail(j: int, n: int, beta: float, first: float = 1, slope: float = 0) -> float:
    """Return ln Σ (first + slope·(i − j))·P[Bin(n, β) = i] over i ≥ j, for j above the mean.

    The probabilities fall at each step, so a few of them are enough.
    """
    odds = beta / (1 - beta)
    factor, weight, total = 1.0, first, first
    for i in range(j, n):
        factor *= (n - i) / (i + 1) * odds
        weight += slope
        more = factor * weight
        total += more
        if more < _LEAST * total:
            break
    return log_chance(j, n, beta) + math.log(total)


def log_head(j: int, n: int, beta: float, first: float = 1, slope: float = 0) -> float:
    """Return ln Σ (first + slope·(j − i))·P[Bin(n, β) = i] over i ≤ j, for j below the mean."""
    return log_tail(n - j, n, 1 - beta, first, slope)


def _stirling(n: int) -> float:
    """Return by how much ln n! exceeds Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
    square = float(n) * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n


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
    # one cluster says nothing about how much clusters differ
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
    # events of one probability are drawn together, as one binomial number
    each, events = np.unique(chances, return_counts=True)
    drawn = np.zeros(draws, dtype=np.int64)
    rng = np.random.default_rng(seed)
    for chance, count in zip(each.tolist(), events.tolist(), strict=True):
        drawn += rng.binomial(count, min(chance, 1.0), draws)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(chances.sum()), float(low), float(high))


def lower_bound(hits: ArrayLike, trials: float, error: float) -> Floats:
    """Return a lower bound on the probability of a hit.

    Parameters:
        hits: Number of hits, one or several; fractions are allowed.
        trials: Number of trials.
        error: Probability that the bound is too high, at most.

    Returns:
        The bound for each number of hits.
    """
    from scipy.stats import beta

    counts = np.asarray(hits, dtype=np.float64)
    bounds = beta.ppf(error, np.where(counts > 0, counts, 1.0), trials - counts + 1)
    return np.asarray(np.where(counts > 0, bounds, 0.0), dtype=np.float64)


def upper_bound(hits: ArrayLike, trials: float, error: float) -> Floats:
    """Return an upper bound on the probability of a hit.

    Parameters:
        hits: Number of hits, one or several; fractions are allowed.
        trials: Number of trials.
        error: Probability that the bound is too low, at most.

    Returns:
        The bound for each number of hits.
    """
    return 1.0 - lower_bound(trials - np.asarray(hits, dtype=np.float64), trials, error)


def confidence_interval(hits: float, trials: float) -> tuple[float, float]:
    """Return the 95 % interval of the probability of a hit; 0 to 1 without trials."""
    if not trials:
        return 0.0, 1.0
    low = lower_bound(hits, trials, _ERROR / 2)
    return float(low), float(upper_bound(hits, trials, _ERROR / 2))


def expected_inverse(drawn: Floats, share: Floats) -> Floats:
    """Return E(1/F) for classes of which f people were drawn, each with probability p.

    Such a class has F ≥ f people with probability C(F − 1, f − 1) p^f (1 − p)^(F − f).

    E(1/F) is p^f / f · ₂F₁(f, f; f + 1; 1 − p). With x = p / (1 − p), it is x ln(1/p) for f = 1,
    x − x² ln(1/p) for f = 2 and x/2 − x² + x³ ln(1/p) for f = 3; each following value is
    x (1/f − the value before). For p from one half up, where these would lose digits, and for
    larger f it is the series p / f · Σ j! / ((f + 1) … (f + j)) · (1 − p)^j of positive terms.

    Parameters:
        drawn: f, the people who were drawn, 1 or more.
        share: p, the probability that a person is drawn, above 0 and at most 1.

    >>> expected_inverse(np.array([1.0, 2.0]), np.array([0.5, 1.0])).round(6).tolist()
    [0.693147, 0.5]
    """
    f, p = np.asarray(drawn, dtype=np.float64), np.asarray(share, dtype=np.float64)
    inverses = np.empty(len(f))
    closed = (p < 0.5) & (f <= _MAX_CLOSED)
    inverses[closed] = _closed(f[closed], p[closed])
    inverses[~closed] = _series(f[~closed], p[~closed])
    return inverses


def _closed(f: Floats, p: Floats) -> Floats:
    ratio = p / (1 - p)
    value = -ratio * np.log(p)  # of f = 1
    inverses = value.copy()
    for size in range(2, _MAX_CLOSED + 1):
        value = ratio * (1 / (size - 1) - value)  # from f = size − 1 to f = size
        inverses = np.where(f == size, value, inverses)
    return inverses


def _series(f: Floats, p: Floats) -> Floats:
    term = np.ones(len(f))
    total = term.copy()
    for j in range(1, _MAX_TERMS):
        term = term * (1 - p) * j / (f + j)
        total += term
        if (term < 1e-17 * total).all():
            break
    return p / f * total
