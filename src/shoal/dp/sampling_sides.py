"""The two directions in which a sample can reveal a record, each searched exhaustively.

On each side one class size matters for each t. The search stops by bounds that fall with t.
For a share s of sampled records, with KL the divergence of s from β:

- Chernoff: P[Bin(n) ≥ t] for s > β, n ≤ t/s and P[Bin(n) ≤ t] for s < β, n ≥ t/s are at most
  exp(−t·KL/s).
- Stirling: P[Bin(n) = t] is, in the same places, at most sqrt(n / (2π·t·(n − t)))·exp(−t·KL/s).

Both hold with n·KL(t/n‖β) in the exponent, which is the greatest λt − n·ln E[e^λB] over λ, B one
draw, and so at least its value at the λ that belongs to s, which is t·KL/s or more there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from typing import NamedTuple

from shoal.dp.binomial import exact_tail, log_head, log_tail
from shoal.errors import InputError

_MARGIN = 1e-9  # safety margin of a floating-point bound, relative to its logarithm
_MAX_EXACT = 50_000  # records of a class


class SamplingLoss(NamedTuple):
    """The result of `sampling_loss`: the δ of the sampling step and the class that determines it.

    Attributes:
        delta: The δ.
        size: The size of that class.
    """

    delta: Fraction | float
    size: int


class Side(ABC):
    """The loss of one side for t sampled records.

    share: s of the bounds. fall: KL/s. ahead: the number of records by which k exceeds the first t.
    """

    ahead = 1

    def __init__(self, beta: Fraction, growth: Fraction, share: Fraction) -> None:
        self.beta, self.growth, self.share = beta, growth, share
        divergence = float(share) * math.log(share / beta)
        divergence += float(1 - share) * math.log((1 - share) / (1 - beta))
        self.fall = (1 - _MARGIN) * divergence / float(share)

    def size(self, t: int) -> int:
        """Return the one class size that matters for t."""
        return max(math.ceil(t / self.share), 1)

    @abstractmethod
    def bound(self, t: int) -> float:
        """Return the logarithm of an upper bound on the loss at t and later."""

    @abstractmethod
    def exact(self, t: int, n: int) -> Fraction:
        """Return the loss at t of a class of n."""

    @abstractmethod
    def quick(self, t: int, n: int) -> float:
        """Return the logarithm of the loss."""


class Added(Side):
    """An added record may show: at least t + 1 sampled records, where t ≥ k − 1.

    The loss P[Bin(n) > t] − e^ε·P[Bin(n − 1) > t] rises with n exactly while γn < t.
    """

    def __init__(self, beta: Fraction, growth: Fraction) -> None:
        super().__init__(beta, growth, _gamma(beta, growth))
        self.rest = float(1 - self.share)

    def bound(self, t: int) -> float:
        """Return the bound of β·P[Bin(n − 1) = t], where n − 1 is from t/γ − 1 to t/γ."""
        fewest = self.rest * t - float(self.share)  # γ times the records not drawn
        spread = 2 * math.pi * fewest
        return math.log(self.beta) - math.log(max(spread, 1)) / 2 - t * self.fall

    def exact(self, t: int, n: int) -> Fraction:
        """Return the loss at t of a class of n."""
        fewer = exact_tail(t + 1, n - 1, self.beta)
        return exact_tail(t + 1, n, self.beta) - self.growth * fewer

    def quick(self, t: int, n: int) -> float:
        """Return the logarithm of Σ f(j; n)·(j − γn) / ((1 − γ)·n), a sum that only adds."""
        first = float(t + 1 - self.share * n)
        return log_tail(t + 1, n, float(self.beta), first, 1) - math.log(self.rest * n)


class Removed(Side):
    """A removed record may show: at most t sampled records, where t ≥ k − 1.

    The loss P[Bin(n − 1) ≤ t] − e^ε·P[Bin(n) ≤ t] rises with n exactly while αn < t.
    """

    def __init__(self, beta: Fraction, growth: Fraction) -> None:
        super().__init__(beta, growth, 1 - growth * (1 - beta))
        self.odds = math.log(beta / (1 - beta)) + math.log(growth)

    def bound(self, t: int) -> float:
        """Return the bound of e^ε·β·P[Bin(n − 1) = t] ≤ e^ε·β·P[Bin(n) = t] / (1 − β), n ≥ t/α."""
        spread = 2 * math.pi * t * float(1 - self.share)
        return self.odds - math.log(max(spread, 1)) / 2 - t * self.fall

    def exact(self, t: int, n: int) -> Fraction:
        """Return the loss at t of a class of n."""
        more = 1 - exact_tail(t + 1, n, self.beta)
        return 1 - exact_tail(t + 1, n - 1, self.beta) - self.growth * more

    def quick(self, t: int, n: int) -> float:
        """Return the logarithm of Σ f(j; n)·(αn − j) / ((1 − β)·n), a sum that only adds."""
        first = float(self.share * n - t)
        return log_head(t, n, float(self.beta), first, 1) - math.log((1 - self.beta) * n)


class Published(Side):
    """P[Bin(n) ≥ t] where γn < t; it rises with n."""

    ahead = 0

    def __init__(self, beta: Fraction, growth: Fraction) -> None:
        super().__init__(beta, growth, _gamma(beta, growth))

    def bound(self, t: int) -> float:
        """Return Chernoff's bound."""
        return -t * self.fall

    def size(self, t: int) -> int:
        """Return the greatest n with γn < t."""
        return math.ceil(t / self.share) - 1

    def exact(self, t: int, n: int) -> Fraction:
        """Return the probability of at least t sampled records."""
        return exact_tail(t, n, self.beta)

    def quick(self, t: int, n: int) -> float:
        """Return its logarithm."""
        return log_tail(t, n, float(self.beta))


