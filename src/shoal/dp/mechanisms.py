"""Random draws of differential privacy: a choice among candidates, a sample, Laplace noise.

Secure by default: choice and noise come from OpenDP, which uses exact fractions, the sample from
the random source of the operating system. With a seed they come from a generator that anyone who
guesses the seed can repeat: for testing only.

Probabilities and budgets are read as they are written: the float 0.7 is 7/10, so that whole numbers
derived from it are correct. Only a fraction, a decimal or a string requests an exact result.

McSherry & Talwar, "Mechanism design via differential privacy", FOCS 2007; Dwork, McSherry, Nissim &
Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.
"""

from __future__ import annotations

import math
import secrets
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.imports import requires
from shoal.support.options import is_number

_BITS = 64
_BLOCK = 1 << 22  # records that are drawn at once

Seed = int | np.random.Generator | None  # a generator continues its sequence


def probabilities(
    scores: Floats, epsilon: float, sensitivity: float, *, monotone: bool = False
) -> Floats:
    """Return the probability of each candidate in the exponential mechanism, in the scores' shape.

    It is proportional to e^(score / scale), so one record changes each by at most a factor of
    e^epsilon.

    Parameters:
        scores: The score of each candidate.
        epsilon: The budget of the choice.
        sensitivity: The largest change of a score when one record is added or removed.
        monotone: Whether adding a record changes all scores in the same direction, for every table;
            then the scale is sensitivity / epsilon, otherwise twice that. The factor two covers
            tables in which one score falls while the sum of all weights rises. With monotone scores
            a record that raises them multiplies each weight by 1 to e^epsilon, and so the sum, so
            the quotient of the two stays within e^−epsilon … e^epsilon.

    Returns:
        The probabilities, which sum to 1.

    Raises:
        InputError: A score is not finite, or an option is not positive.

    >>> probabilities(np.array([3.0, 1.0]), epsilon=1.0, sensitivity=1.0).round(3).tolist()
    [0.731, 0.269]
    """
    _check(scores)
    # relative to the greatest score, so that no exponential overflows
    weights = np.exp((scores - scores.max()) / scale_of(epsilon, sensitivity, monotone=monotone))
    shares: Floats = weights / weights.sum()
    return shares


def choose(
    scores: Floats,
    epsilon: float,
    sensitivity: float,
    *,
    monotone: bool = False,
    seed: int | None = None,
) -> int:
    """Draw a candidate with these `probabilities`; return its index in the flattened scores.

    The highest score after Gumbel noise is such a draw. OpenDP calls it a noisy maximum under
    zero-concentrated divergence; under max-divergence it uses permute-and-flip, whose probabilities
    differ.

    Parameters:
        scores: The score of each candidate.
        epsilon: The budget of the choice.
        sensitivity: The largest change of a score when one record is added or removed.
        monotone: As for `probabilities`.
        seed: For testing only: anyone who guesses it can repeat the draw. Without a seed the draw
            is secure and needs the extra `dp`.

    Returns:
        The index of the drawn candidate.

    Raises:
        InputError: A score is not finite, or an option is not positive.
        MissingExtra: The draw is secure and OpenDP is not installed.

    >>> choose(np.array([3.0, 1.0]), epsilon=1.0, sensitivity=1.0, seed=1)
    0
    """
    if seed is not None:
        # inverse of the cumulative distribution; the total may differ from 1 by rounding
        chances = np.cumsum(probabilities(scores, epsilon, sensitivity, monotone=monotone))
        drawn = np.random.default_rng(seed).random() * chances[-1]
        return int(np.searchsorted(chances, drawn, side="right"))
    _check(scores)
    dp = _opendp()
    select = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float, monotonic=monotone),
        dp.zero_concentrated_divergence(),
        scale=scale_of(epsilon, sensitivity, monotone=monotone),
    )
    return int(select(scores.ravel().tolist()))


