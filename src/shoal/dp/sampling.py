"""What drawing a sample and dropping small classes is worth as differential privacy.

A recoding that was fixed without a look at the sample parts the records into classes. Each record
is drawn with probability β, on its own; a class is shown if k or more of its records were drawn.
One record more in a class of n − 1 turns the number drawn from Bin(n − 1, β) to Bin(n, β). With
f(j; n) = P[Bin(n, β) = j], γ = 1 − (1 − β)/e^ε and α = 1 − (1 − β)·e^ε:

- Added: f(j; n) > e^ε·f(j; n − 1) just for j > γn, and to show nothing only gets less likely. The
  loss is Σ f(j; n) − e^ε·f(j; n − 1) over j ≥ k, j > γn.
- Removed: f(j; n − 1) > e^ε·f(j; n) just for j < αn. The smaller j, the larger their ratio, so to
  show nothing, all j < k taken together, comes before any j shown. The loss is
  Σ f(j; n − 1) − e^ε·f(j; n) over j < max(k, αn), or none. There is none from ε = −ln(1 − β) on,
  where α is 0.

"Tight" is the greatest loss, so no smaller δ is right. "Published" leaves out what is subtracted:
the greatest P[Bin(n, β) > γn] over n ≥ ⌈k/γ⌉ − 1, from ε = −ln(1 − β) on. So Li, Qardaji & Su, "On
Sampling, Anonymization, and Differential Privacy", ASIACCS 2012. "Printed" counts j = γn too, as
the tables 5.1 and 5.5 of Li, "Improving a de-identification algorithm that achieves both
k-anonymity and differential privacy", 2019, do. Each is at least as large as the one before.
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
ROUNDING = 1e-12  # what sums of budgets may be off by
LEAST_BUDGET, MOST_BUDGET = 0.05, 100  # ε of one sample
_DIGITS = Context(prec=40)


def sampling_delta(
    k: int, beta: Number, epsilon: float | None = None, *, form: Form = "tight"
) -> Fraction | float:
    """Return the least δ for which sampling and dropping classes below k is (ε, δ)-private.

    beta: a fraction or a decimal in quotes gives δ as a fraction, a float as a float.
    epsilon: the budget of this step alone, by default −ln(1 − β); the published forms need so much
        at least, the tight one pays for less with a larger δ. A stated one enters by 40 digits of
        e^ε, rounded down so that δ is not understated.
    form: "tight" for a recoding chosen without the sample; "published" and "printed" for reference.

    >>> sampling_delta(2, "0.5")
    Fraction(1, 4)
    """
    return sampling_loss(k, beta, epsilon, form=form).delta


def sampling_loss(
    k: int, beta: Number, epsilon: float | None = None, *, form: Form = "tight"
) -> SamplingLoss:
    """Return the δ of `sampling_delta`, with the size of class at which it is reached."""
    check_count("k", k)
    sides = _sides(as_rate(beta), epsilon, form)
    return greatest_exactly(sides, k) if is_exact(beta) else greatest(sides, k)


def least_k(epsilon: float, delta: Number, beta: Number, *, form: Form = "tight") -> int:
    """Return the least k with which the sampling step is (ε, δ)-private.

    epsilon: the budget of this step alone, as in `sampling_delta`.

    >>> least_k(1.25, 1e-6, 0.7), least_k(1.25, 1e-6, 0.7, form="published")
    (63, 79)
    """
    wanted = as_fraction("delta", delta)
    if not 0 < wanted < 1:
        raise InputError(f"delta must be more than 0 and less than 1, not {delta}")
    sides = _sides(as_rate(beta), epsilon, form)
    return max(least(side, wanted, exact=is_exact(beta)) for side in sides)


def least_epsilon(beta: Number) -> float:
    """Return −ln(1 − β), from which on the removed record costs nothing."""
    return -math.log1p(-float(as_rate(beta)))


def _sides(beta: Fraction, epsilon: float | None, form: Form) -> list[Side]:
    """Return the sides of a form, the one that costs more first."""
    if form not in get_args(Form):
        raise unknown("no form", form, get_args(Form))
    enough = 1 / (1 - beta)
    growth = enough if epsilon is None else _growth(epsilon, enough)
    if form == "tight":
        removed = [Removed(beta, growth)] if growth < enough else []
        return [Added(beta, growth), *removed]
    if growth < enough:
        raise InputError(
            f"the {form} form needs epsilon of -ln(1 - beta) = {math.log(enough):.6g} or more for "
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
