"""How probabilities and budgets are read: a decimal means what is written.

The float 0.7 is taken for 7/10, so that whole numbers found from it are right; only a fraction, a
decimal or text asks for an exact result.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.errors import InputError

Number = float | Fraction | Decimal | str


def is_exact(value: Number) -> bool:
    """Tell whether a number is of a kind that asks for an exact result."""
    return isinstance(value, (Fraction, Decimal, str))


def as_fraction(option: str, value: Number) -> Fraction:
    """Return the number as it is written."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return Fraction(value) if is_exact(value) else Fraction(repr(float(value)))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"{option} must be a number, not {value!r}") from None


def as_rate(beta: Number) -> Fraction:
    """Return the sampling rate, which lies between 0 and 1 without the ends."""
    rate = as_fraction("beta", beta)
    if not 0 < rate < 1:
        raise InputError(f"beta must be more than 0 and less than 1, not {beta}")
    return rate


def check_count(option: str, value: Any, low: int = 1) -> None:
    """Refuse what is not a whole number of at least `low`."""
    if not hasattr(value, "__index__") or isinstance(value, bool) or value < low:
        raise InputError(f"{option} must be a whole number, {low} or more, not {value!r}")
