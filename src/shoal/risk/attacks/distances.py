"""Distances: the attacker knows everybody's values, but not exactly.

A pair weighs as much as the attacker's error that it needs is likely: Gaussian for numbers, a rate
of mistakes for categories. All in logarithms, so that far pairs weigh little and not nothing.
Fellegi & Sunter, "A theory for record linkage", JASA 64, 1969.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.progress import report
from shoal.core.wording import counted
from shoal.errors import InputError, unknown
from shoal.privacy.model import check_range, check_whole
from shoal.risk.attacks.attack import EVERYBODY, Attack

_TOLERANCE = 1e-9  # how far from 1 a balanced row may sum
_MAX_APART = 1e150  # standard deviations, whose squares still add up


def distance_attack(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    *,
    deviations: Mapping[str, float] | None = None,
    mistakes: Mapping[str, float] | None = None,
    balanced: bool = False,
    sweeps: int = 1000,
    mapping: Any = None,
) -> Attack:
    """Return the attack of one who knows values with errors.

    known: for each attribute the attacker's value of each original entity, missing where unknown.
    released: the released value of each released entity, likewise.
    deviations: for each attribute of numbers the standard deviation of the attacker's errors.
    mistakes: for each attribute of categories the share of values that the attacker has wrong.
    balanced: scale until rows and columns sum to 1, with so many sweeps at most; no matching's
        probability changes. Otherwise only rows sum to 1.
    """
    deviations, mistakes = deviations or {}, mistakes or {}
    sizes = _check(known, released, deviations, mistakes)
    check_whole("sweeps", sweeps, 1)
    logs = np.zeros(sizes)
    for name, deviation in deviations.items():
        check_range(f"the deviation of {name}", deviation, 0, above=True)
        ours, theirs = _numbers(name, known[name]), _numbers(name, released[name])
        with np.errstate(over="ignore"):
            apart = (ours[:, None] - theirs) / deviation
        apart = np.clip(np.nan_to_num(apart, copy=False, nan=0.0), -_MAX_APART, _MAX_APART)
        logs -= apart**2 / 2
    for name, rate in mistakes.items():
        check_range(f"the share of mistakes in {name}", rate, 0, 1)
        logs += _mistaken(known[name], released[name], rate)
    logs = _balance(logs, sweeps) if balanced else logs - _log_sums(logs, 1)[:, None]
    told = [f"The attacker knows {', '.join(known)} of everybody, with errors."]
    told += [
        f"Errors in {name} are Gaussian with standard deviation {deviation:g}."
        for name, deviation in deviations.items()
    ]
    told += [
        f"A share {rate:g} of what the attacker knows of {name} is wrong, any other category as "
        "likely as the next."
        for name, rate in mistakes.items()
    ]
    told += ["Errors are independent of each other.", EVERYBODY]
    return Attack(np.exp(logs), mapping, tuple(told))


def _check(
    known: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    deviations: Mapping[str, float],
    mistakes: Mapping[str, float],
) -> tuple[int, int]:
    """Return how many entities are known and released; refuse what does not fit together."""
    if not known:
        raise InputError("name at least one attribute that the attacker knows")
    for name in known:
        if name not in released:
            raise unknown("no released attribute", name, released)
        if (name in deviations) == (name in mistakes):
            raise InputError(
                f"{name} needs either a deviation, for numbers, or a share of mistakes, for "
                "categories"
            )
    for name in (*deviations, *mistakes):
        if name not in known:
            raise unknown("no known attribute", name, known)
    lengths = [{len(side[name]) for name in known} for side in (known, released)]
    if any(len(found) > 1 for found in lengths):
        raise InputError("attributes must have as many values as there are entities, all of them")
    return lengths[0].pop(), lengths[1].pop()


def _numbers(name: str, values: Sequence[Any]) -> Floats:
    """(entities,) the values, missing ones as NaN."""
    try:
        numbers = np.array([math.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} has a deviation, so its values must be numbers") from None
    if np.isinf(numbers).any():
        raise InputError(f"{name}: {counted(int(np.isinf(numbers).sum()), 'infinite value')}")
    return numbers


def _mistaken(known: Sequence[Any], released: Sequence[Any], rate: float) -> Floats:
    """(known, released) the logarithm of the likelihood of a category that is right or wrong."""
    codes: dict[Any, int] = {}
    ours, theirs = (
        np.array([-1 if _missing(v) else codes.setdefault(v, len(codes)) for v in side])
        for side in (known, released)
    )
    with np.errstate(divide="ignore"):
        right, wrong = np.log(1 - rate), np.log(rate / max(len(codes) - 1, 1))
    logs = np.where(ours[:, None] == theirs, right, wrong)
    return np.where((ours < 0)[:, None] | (theirs < 0), 0.0, logs)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _balance(logs: Floats, sweeps: int) -> Floats:
    """Scale to rows and columns that sum to 1, or nearly so (Sinkhorn & Knopp 1967)."""
    for done in range(sweeps):
        report("balancing", done, sweeps)
        logs = logs - _log_sums(logs, 0)
        off = _log_sums(logs, 1)
        logs = logs - off[:, None]
        if np.abs(np.expm1(off)).max() <= _TOLERANCE:
            break
    return logs


def _log_sums(logs: Floats, axis: int) -> Floats:
    """Return the logarithms of the sums along an axis; 0 where nothing is possible."""
    peaks = logs.max(axis=axis, keepdims=True)
    peaks = np.where(np.isfinite(peaks), peaks, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - peaks).sum(axis=axis)) + peaks.squeeze(axis)
    return np.where(np.isfinite(sums), sums, 0.0)
