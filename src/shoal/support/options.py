"""Checks of options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shoal.errors import InputError


def is_number(value: Any) -> bool:
    """Return whether a value is a number; true and false are not, although they count as 1 and 0.

    >>> is_number(0.5), is_number(np.float32(0.5)), is_number(True), is_number("0.5")
    (True, True, False, False)
    """
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def check_range(
    option: str, value: Any, low: float, high: float = math.inf, *, above: bool = False
) -> None:
    """Reject an option outside low … high; `above` excludes the lower end."""
    if not is_number(value) or not (low < value if above else low <= value) or not value <= high:
        least = f"more than {low:g}" if above else f"{low:g} or more"
        most = "" if high == math.inf else f" and at most {high:g}"
        raise InputError(f"{option} must be {least}{most}, not {value!r}")


def check_whole(option: str, value: Any, low: int) -> None:
    """Reject an option that is not a whole number of at least `low`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise InputError(f"{option} must be a whole number, {low} or more, not {value!r}")


def check_seed(seed: Any, bits: int = 63) -> None:
    """Reject a seed that is not a whole number of at most this many bits; None draws a seed."""
    if seed is None:
        return
    check_whole("seed", seed, 0)
    if seed >= 2**bits:
        raise InputError(f"seed must be smaller than 2**{bits}")


def check_flag(option: str, value: Any) -> None:
    """Reject an option that is not true or false."""
    if not isinstance(value, bool):
        raise InputError(f"{option} must be true or false, not {value!r}")


def check_choice(option: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Reject a value that is not among the allowed ones."""
    if value not in allowed:
        choices = ", ".join(str(choice) for choice in allowed)
        raise InputError(f"{option} must be one of {choices}, not {value!r}")


def check_sign(option: str, sign: Any, least: int = 1) -> None:
    """Reject an option that is not one plain character; with least=0 it may be empty."""
    plain = isinstance(sign, str) and (sign == "\t" or (sign.isascii() and sign.isprintable()))
    if not plain or not least <= len(sign) <= 1:
        given = f"{len(sign)} characters" if isinstance(sign, str) and len(sign) > 1 else repr(sign)
        example = '"' if option == "quote" else ", or ;"
        raise InputError(f"{option} must be a single plain character ({example}), not {given}")
