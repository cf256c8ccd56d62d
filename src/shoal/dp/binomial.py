"""Binomial probabilities: exact as fractions, and fast as logarithms far from the mean.

The fast version follows Loader, "Fast and accurate computation of binomial probabilities", 2000:
the logarithm of a factorial would lose a digit with each digit of n.
"""

from __future__ import annotations

import math
from fractions import Fraction

_LEAST = 1e-18  # a summand below this share of the sum does not change a float


def exact_chance(j: int, n: int, beta: Fraction) -> Fraction:
    """Return P[Bin(n, β) = j]."""
    if not 0 <= j <= n:
        return Fraction(0)
    drawn, of = beta.as_integer_ratio()
    return Fraction(math.comb(n, j) * drawn**j * (of - drawn) ** (n - j), of**n)


def exact_tail(j: int, n: int, beta: Fraction) -> Fraction:
    """Return P[Bin(n, β) ≥ j], summed from the shorter side."""
    if j <= 0 or j > n:
        return Fraction(int(j <= 0))
    drawn, of = beta.as_integer_ratio()
    upper = n - j < j
    first, last = (j, n) if upper else (0, j - 1)
    weight = math.comb(n, first) * drawn**first * (of - drawn) ** (n - first)
    total = weight
    for i in range(first, last):
        weight = weight * (n - i) * drawn // ((i + 1) * (of - drawn))  # leaves no remainder
        total += weight
    found = Fraction(total, of**n)
    return found if upper else 1 - found


def log_chance(j: int, n: int, beta: float) -> float:
    """Return ln P[Bin(n, β) = j] for 0 ≤ j ≤ n."""
    if j in (0, n):
        return n * math.log(beta) if j else n * math.log1p(-beta)
    misses = n - j
    divergence = j * math.log(j / (n * beta))
    divergence += misses * math.log1p((n * beta - j) / (n * (1 - beta)))
    spread = math.log(2 * math.pi * j * (misses / n)) / 2
    return _stirling(n) - _stirling(j) - _stirling(misses) - divergence - spread


def log_tail(j: int, n: int, beta: float, first: float = 1, slope: float = 0) -> float:
    """Return ln Σ (first + slope·(i − j))·P[Bin(n, β) = i] over i ≥ j, for j above the mean.

    The probabilities fall at each step, so a few of them are enough.
    """
    odds = beta / (1 - beta)
    factor, weight, total = 1.0, first, first
    for i in range(j, n):
        factor *= (n - i) / (i + 1) * odds
        weight += slope
        more = factor * weight
        total += more
        if more < _LEAST * total:
            break
    return log_chance(j, n, beta) + math.log(total)


def log_head(j: int, n: int, beta: float, first: float = 1, slope: float = 0) -> float:
    """Return ln Σ (first + slope·(j − i))·P[Bin(n, β) = i] over i ≤ j, for j below the mean."""
    return log_tail(n - j, n, 1 - beta, first, slope)


def _stirling(n: int) -> float:
    """Return by how much ln n! exceeds Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
    square = float(n) * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n
