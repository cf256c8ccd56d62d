"""How probabilities and budgets are read: a decimal has exactly its written value.

The float 0.7 is read as 7/10, so that whole numbers derived from it are correct; only a fraction, a
decimal or a string requests an exact result.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.errors import InputError

Number = float | Fraction | Decimal | str


def is_exact(value: Number) -> bool:
    """Return whether the type of a number requests an exact result."""
    return isinstance(value, (Fraction, Decimal, str))


def as_fraction(option: str, value: Number) -> Fraction:
    """Return the written value of a number."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return Fraction(value) if is_exact(value) else Fraction(repr(float(value)))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"{option} must be a number, not {value!r}") from None


def as_rate(beta: Number) -> Fraction:
    """Return the sampling rate, which lies strictly between 0 and 1."""
    rate = as_fraction("beta", beta)
    if not 0 < rate < 1:
        raise InputError(f"beta must be more than 0 and less than 1, not {beta}")
    return rate


def check_count(option: str, value: Any, low: int = 1) -> None:
    """Raise an error unless the value is a whole number of at least `low`."""
    if not hasattr(value, "__index__") or isinstance(value, bool) or value < low:
        raise InputError(f"{option} must be a whole number, {low} or more, not {value!r}")
