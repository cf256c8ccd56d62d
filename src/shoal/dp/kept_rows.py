"""Expected number of records of a class that are sampled and released.

This is the score that chooses a recoding: it is smooth where the count of kept records jumps by k.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import overload

import numpy as np

from shoal.dp.binomial import exact_chance, exact_tail
from shoal.dp.rates import Number, as_rate, check_count, is_exact
from shoal.support.arrays import Counts, Floats

_BITS = 54 * math.log(2)  # a chance of e^−_BITS is below the precision of a float


@overload
def expected_kept(size: Counts, k: int, beta: Number) -> Floats: ...
@overload
def expected_kept(size: int, k: int, beta: Number) -> Fraction | float: ...
def expected_kept(size: int | Counts, k: int, beta: Number) -> Fraction | float | Floats:
    """Return E[B·1(B ≥ k)] for B ~ Bin(size, β): the expected released records of a class.

    It is size·β·P[Bin(size − 1, β) ≥ k − 1]: a record counts if it and enough others are sampled.

    Parameters:
        size: Size of one class, or an array of sizes.
        k: The smallest size of a class that is released.
        beta: Sampling rate; a fraction or a string gives an exact fraction for one class.

    Returns:
        The expected number: a fraction, a float or an array.

    Raises:
        InputError: A number is out of range.

    Examples:
        >>> expected_kept(3, 2, "0.5")
        Fraction(9, 8)
    """
    check_count("k", k)
    rate = as_rate(beta)
    if isinstance(size, np.ndarray):
        return _expected(size, k, float(rate))
    check_count("size", size, 0)
    if is_exact(beta):
        return size * rate * exact_tail(k - 1, size - 1, rate) if size else Fraction(0)
    return float(_expected(np.asarray([size]), k, float(rate))[0])


def surely_kept(k: int, beta: float) -> int:
    """Return a size from which on a class is released, up to a chance below 2**−54.

    Larger classes release β·size records on average, to the precision of a float. By the Chernoff
    bound, fewer than k of a sample with mean m > k are drawn with a chance of at most
    e^(−(m − k)² / 2m).

    Parameters:
        k: The smallest size of a class that is released.
        beta: Sampling rate.

    Returns:
        The size.

    Examples:
        >>> surely_kept(75, 0.7), surely_kept(5, 1.0)
        (282, 86)
    """
    mean = k + _BITS + math.sqrt(_BITS * (_BITS + 2 * k))
    return math.ceil(mean / beta) + 1


def kept_sensitivity(k: int, beta: Number) -> Fraction | float:
    """Return by how much one more record can raise the expected number of released records.

    One more record in a class of c adds β·(P[Bin(c, β) ≥ k] + k·P[Bin(c, β) = k − 1]): if it is
    sampled, it adds itself, or itself and k − 1 others. It never removes any, so the score is
    monotone. From c to c + 1 this rises exactly while c < k/β − 2, so its maximum is at
    c = ⌈k/β⌉ − 2.

    Parameters:
        k: The smallest size of a class that is released.
        beta: Sampling rate; a fraction or a string gives an exact fraction.

    Returns:
        The largest change: a fraction or a float.

    Raises:
        InputError: A number is out of range.

    Examples:
        >>> kept_sensitivity(2, "0.5")
        Fraction(5, 8)
    """
    check_count("k", k)
    rate = as_rate(beta)
    size = max(math.ceil(k / rate) - 2, k - 1)
    if is_exact(beta):
        return rate * (exact_tail(k, size, rate) + k * exact_chance(k - 1, size, rate))
    kept = _expected(np.asarray([size, size + 1]), k, float(rate))
    return float(kept[1] - kept[0])


def _expected(sizes: Counts, k: int, beta: float) -> Floats:
    from scipy.special import betainc

    if k == 1:
        return np.asarray(sizes * beta, dtype=np.float64)
    chance = np.zeros(sizes.shape)
    enough = sizes >= k
    others = sizes[enough] - 1.0
    chance[enough] = betainc(k - 1.0, others - (k - 2.0), beta)
    return np.asarray(sizes * beta * chance, dtype=np.float64)
