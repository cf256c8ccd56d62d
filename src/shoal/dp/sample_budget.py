"""How a sampled release divides its budget, and which k reaches a δ.

`shoal dp plan` and `safe-la` both use this module, so every planned setting can run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from shoal.dp.rates import as_rate, check_count
from shoal.dp.sampling import (
    LEAST_BUDGET,
    MOST_BUDGET,
    ROUNDING,
    Form,
    least_epsilon,
    least_k,
    sampling_loss,
)
from shoal.dp.sampling_sides import SamplingLoss
from shoal.errors import InputError

LEAST_CLASS = 2  # people or records: a smaller class protects nobody


@dataclass(frozen=True)
class SampleBudget:
    """The ε of a release: one part for the choice of the recoding, the rest for sampling.

    Any split is valid in the tight form: below −ln(1 − β) per sample, δ is larger. The published
    form requires at least −ln(1 − β).

    epsilon: The total budget.
    choice: The part that the choice of the recoding spends.
    beta: Probability that a record is sampled.
    samples: Independent samples that share the rest.
    form: Form of δ.

    >>> SampleBudget(1.31, 0.1, 0.8).least_k(1e-6)
    110
    """

    epsilon: float
    choice: float
    beta: float
    samples: int = 1
    form: Form = "tight"

    def __post_init__(self) -> None:
        as_rate(self.beta)
        check_count("samples", self.samples)
        for name, value in (("epsilon", self.epsilon), ("choice", self.choice)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (number and 0 < value < math.inf):
                raise InputError(f"{name} must be a number above 0, not {value!r}")
        floor = least_epsilon(self.beta)
        if self.form != "tight" and self.per_sample < floor - ROUNDING:
            raise InputError(
                f"the {self.form} form of delta needs epsilon of at least choice − ln(1 − beta) = "
                f"{self.choice + self.samples * floor:.6g}, not {self.epsilon:g}; raise epsilon, "
                "or lower beta or choice"
            )
        fits = LEAST_BUDGET <= self.per_sample <= MOST_BUDGET
        if not fits and abs(self.per_sample - floor) > ROUNDING:
            raise InputError(
                f"epsilon = {self.epsilon:g} leaves {self.per_sample:.4g} for each sample after "
                f"{self.choice:g} for the choice; it must be from {LEAST_BUDGET} to {MOST_BUDGET}"
            )

    @property
    def per_sample(self) -> float:
        """The ε that one sample spends."""
        return (self.epsilon - self.choice) / self.samples

    def loss(self, k: int) -> SamplingLoss:
        """Return the δ of the release, and the size of the class that determines it."""
        loss = sampling_loss(k, self.beta, self.per_sample, form=self.form)
        return SamplingLoss(min(self.samples * float(loss.delta), 1.0), loss.size)

    def delta(self, k: int) -> float:
        """Return the δ of the release if classes below k are dropped."""
        return float(self.loss(k).delta)

    def least_k(self, delta: float) -> int:
        """Return the smallest k whose δ is at most the given one."""
        each = delta if self.samples == 1 else delta / self.samples
        least = least_k(self.per_sample, each, self.beta, form=self.form)
        return max(least, LEAST_CLASS)
