"""Confidence bounds on a probability from counted trials, exact for every number of trials.

Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4), 1934.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shoal.support.arrays import Floats

_ERROR = 0.05  # probability that an interval misses the true value


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
