"""Pitman: classes as a restaurant where newcomers join large tables, or open one of their own.

Good for small samples of populations with many rare classes.
Pitman, "Exchangeable and partially exchangeable random partitions", 1995; for uniques Hoshino,
"Applying Pitman's sampling formula to microdata disclosure risk assessment", JOS 17(4), 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.risk.population.frequencies import Frequencies
from shoal.support.arrays import Counts, Floats, weighted_sum

_STARTS = ((0.1, 1.0), (0.5, 10.0), (0.8, 100.0), (0.95, 1000.0))  # α, θ + α
_EDGE = 1e-4  # an α this close to 1, or a θ beyond `_MOST` records, has run away
_MOST = 1e4
_LEAST = 12.0  # |logit α| at most: α = 0 is Ewens' model, and as good as reached
_ROUGH = {"xatol": 1e-2, "fatol": 1e-2, "maxiter": 150}  # enough beside a fit
_LARGE = 500  # records of a class whose growth is as good as certain
_SINGLY = 1000  # newcomers up to which each number of them is looked at


@dataclass(frozen=True)
class Pitman:
    """A fitted partition: after n people, the next opens a class with (θ + α·classes) / (θ + n).

    alpha: 0 to 1, the weight of the tail; theta: above −α, the wealth of classes.
    """

    alpha: float
    theta: float

    @classmethod
    def fit(cls, sample: Frequencies, near: Pitman | None = None) -> Pitman | None:
        """Return the likeliest parameters, None where the likelihood has no top inside.

        near: where to look, if it is known; else several starts are tried.
        """
        from scipy.optimize import minimize

        if not 1 < sample.groups < sample.records:
            return None

        def loss(place: Any) -> float:
            value = -_log_likelihood(sample, *_parameters(place))
            return value if np.isfinite(value) else 1e300

        starts: Sequence[tuple[float, float]] = _STARTS
        steps = {"xatol": 1e-4, "fatol": 1e-5, "maxiter": 600}
        if near is not None:
            starts, steps = [(near.alpha, near.theta + near.alpha)], _ROUGH
        tried = (
            minimize(loss, _place(*start), method="Nelder-Mead", options=steps) for start in starts
        )
        alpha, theta = _parameters(min(tried, key=lambda one: float(one.fun)).x)
        inside = alpha < 1 - _EDGE and theta < _MOST * sample.records
        return cls(alpha, theta) if inside else None

    def uniques(self, people: float) -> float:
        """Return how many of so many people are expected to be alone in their class.

        N·Γ(θ + 1)·Γ(θ + α + N − 1) / (Γ(θ + α)·Γ(θ + N)), which for large N is the published
        Γ(θ + 1) / Γ(θ + α)·N^α.
        """
        return people * self.stays_alone(1, people)

    def stays_alone(self, sample: float, people: float) -> float:
        """Return the chance that who is alone among `sample` people is alone among all."""
        from scipy.special import gammaln

        first = gammaln(self.theta + sample) - gammaln(self.theta + sample - 1 + self.alpha)
        last = gammaln(self.theta + people) - gammaln(self.theta + people - 1 + self.alpha)
        return float(np.exp(first - last))

    def inverse_sizes(self, sizes: Counts, sample: int, people: float) -> Floats:
        """Return what 1 / F is expected to be for classes that show f records in the sample.

        f − α of θ + n parts of the newcomers join such a class: their number is beta-binomial.
        """
        newcomers = max(round(people) - sample, 0)
        expected = sizes + newcomers * (sizes - self.alpha) / (self.theta + sample)
        found = 1 / expected
        for place, size in enumerate(sizes.tolist()):
            if size <= _LARGE:
                found[place] = self._inverse_size(size, sample, newcomers)
        return np.asarray(found, dtype=np.float64)

    def _inverse_size(self, size: int, sample: int, newcomers: int) -> float:
        from scipy.special import betaln, gammaln

        joined, widths = _lattice(newcomers)
        own, rest = size - self.alpha, self.theta + sample - size + self.alpha
        log = gammaln(newcomers + 1) - gammaln(joined + 1) - gammaln(newcomers - joined + 1)
        log += betaln(joined + own, newcomers - joined + rest) - betaln(own, rest)
        chances = np.exp(log) * widths
        return weighted_sum(chances, 1 / (size + joined)) / float(chances.sum())


def _lattice(most: int) -> tuple[Floats, Floats]:
    """Return whole numbers 0 … most, ever fewer of them, and how many each stands for."""
    if most <= _SINGLY:
        return np.arange(most + 1.0), np.ones(most + 1)
    steps = np.geomspace(_SINGLY, most, 3000).round()
    found = np.unique(np.concatenate([np.arange(_SINGLY + 1.0), steps]))
    gaps = np.diff(found)
    return found, (np.append(gaps, 1.0) + np.insert(gaps, 0, 1.0)) / 2


def _parameters(place: Any) -> tuple[float, float]:
    """Return α and θ of a point of the plane."""
    alpha = float(1 / (1 + np.exp(-np.clip(place[0], -_LEAST, _LEAST))))
    return alpha, float(np.exp(np.clip(place[1], -30, 40))) - alpha


def _place(alpha: float, above: float) -> Floats:
    return np.array([np.log(alpha / (1 - alpha)), np.log(above)])


def _log_likelihood(sample: Frequencies, alpha: float, theta: float) -> float:
    """Return ln Π(θ + iα) − ln (θ + 1)…(θ + n − 1) + Σ ln (1 − α)…(f − 1 − α), constants aside."""
    from scipy.special import gammaln

    groups, records = sample.groups, sample.records
    ratio = theta / alpha
    opened = (groups - 1) * np.log(alpha) + gammaln(ratio + groups) - gammaln(ratio + 1)
    seated = gammaln(theta + records) - gammaln(theta + 1)
    grown = gammaln(sample.sizes - alpha) - gammaln(1 - alpha)
    return float(opened - seated) + weighted_sum(grown, sample.classes)
