"""How many records of a class are expected to be drawn and shown.

The score by which a recoding is chosen: it is smooth where the count of kept records jumps by k.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import overload

import numpy as np

from shoal.core.arrays import Counts, Floats
from shoal.dp.binomial import exact_chance, exact_tail
from shoal.dp.rates import Number, as_rate, check_count, is_exact


@overload
def expected_kept(size: Counts, k: int, beta: Number) -> Floats: ...
@overload
def expected_kept(size: int, k: int, beta: Number) -> Fraction | float: ...
def expected_kept(size: int | Counts, k: int, beta: Number) -> Fraction | float | Floats:
    """Return E[B·1(B ≥ k)] for B ~ Bin(size, β): the records expected to be shown of a class.

    size: of one class or, as an array, of many.
    beta: a fraction or a decimal in quotes gives a fraction for one class.

    It is size·β·P[Bin(size − 1, β) ≥ k − 1]: a record counts if it is drawn, and enough others.

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


def kept_sensitivity(k: int, beta: Number) -> Fraction | float:
    """Return by how much one more record can raise the records expected to be shown.

    One more record in a class of c adds β·(P[Bin(c, β) ≥ k] + k·P[Bin(c, β) = k − 1]): if it is
    drawn it comes alone, or brings k − 1 along. It never takes any away, so the score is monotone.
    From c to c + 1 this rises just while c < k/β − 2, so it is greatest at c = ⌈k/β⌉ − 2.

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
