"""The ε and δ that counted runs prove, and the violations that these runs can detect."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.support.arrays import Floats
from shoal.support.binomial import lower_bound, upper_bound

POWER = 0.9  # probability that a violation of the reported size is detected


def proven_delta(low: ArrayLike, high: ArrayLike, epsilon: float) -> Floats:
    """Return the δ that a pair of bounds on an event proves at ε."""
    found = np.asarray(low) - math.exp(epsilon) * np.asarray(high)
    return np.asarray(np.maximum(found, 0.0), dtype=np.float64)


def proven_epsilon(low: ArrayLike, high: ArrayLike, delta: float) -> Floats:
    """Return the ε that a pair of bounds on an event proves at δ; high is never 0."""
    ratio = np.maximum(np.asarray(low) - delta, 0.0) / np.asarray(high)
    return np.asarray(np.log(np.maximum(ratio, 1.0)), dtype=np.float64)


def noticeable_delta(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the smallest probability of an event that is detected 9 times out of 10.

    The event has this probability on one input and probability 0 on its neighbour: the simplest
    violation. 1 if the runs are too few to detect any.
    """
    from scipy.stats import beta

    never = upper_bound(0, runs, error)

    def is_noticed(hits: int) -> bool:
        return float(proven_delta(lower_bound(hits, runs, error), never, epsilon)) > delta

    enough = bisect_left(range(runs + 1), True, key=is_noticed)
    if enough > runs:
        return 1.0
    return float(beta.ppf(POWER, enough, runs - enough + 1))


def noticeable_epsilon(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the smallest ε of a coin that is detected 9 times out of 10 if a smaller ε is claimed.

    The coin is randomised response: the truth with probability e^ε / (1 + e^ε), a lie otherwise.
    Infinite if the runs are too few to detect any.
    """

    def is_noticed(true: float) -> bool:
        return _coin(runs, error, true, delta) > epsilon

    low, high = epsilon, epsilon + 50.0
    if not is_noticed(high):
        return math.inf
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if is_noticed(middle) else (middle, high)
    return high


def _coin(runs: int, error: float, epsilon: float, delta: float) -> float:
    """Return the ε proven for a coin when neither input is luckier than 1 in 20."""
    from scipy.stats import binom

    unlucky = (1 - POWER) / 2
    lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    lies: Any = binom.ppf(1 - unlucky, runs, lie)  # number of lies on either input
    low = lower_bound(runs - lies, runs, error)
    return float(proven_epsilon(low, upper_bound(lies, runs, error), delta))
