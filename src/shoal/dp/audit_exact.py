"""Exact audit: the privacy loss between two fully known outcome distributions.

It finds violations that no number of runs would, but only for the two given inputs.
Balle & Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018: the
hockey-stick divergence is the least δ at an ε.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.dp.claims import Claim
from shoal.dp.sampling import log_of
from shoal.errors import InputError
from shoal.support.wording import counted

Probability = Fraction | float
Distribution = Mapping[Any, Probability] | Sequence[Probability] | NDArray[np.float64]
_ROUNDING = 1e-9  # error of sums of floating-point probabilities
_LEAST = 1e-14  # error of such sums after cancellation


@dataclass(frozen=True)
class ExactAudit:
    """The result of `audit_exactly`: the true privacy loss of a pair of inputs, next to a claim.

    Attributes:
        epsilon: The claimed ε.
        delta: The claimed δ.
        epsilon_found: The smallest valid ε at the claimed δ.
        delta_found: The smallest valid δ at the claimed ε.
        likelier: The input on which the worst event is more likely.
        outcomes: The outcomes of the worst event.
    """

    epsilon: float
    delta: float
    epsilon_found: float
    delta_found: Probability
    likelier: str
    outcomes: tuple[Hashable, ...] = field(repr=False)

    @property
    def violated(self) -> bool:
        """Whether the claim is false, with a tolerance for floating-point rounding."""
        if isinstance(self.delta_found, Fraction):
            return self.delta_found > self.delta
        return self.delta_found > self.delta * (1 + _ROUNDING) + _LEAST * math.exp(self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return all results except the outcomes as plain data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_found": self.epsilon_found,
            "delta_found": float(self.delta_found),
            "likelier": self.likelier,
            "outcomes": len(self.outcomes),
            "violated": self.violated,
        }

    def report(self) -> str:
        """Return a text with the privacy loss of this pair."""
        verdict = (
            "the claim is false" if self.violated else "the claim holds for this pair of inputs"
        )
        size = len(self.outcomes)
        event = f"{counted(size, 'outcome')}, more likely on the {self.likelier} input"
        return "\n".join(
            [
                f"claimed   ε = {self.epsilon:.4g}, δ = {self.delta:.4g}",
                f"true      ε = {self.epsilon_found:.4g} at this δ, "
                f"δ = {float(self.delta_found):.4g} at this ε",
                f"event     {event}",
                f"verdict   {verdict}",
            ]
        )


def audit_exactly(
    first: Distribution, second: Distribution, claim: Claim, *, ratio: Fraction | None = None
) -> ExactAudit:
    """Compute the privacy loss between the outcome distributions of two neighbouring inputs.

    Parameters:
        first: The probability of each outcome on one input, by name or by position.
        second: The same on its neighbour.
        claim: The claim to compare with.
        ratio: e^ε as a fraction; δ is exact if it is given and all probabilities are fractions.

    Returns:
        The true privacy loss; `violated` says whether it refutes the claim.

    Raises:
        InputError: The probabilities are negative or do not sum to 1.

    >>> from shoal.dp import DP
    >>> answers = {"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75}  # randomized response
    >>> round(audit_exactly(*answers, DP(1.0, 0.0, "an answer")).epsilon_found, 4)  # ln 3
    1.0986
    """
    one, two = _read(first), _read(second)
    bound: Probability = math.exp(claim.epsilon) if ratio is None else ratio
    # the worse of the two directions
    likelier, here, there, delta = "first", one, two, _delta(one, two, bound)
    other = _delta(two, one, bound)
    if other > delta:
        likelier, here, there, delta = "second", two, one, other
    epsilon = max(_epsilon(one, two, claim.delta), _epsilon(two, one, claim.delta))
    event = tuple(name for name, p in here.items() if p > bound * there.get(name, Fraction(0)))
    return ExactAudit(claim.epsilon, claim.delta, epsilon, delta, likelier, event)


def _read(distribution: Distribution) -> dict[Any, Probability]:
    if isinstance(distribution, Mapping):
        read = dict(distribution)
    else:
        values = distribution.tolist() if isinstance(distribution, np.ndarray) else distribution
        read = dict(enumerate(values))
    total = _sum(list(read.values()))
    if any(p < 0 for p in read.values()) or abs(float(total) - 1) > _ROUNDING:
        raise InputError(f"probabilities must be 0 or more and sum to 1, not to {float(total):.9g}")
    return read


def _sum(values: list[Probability]) -> Probability:
    exact = all(isinstance(value, Fraction) for value in values)
    return sum(values, Fraction(0)) if exact else math.fsum(values)


def _delta(
    here: dict[Any, Probability], there: dict[Any, Probability], ratio: Probability
) -> Probability:
    """Return the hockey-stick divergence: the sum of all probability in excess of the ratio."""
    zero = Fraction(0)
    return _sum([max(p - ratio * there.get(name, zero), zero) for name, p in here.items()])


def _epsilon(
    here: dict[Any, Probability], there: dict[Any, Probability], delta: Probability
) -> float:
    """Return the smallest ε at δ, from the outcomes in order of their ratio."""
    pairs = [(p, there.get(name, Fraction(0))) for name, p in here.items() if p > 0]
    pairs.sort(key=lambda pair: pair[1] / pair[0])
    exact = all(isinstance(value, Fraction) for pair in pairs for value in pair)
    allowed = Fraction(delta) if exact else Fraction(delta * (1 + _ROUNDING) + _LEAST)
    most, p_sum, q_sum = 0.0, -allowed, Fraction(0)
    for p, q in pairs:
        p_sum, q_sum = p_sum + Fraction(p), q_sum + Fraction(q)
        # the first outcomes in this order form the worst event for some ε
        if p_sum > 0:
            most = max(most, math.inf if q_sum == 0 else log_of(p_sum / q_sum))
    return most
