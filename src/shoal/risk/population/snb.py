"""Slide negative binomial: the size of a population class, less one, is negative binomial.

Chen & Keller-McNulty, "Estimation of identification disclosure risk in microdata", JOS 14(1), 1998;
the number of classes after Haas & Stokes, "Estimating the number of classes in a finite
population", JASA 93(444), 1998 (Shlosser's estimator, modified).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.risk.population.frequencies import Frequencies
from shoal.support.arrays import Floats

_STARTS = ((0.05, 0.5), (0.5, 0.1), (0.5, 0.9), (1.0, 0.5), (2.0, 0.5), (5.0, 0.8), (0.2, 0.02))
_CLOSE = 1e-6  # relative error of the two equations that counts as solved


@dataclass(frozen=True)
class SlideNegativeBinomial:
    """Population classes whose size is 1 + NB(α, β).

    Parameters:
        classes: Number of classes.
        alpha, beta: Parameters α and β; a class is a single person with probability β^α.
    """

    classes: float
    alpha: float
    beta: float

    @classmethod
    def fit(cls, sample: Frequencies, fraction: float) -> SlideNegativeBinomial | None:
        """Return the model that expects the sample's classes of one and of two records.

        Parameters:
            sample: The sizes of classes.
            fraction: Share of the population that the sample contains.

        Returns:
            The model, None if no parameters fit.
        """
        from scipy.optimize import root

        ones, twos = sample.having(1), sample.having(2)
        if not ones or not twos or fraction >= 1:
            return None
        classes = shlosser(sample, fraction)

        def log_errors(point: Any) -> Floats:
            alpha, beta = _parameters(point)
            counts = expected(classes, alpha, beta, fraction)
            return np.log(np.maximum(counts, 1e-300)) - np.log([ones, twos])

        for alpha, beta in _STARTS:
            start = np.array([np.log(alpha), np.log(beta / (1 - beta))])
            with np.errstate(all="ignore"):  # a step may leave the range of floats
                solution = root(log_errors, start, method="hybr")
                if np.abs(log_errors(solution.x)).max() < _CLOSE:
                    return cls(classes, *_parameters(solution.x))
        return None

    @property
    def uniques(self) -> float:
        """Expected number of classes of one person."""
        return float(self.classes * self.beta**self.alpha)


def expected(classes: float, alpha: float, beta: float, fraction: float) -> Floats:
    """Return the expected number of sample classes of one and of two records.

    Each person is drawn with probability π (`fraction`).

    With d = (1 − π)(1 − β) and g = (β / (1 − d))^α:
    K·π·g·(1 + α·d / (1 − d)) and K·π²/2·α·(1 − β)·g·(2 − (1 − α)·d) / (1 − d)².
    """
    d = (1 - fraction) * (1 - beta)
    g = (beta / (1 - d)) ** alpha
    ones = fraction * g * (1 + alpha * d / (1 - d))
    twos = fraction**2 / 2 * alpha * (1 - beta) * g * (2 - (1 - alpha) * d) / (1 - d) ** 2
    return classes * np.array([ones, twos])


def shlosser(sample: Frequencies, fraction: float) -> float:
    """Return the estimated number of classes of the population.

    u + s₁·(Σ i·π²(1 − π²)^(i−1)·sᵢ / Σ (1 − π)^i((1 + π)^i − 1)·sᵢ)·(Σ (1 − π)^i·sᵢ /
    Σ i·π(1 − π)^(i−1)·sᵢ)².
    """
    i, s = sample.sizes.astype(np.float64), sample.classes
    miss, square = 1 - fraction, fraction**2
    if miss <= 0:
        return float(sample.groups)
    hidden = (miss**i * s).sum()
    once = (i * fraction * miss ** (i - 1) * s).sum()
    twice = (i * square * (1 - square) ** (i - 1) * s).sum()
    grown = (((1 - square) ** i - miss**i) * s).sum()  # (1 − π)^i·(1 + π)^i = (1 − π²)^i
    return float(sample.groups + sample.uniques * (twice / grown) * (hidden / once) ** 2)


def _parameters(point: Any) -> tuple[float, float]:
    alpha = float(np.exp(np.clip(point[0], -30, 30)))
    return alpha, float(1 / (1 + np.exp(-np.clip(point[1], -40, 40))))