def bernoulli(size: int, beta: float, seed: Seed = None) -> Bools:
    """Return whether each record is sampled, independently of the others.

    Parameters:
        size: Number of records.
        beta: Probability that a record is sampled. It is exact from 2**−11 upwards, and accurate to
            2**−64 below.
        seed: For testing only: anyone who guesses it can repeat the sample. Without a seed the
            sample is secure.

    Returns:
        (records,) whether each record is sampled.

    Raises:
        InputError: beta is not from 0 to 1.

    >>> bernoulli(4, 0.5, seed=1).tolist()
    [False, False, True, False]
    """
    if not (is_number(beta) and 0 <= beta <= 1):
        raise InputError(f"beta must be from 0 to 1, not {beta!r}")
    if beta == 1:
        return np.ones(size, dtype=np.bool_)
    if seed is not None:
        # a uniform 64-bit word is below β · 2**64 with probability β
        words = np.random.default_rng(seed).integers(0, 2**_BITS, size, dtype=np.uint64)
    else:
        words = np.frombuffer(secrets.token_bytes(size * _BITS // 8), dtype=np.uint64)
    drawn: Bools = words < np.uint64(int(math.ldexp(beta, _BITS)))
    return drawn


def sample_groups(sizes: Counts, beta: float, seed: Seed = None) -> Counts:
    """Return how many records of each group are sampled, each independently of the others.

    The records are drawn one by one, like those of `bernoulli`, in the order of the groups.

    Parameters:
        sizes: (groups,) number of records of each group.
        beta: Probability that a record is sampled, as for `bernoulli`.
        seed: As for `bernoulli`.

    Returns:
        (groups,) number of sampled records of each group.

    >>> sample_groups(np.array([3, 0, 1]), 0.5, seed=1).tolist()
    [1, 0, 0]
    """
    source = None if seed is None else np.random.default_rng(seed)
    ends = np.cumsum(sizes, dtype=np.int64)
    drawn = np.zeros(len(sizes), dtype=np.int64)
    for start in range(0, int(ends[-1]) if len(ends) else 0, _BLOCK):
        size = min(_BLOCK, int(ends[-1]) - start)
        before = np.append(0, np.cumsum(bernoulli(size, beta, source)))  # drawn before each record
        # the groups that have records in this block; the outer two may extend beyond it
        first, last = np.searchsorted(ends, (start, start + size - 1), side="right")
        stops = np.minimum(ends[first : last + 1] - start, size)
        drawn[first : last + 1] += np.diff(before[stops], prepend=0)
    return drawn


def random_ranks(groups: Codes, seed: Seed = None) -> Counts:
    """Return the rank of each row, from 0, in a random order of the rows of its group.

    groups: (rows,) the group of each row, numbered from 0 without gaps.
    """
    if seed is not None:
        keys = np.random.default_rng(seed).integers(0, 2**_BITS, len(groups), dtype=np.uint64)
    else:
        keys = np.frombuffer(secrets.token_bytes(len(groups) * _BITS // 8), dtype=np.uint64)
    order = np.lexsort((keys, groups))
    sizes = np.bincount(groups)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - starts
    return ranks


def laplace(values: Floats, scale: float, seed: int | None = None) -> Floats:
    """Return the values, each with Laplace noise.

    Parameters:
        values: The values to publish.
        scale: The scale of the noise: sensitivity / epsilon. The sensitivity is the largest total
            change of all values when one record is added or removed.
        seed: For testing only: anyone who guesses it can remove the noise. Without a seed the noise
            is secure and needs the extra `dp`.

    Returns:
        The values with noise, in the same shape.

    Raises:
        InputError: A value is not finite, or the scale is not positive.
        MissingExtra: The noise is secure and OpenDP is not installed.

    >>> laplace(np.array([10.0, 20.0]), scale=2.0, seed=1).round(2).tolist()
    [10.05, 24.62]
    """
    _check(values)
    if not (is_number(scale) and 0 < scale < math.inf):
        raise InputError(f"scale must be more than 0 and finite, not {scale!r}")
    if seed is not None:
        noise = np.random.default_rng(seed).laplace(0.0, scale, values.shape)
        return np.asarray(values + noise, dtype=np.float64)
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    noisy = dp.m.make_laplace(*space, scale=scale)(values.astype(np.float64).ravel().tolist())
    return np.array(noisy, dtype=np.float64).reshape(values.shape)


def scale_of(epsilon: float, sensitivity: float, *, monotone: bool = False) -> float:
    """Return the divisor of scores, rounded up so that epsilon is never exceeded."""
    for name, value in (("epsilon", epsilon), ("sensitivity", sensitivity)):
        if not (is_number(value) and 0 < value < math.inf):
            raise InputError(f"{name} must be more than 0 and finite, not {value!r}")
    exact = sensitivity / epsilon if monotone else 2 * sensitivity / epsilon
    if not 0 < exact < math.inf:
        raise InputError("epsilon and sensitivity differ too much in size to compute with")
    # one step up: rounding never spends more than epsilon
    return math.nextafter(exact, math.inf)


def _check(numbers: Floats) -> None:
    if not numbers.size or not np.isfinite(numbers).all():
        raise InputError("give at least one number; all must be finite")


def _opendp() -> Any:
    with requires("dp"):
        import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


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
