"""The distributions of noise, and the relation of their scale to their standard deviation."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from shoal.errors import InputError, unknown

Distribution = Literal["laplace", "normal", "uniform"]
_DEVIATIONS = {"laplace": math.sqrt(2), "normal": 1.0, "uniform": 1 / math.sqrt(3)}
DISTRIBUTIONS = tuple(_DEVIATIONS)


def deviation_of(distribution: str, scale: float) -> float:
    """Return the standard deviation of a distribution with this scale.

    Parameters:
        distribution: laplace, normal or uniform.
        scale: Laplace's b, the normal's standard deviation, or the maximum of uniform noise.

    Returns:
        The standard deviation.

    Raises:
        InputError: The distribution is unknown, or the scale is negative.

    >>> round(deviation_of("laplace", 0.5), 4)
    0.7071
    """
    check_noise(scale, distribution)
    return _DEVIATIONS[distribution] * scale


def scale_for(distribution: str, deviation: float) -> float:
    """Return the scale at which a distribution has this standard deviation.

    Parameters:
        distribution: laplace, normal or uniform.
        deviation: The standard deviation.

    Returns:
        The scale, as in `deviation_of`.

    Raises:
        InputError: The distribution is unknown, or the deviation is negative.

    >>> round(scale_for("uniform", 0.5), 4)
    0.866
    """
    check_noise(deviation, distribution)
    return deviation / _DEVIATIONS[distribution]


def check_noise(scale: Any, distribution: str) -> None:
    """Raise an error if the distribution is unknown or the scale is not a number of at least 0."""
    if distribution not in _DEVIATIONS:
        raise unknown("no distribution", distribution, _DEVIATIONS)
    number = isinstance(scale, (int, float, np.integer, np.floating)) and scale is not True
    if not number or not 0 <= scale < math.inf:
        raise InputError(f"scale must be a number of at least 0, not {scale!r}")
