"""Whether chains of draws have settled, and how far their mean may be off.

Gelman et al., "Bayesian Data Analysis", 2013 (R-hat over halves of chains, effective draws);
Flegal & Jones, "Batch means and spectral variance estimators in Markov chain Monte Carlo", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.support.arrays import Floats

RHAT = 1.02  # the most that settled chains show
LENGTH = 6  # autocorrelation times that a batch must last
_BATCHES = 8  # of each chain
_CERTAIN = (
    0.96  # a walk ends when its interval is short: this much of each keeps 0.95 of those kept
)
_SAME = 1e-12  # relative differences that are rounding


@dataclass(frozen=True, eq=False)
class Convergence:
    """What draws say of their mean: (chains, draws), two chains or more."""

    draws: Floats

    @property
    def mean(self) -> float:
        """The mean of all draws."""
        return float(self.draws.mean())

    @property
    def constant(self) -> bool:
        """Whether all draws are the same but for rounding."""
        return bool(np.ptp(self.draws) <= _SAME * abs(self.mean))

    @cached_property
    def rhat(self) -> float:
        """How much wider all halves of chains scatter than each of them; 1 where they agree."""
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
        """Half the width of the 95 % interval, by Student's law over batches of draws."""
        from scipy.stats import t

        length = self.draws.shape[1] // _BATCHES
        kept = self.draws[:, -length * _BATCHES :]
        batches = kept.reshape(-1, length).mean(axis=1)
        count = len(batches)
        missed = min((self.correlation_time - 1) / length, 0.5)  # what goes over batches' ends
        error = float(batches.std(ddof=1)) / np.sqrt(count * (1 - missed))
        return float(t.ppf((1 + _CERTAIN) / 2, count - 1) * error + _SAME * abs(self.mean))

    @property
    def settled(self) -> bool:
        """Whether the chains agree, and last long enough for their interval to be trusted."""
        length = self.draws.shape[1] // _BATCHES
        enough = self.constant or length >= LENGTH * self.correlation_time
        return self.rhat <= RHAT and enough