class Printed(Published):
    """The same where γn ≤ t."""

    def size(self, t: int) -> int:
        """Return the greatest n with γn ≤ t."""
        return math.floor(t / self.share)


def _gamma(beta: Fraction, growth: Fraction) -> Fraction:
    """Return the share of sampled records above which one more makes them e^ε times as likely."""
    return 1 - (1 - beta) / growth


def greatest_exactly(sides: Sequence[Side], k: int) -> SamplingLoss:
    """Return the greatest loss over sides and classes, as a fraction."""
    best, size = Fraction(0), 0
    for side in sides:
        for t in count(k - side.ahead):
            if best and side.bound(t) < log_of(best):
                break
            n = side.size(t)
            found = _exact(side, t, n)
            if found > best:
                best, size = found, n
    return SamplingLoss(best, size)


def greatest(sides: Sequence[Side], k: int) -> SamplingLoss:
    """Return the greatest loss over sides and classes, as a float."""
    best, size = -math.inf, 0
    for side in sides:
        for t in count(k - side.ahead):
            if side.bound(t) < best:
                break
            n = side.size(t)
            found = side.quick(t, n)
            if found > best:
                best, size = found, n
    return SamplingLoss(math.exp(best) or math.ulp(0), size)  # an underflow is not 0


def least(side: Side, wanted: Fraction, *, exact: bool) -> int:
    """Return the smallest k from which no class loses more than `wanted`.

    The search starts where the bound is below it and goes down.
    """
    most = log_of(wanted)
    t = max(0, 1 - side.ahead)
    while side.bound(t) >= most:
        t = 2 * t + 1
    low = t // 2
    while low < t:
        middle = (low + t) // 2
        low, t = (low, middle) if side.bound(middle) < most else (middle + 1, t)
    while t + side.ahead > 1:
        n = side.size(t - 1)
        if _exact(side, t - 1, n) > wanted if exact else side.quick(t - 1, n) > most:
            break
        t -= 1
    return t + side.ahead


def log_of(value: Fraction) -> float:
    """Return the logarithm of a fraction, including fractions too small for a float."""
    return math.log(value.numerator) - math.log(value.denominator)


def _exact(side: Side, t: int, n: int) -> Fraction:
    if n > _MAX_EXACT:
        raise InputError(
            f"beta = {float(side.beta):g} makes classes of more than {_MAX_EXACT:,} records, too "
            "large for exact fractions; give beta as a float"
        )
    return side.exact(t, n)
