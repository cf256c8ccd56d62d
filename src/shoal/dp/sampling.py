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
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal, get_args

from shoal.dp.rates import Number, as_fraction, as_rate, check_count, is_exact
from shoal.dp.sampling_sides import (
    Added,
    Printed,
    Published,
    Removed,
    SamplingLoss,
    Side,
    greatest,
    greatest_exactly,
    least,
)
from shoal.errors import InputError, unknown

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
    return Fraction(_DIGITS.next_minus(_DIGITS.exp(Decimal(stated))))
