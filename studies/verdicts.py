"""The rule by which a claim agrees, disagrees or stays undecided.

A claim states the range of a quantity. A study estimates the quantity from at least five draws,
with a 95 % interval; a quantity that is computed without sampling needs no draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

import numpy as np

Decision = Literal["agrees", "disagrees", "undecided"]
MIN_DRAWS = 5
RULE = (
    "Verdicts follow one rule. Each claim is about a quantity and the range in which it lies. "
    f"The quantity is estimated from at least {MIN_DRAWS} draws, with a 95 % interval, unless it "
    "is computed exactly. A claim agrees if the whole interval lies in the range, disagrees if the "
    "whole interval lies outside, and is undecided otherwise, or with fewer draws. One method "
    "outperforms another only if the interval of their ratio is clear of 1."
)
_RESAMPLES = 200


@dataclass(frozen=True)
class Estimate:
    """A quantity with its 95 % interval.

    draws: independent draws behind the interval; None if the quantity is exact.
    """

    value: float
    low: float
    high: float
    draws: int | None

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference of two independent estimates (square-and-add intervals)."""
        value = self.value - other.value
        below = math.hypot(self.value - self.low, other.high - other.value)
        above = math.hypot(self.high - self.value, other.value - other.low)
        return Estimate(value, value - below, value + above, _fewest([self, other]))

    def text(self, form: str = ".3f") -> str:
        """Return the value with its interval."""
        if self.draws is None:
            return f"{self.value:{form}}"
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


@dataclass(frozen=True)
class Range:
    """The values that a claim allows, from low to high.

    strict: whether the ends contradict the claim.
    """

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    def contains(self, estimate: Estimate) -> bool:
        """Return whether the whole interval lies in the range."""
        if self.strict:
            return self.low < estimate.low and estimate.high < self.high
        return self.low <= estimate.low and estimate.high <= self.high

    def excludes(self, estimate: Estimate) -> bool:
        """Return whether the whole interval lies outside the range."""
        if self.strict:
            return estimate.high <= self.low or self.high <= estimate.low
        return estimate.high < self.low or self.high < estimate.low


def below(bound: float) -> Range:
    """Return the range of a claim that a quantity is less than a bound."""
    return Range(high=bound, strict=True)


def above(bound: float) -> Range:
    """Return the range of a claim that a quantity is greater than a bound."""
    return Range(low=bound, strict=True)


def at_most(bound: float) -> Range:
    """Return the range of a claim that a quantity does not exceed a bound."""
    return Range(high=bound)


def at_least(bound: float) -> Range:
    """Return the range of a claim that a quantity reaches a bound."""
    return Range(low=bound)


def between(low: float, high: float) -> Range:
    """Return the range of a claim that a quantity lies between two bounds, or on them."""
    return Range(low, high)


def near(published: float, tolerance: float) -> Range:
    """Return the range of a claim that states a value, with the tolerance that counts as equal."""
    return Range(published - tolerance, published + tolerance)


def decide(estimate: Estimate, claimed: Range) -> Decision:
    """Return the verdict on a claim by the rule of this module."""
    if estimate.draws is not None and estimate.draws < MIN_DRAWS:
        return "undecided"
    if claimed.contains(estimate):
        return "agrees"
    return "disagrees" if claimed.excludes(estimate) else "undecided"


def all_of(decisions: Iterable[Decision]) -> Decision:
    """Return the verdict on a claim with several parts, which holds only if each part does."""
    each = set(decisions)
    if "disagrees" in each:
        return "disagrees"
    return "agrees" if each == {"agrees"} else "undecided"


def unless_refuted(*, refuted: bool) -> Decision:
    """Return the verdict on a claim about all cases: one counterexample refutes it, none proves it.

    refuted: whether a counterexample is known.
    """
    return "disagrees" if refuted else "undecided"


def exact(value: float) -> Estimate:
    """Return a quantity that is computed without sampling."""
    return Estimate(value, value, value, None)


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Return the mean over draws with Student's 95 % interval."""
    middle, half = fmean(values), half_width(values)
    return Estimate(middle, middle - half, middle + half, len(values))


def estimate_ratio(logarithms: Sequence[float]) -> Estimate:
    """Return the geometric mean of ratios over draws, with Student's interval of the logarithm."""
    found = estimate_mean(logarithms)
    low, middle, high = (math.exp(end) for end in (found.low, found.value, found.high))
    return Estimate(middle, low, high, found.draws)


def estimate_share(hits: int, tries: int) -> Estimate:
    """Return the share of hits among independent tries, with the Clopper-Pearson interval."""
    from shoal.support.proportions import proportion

    return Estimate(*proportion(hits, tries), tries)


def resample(draws: int, statistic: Callable[[Sequence[int]], float], seed: int = 0) -> Estimate:
    """Return a statistic of some draws, with the interval over resampled draws (bootstrap).

    statistic: of the indexes of draws, with repetitions.
    """
    generator = np.random.default_rng(seed)
    value = statistic(range(draws))
    values = [statistic(generator.integers(0, draws, draws).tolist()) for _ in range(_RESAMPLES)]
    low, high = np.quantile(values, [0.025, 0.975])
    return Estimate(value, min(float(low), value), max(float(high), value), draws)


def average(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of estimates that may depend on each other: their mean interval."""
    value, low, high = (
        fmean(getattr(each, name) for each in estimates) for name in ("value", "low", "high")
    )
    return Estimate(value, low, high, _fewest(estimates))


def half_width(values: Sequence[float]) -> float:
    """Return half the width of Student's 95 % interval of the mean; infinite for one value."""
    from scipy.stats import t

    if len(values) < 2:
        return math.inf
    return float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))


def _fewest(estimates: Sequence[Estimate]) -> int | None:
    """Return the smallest number of draws; exact quantities need none."""
    return min((each.draws for each in estimates if each.draws is not None), default=None)
