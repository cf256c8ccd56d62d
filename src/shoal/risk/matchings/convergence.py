"""Convergence of chains of draws, and the interval of their mean.

Gelman et al., "Bayesian Data Analysis", 2013 (R-hat over halves of chains, effective draws);
Flegal & Jones, "Batch means and spectral variance estimators in Markov chain Monte Carlo", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.support.arrays import Floats

RHAT = 1.02  # maximum R-hat of chains that have converged
LENGTH = 6  # autocorrelation times that a batch must last
_BATCHES = 8  # batches of each chain
_LEVEL = 0.96  # of an interval; a walk stops when its interval is short, which lowers it to 95 %
_ROUNDING = 1e-12  # relative differences that are rounding errors


@dataclass(frozen=True, eq=False)
class Convergence:
    """Statistics of several chains of draws.

    Parameters:
        draws: (chains, draws) values of at least two chains.
    """

    draws: Floats

    @property
    def mean(self) -> float:
        """The mean of all draws."""
        return float(self.draws.mean())

    @property
    def constant(self) -> bool:
        """Whether all draws are equal up to rounding."""
        return bool(np.ptp(self.draws) <= _ROUNDING * abs(self.mean))

    @cached_property
    def rhat(self) -> float:
        """R-hat: spread over all halves of chains over that in each half; 1 if they agree."""
        if self.constant:
            return 1.0
        count = self.draws.shape[1] // 2
        halves = np.concatenate([self.draws[:, :count], self.draws[:, -count:]])
        within = float(halves.var(axis=1, ddof=1).mean())
        between = float(halves.mean(axis=1).var(ddof=1))
        if within == 0:
            return float("inf")
        return float(np.sqrt((count - 1) / count + between / within))

    @cached_property
    def correlation_time(self) -> float:
        """Number of draws that carry the information of one independent draw; at least 1."""
        if self.constant:
            return 1.0
        count = self.draws.shape[1]
        centred = self.draws - self.draws.mean(axis=1, keepdims=True)
        power = np.abs(np.fft.rfft(centred, 2 * count, axis=1)) ** 2
        covariance = np.fft.irfft(power, axis=1)[:, :count].mean(axis=0) / count
        within = covariance[0] * count / (count - 1)
        spread = covariance[0] + float(self.draws.mean(axis=1).var(ddof=1))
        correlation = 1 - (within - covariance) / spread
        correlation[0] = 1.0
        pairs = correlation[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else None])
        return max(float(2 * pairs.sum() - 1), 1.0)

    @property
    def effective(self) -> float:
        """Effective sample size: the number of independent draws with the same information."""
        return self.draws.size / self.correlation_time

    @cached_property
    def half_width(self) -> float:
        """Half the width of the 95 % interval, by Student's t over batches of draws."""
        from scipy.stats import t

        length = self.draws.shape[1] // _BATCHES
        kept = self.draws[:, -length * _BATCHES :]
        batches = kept.reshape(-1, length).mean(axis=1)
        count = len(batches)
        missed = min(
            (self.correlation_time - 1) / length, 0.5
        )  # correlation across the ends of batches
        error = float(batches.std(ddof=1)) / np.sqrt(count * (1 - missed))
        return float(t.ppf((1 + _LEVEL) / 2, count - 1) * error + _ROUNDING * abs(self.mean))

    @property
    def settled(self) -> bool:
        """Whether the chains agree and are long enough for a reliable interval."""
        length = self.draws.shape[1] // _BATCHES
        enough = self.constant or length >= LENGTH * self.correlation_time
        return self.rhat <= RHAT and enough
