"""The differential privacy of drawing a sample and dropping small classes.

A recoding that is fixed independently of the sample divides the records into classes. Each record
is sampled independently with probability β; a class is released if at least k of its records are
sampled. One more record in a class of n − 1 changes the number sampled from Bin(n − 1, β) to
Bin(n, β). With f(j; n) = P[Bin(n, β) = j], γ = 1 − (1 − β)/e^ε and α = 1 − (1 − β)·e^ε:

- Added: f(j; n) > e^ε·f(j; n − 1) exactly for j > γn, and releasing nothing only becomes less
  likely. The loss is Σ f(j; n) − e^ε·f(j; n − 1) over j ≥ k, j > γn.
- Removed: f(j; n − 1) > e^ε·f(j; n) exactly for j < αn. The ratio is larger for smaller j, so
  releasing nothing (all j < k together) comes before any released j. The loss is
  Σ f(j; n − 1) − e^ε·f(j; n) over j < max(k, αn), or none. There is none for ε ≥ −ln(1 − β), where
  α ≤ 0.

"Tight" is the largest loss, so no smaller δ is valid. "Published" omits the subtracted terms: the
largest P[Bin(n, β) > γn] over n ≥ ⌈k/γ⌉ − 1, for ε ≥ −ln(1 − β), as in Li, Qardaji & Su, "On
Sampling, Anonymization, and Differential Privacy", ASIACCS 2012. "Printed" also counts j = γn, as
in tables 5.1 and 5.5 of Li, "Improving a de-identification algorithm that achieves both k-anonymity
and differential privacy", 2019. Each is at least as large as the one before.

Each of the two directions is a `Side` and searched exhaustively: for each number t of sampled
records one class size matters, and the search stops by bounds that fall with t. For a share s of
sampled records, with KL the divergence of s from β:

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
from decimal import Context, Decimal
from fractions import Fraction
from itertools import count
from typing import Literal, NamedTuple, get_args

from shoal.dp.mechanisms import Number, as_fraction, as_rate, check_count, is_exact
from shoal.errors import InputError, unknown
from shoal.support.proportions import exact_tail, log_head, log_tail

Form = Literal["tight", "published", "printed"]
ROUNDING = 1e-12  # rounding error of sums of budgets
LEAST_BUDGET, MOST_BUDGET = 0.05, 100  # ε of one sample
_DIGITS = Context(prec=40)


def sampling_delta(
    k: int, beta: Number, epsilon: float | None = None, *, form: Form = "tight"
) -> Fraction | float:
    """Return the smallest δ for which sampling and dropping classes below k is (ε, δ)-private.

    Parameters:
        k: The smallest size of a class that is released.
        beta: The sampling rate; a fraction or a string gives δ as a fraction, a float as a float.
        epsilon: The budget of this step alone, by default −ln(1 − β). The published forms need at
            least that; the tight form has a larger δ below it. A given value is used with 40 digits
            of e^ε, rounded down so that δ is not understated.
        form: "tight" for a recoding chosen without the sample; "published" and "printed" for
            reference.

    Returns:
        The δ.

    Raises:
        InputError: A number is out of range, or epsilon is too small for the published forms.

    Examples:
        >>> sampling_delta(2, "0.5")
        Fraction(1, 4)
    """
    return sampling_loss(k, beta, epsilon, form=form).delta


def sampling_loss(
    k: int, beta: Number, epsilon: float | None = None, *, form: Form = "tight"
) -> SamplingLoss:
    """Return the δ of `sampling_delta` and the class size that determines it.

    Parameters:
        k: The smallest size of a class that is released.
        beta: The sampling rate; a fraction or a string gives δ as a fraction, a float as a float.
        epsilon: The budget of this step alone, as in `sampling_delta`.
        form: The form of δ, as in `sampling_delta`.

    Returns:
        The δ and the class size.

    Raises:
        InputError: A number is out of range, or epsilon is too small for the published forms.

    >>> sampling_loss(2, "0.5")
    SamplingLoss(delta=Fraction(1, 4), size=2)
    """
    check_count("k", k)
    sides = _sides(as_rate(beta), epsilon, form)
    return greatest_exactly(sides, k) if is_exact(beta) else greatest(sides, k)


def least_k(epsilon: float, delta: Number, beta: Number, *, form: Form = "tight") -> int:
    """Return the smallest k for which the sampling step is (ε, δ)-private.

    Parameters:
        epsilon: The budget of this step alone, as in `sampling_delta`.
        delta: The target δ.
        beta: The sampling rate.
        form: The form of δ, as in `sampling_delta`.

    Returns:
        The smallest k.

    Raises:
        InputError: A number is out of range, or epsilon is too small for the published forms.

    Examples:
        >>> least_k(1.25, 1e-6, 0.7), least_k(1.25, 1e-6, 0.7, form="published")
        (63, 79)
    """
    wanted = as_fraction("delta", delta)
    if not 0 < wanted < 1:
        raise InputError(f"delta must be more than 0 and less than 1, not {delta}")
    sides = _sides(as_rate(beta), epsilon, form)
    return max(least(side, wanted, exact=is_exact(beta)) for side in sides)


def least_epsilon(beta: Number) -> float:
    """Return −ln(1 − β); from this ε upwards a removed record adds no loss.

    Parameters:
        beta: The sampling rate.

    Returns:
        The ε.

    Raises:
        InputError: beta is not between 0 and 1.

    >>> round(least_epsilon(0.5), 4)  # ln 2
    0.6931
    """
    return -math.log1p(-float(as_rate(beta)))


def _sides(beta: Fraction, epsilon: float | None, form: Form) -> list[Side]:
    """Return the sides of a form, the larger loss first."""
    if form not in get_args(Form):
        raise unknown("no form", form, get_args(Form))
    enough = 1 / (1 - beta)
    growth = enough if epsilon is None else _growth(epsilon, enough)
    if form == "tight":
        removed = [Removed(beta, growth)] if growth < enough else []
        return [Added(beta, growth), *removed]
    if growth < enough:
        raise InputError(
            f"the {form} form needs epsilon of at least -ln(1 - beta) = {math.log(enough):.6g} for "
            f"the sampling step, not {epsilon:.6g}"
        )
    return [(Published if form == "published" else Printed)(beta, growth)]


def _growth(epsilon: float, enough: Fraction) -> Fraction:
    """Return e^ε, exactly at −ln(1 − β) and otherwise to 40 digits, rounded down."""
    stated = float(as_fraction("epsilon", epsilon))
    if abs(stated - math.log(enough)) <= ROUNDING:
        return enough
    if not LEAST_BUDGET <= stated <= MOST_BUDGET:
        raise InputError(
            f"epsilon of the sampling step must be from {LEAST_BUDGET} to {MOST_BUDGET}, "
            f"not {stated:.6g}"
        )
    # rounded down: a smaller e^ε makes δ larger, never smaller
    return Fraction(_DIGITS.next_minus(_DIGITS.exp(Decimal(stated))))


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
            # the bounds fall with t, so nothing later can exceed the best
            if best and side.bound(t) < log_of(best):
                break
            n = side.size(t)
            loss = _exact(side, t, n)
            if loss > best:
                best, size = loss, n
    return SamplingLoss(best, size)


def greatest(sides: Sequence[Side], k: int) -> SamplingLoss:
    """Return the greatest loss over sides and classes, as a float."""
    best, size = -math.inf, 0
    for side in sides:
        for t in count(k - side.ahead):
            if side.bound(t) < best:
                break
            n = side.size(t)
            loss = side.quick(t, n)
            if loss > best:
                best, size = loss, n
    return SamplingLoss(math.exp(best) or math.ulp(0), size)  # an underflow is not 0


def least(side: Side, wanted: Fraction, *, exact: bool) -> int:
    """Return the smallest k from which no class loses more than `wanted`.

    The search starts where the bound is below it and goes down.
    """
    most = log_of(wanted)
    t = max(0, 1 - side.ahead)
    while side.bound(t) >= most:
        # double until the bound is low enough, then bisect for the first such t
        t = 2 * t + 1
    low = t // 2
    while low < t:
        middle = (low + t) // 2
        low, t = (low, middle) if side.bound(middle) < most else (middle + 1, t)
    while t + side.ahead > 1:
        # the bound is not tight: go down while the loss itself is small enough
        n = side.size(t - 1)
        if _exact(side, t - 1, n) > wanted if exact else side.quick(t - 1, n) > most:
            break
        t -= 1
    return t + side.ahead


def log_of(value: Fraction) -> float:
    """Return the logarithm of a fraction whose terms, or which itself, may not fit in a float."""
    return math.log(value.numerator) - math.log(value.denominator)


def _exact(side: Side, t: int, n: int) -> Fraction:
    if n > _MAX_EXACT:
        raise InputError(
            f"beta = {float(side.beta):g} makes classes of more than {_MAX_EXACT:,} records, too "
            "large for exact fractions; give beta as a float"
        )
    return side.exact(t, n)
