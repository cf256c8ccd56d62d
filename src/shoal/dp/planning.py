"""Which k and β meet a budget, and how many records they are expected to keep.

    SampleBudget      how a sampled release divides its ε, and which k reaches a δ
    expected_kept     records of a class that are expected to be released; the score that chooses a
                      recoding, as it is smooth where the count of kept records jumps by k
    plan              both for every β and k: a larger β keeps more records and costs more ε or δ;
                      a larger k keeps fewer records and lowers δ

`shoal dp plan` and `safe-la` both use this module, so every planned setting can run. The colours
compare δ with 1/N like tables 5.1 and 5.5 of Li, "Improving a de-identification algorithm that
achieves both k-anonymity and differential privacy", 2019: a mechanism with δ = 1/N may publish some
records in full and still be (ε, δ)-private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, overload

import numpy as np

from shoal.dp.claims import check_budget, figure
from shoal.dp.mechanisms import Number, as_rate, check_count, is_exact
from shoal.dp.sampling import (
    LEAST_BUDGET,
    MOST_BUDGET,
    ROUNDING,
    Form,
    SamplingLoss,
    least_epsilon,
    least_k,
    sampling_loss,
)
from shoal.errors import Infeasible, InputError
from shoal.support.arrays import Counts, Floats
from shoal.support.proportions import exact_chance, exact_tail

Colour = Literal["green", "yellow", "red"]
SIZES = (100, 200, 500)
_TENTHS = [tenth / 10 for tenth in range(1, 10)]


@dataclass(frozen=True)
class Setting:
    """A k and a β with their guarantee and the share of records they keep; `plan` returns them.

    Attributes:
        k: The smallest size of a class that is released.
        beta: The sampling rate.
        epsilon: The total budget.
        sampling_epsilon: The part of it that the sample spends.
        choice_epsilon: The part of it that the choice of the recoding spends.
        delta: Tight form.
        size: The size of the class that determines delta.
        least_k: The smallest k that reaches the target δ at this β.
        published_delta: The δ in the published form; None if ε is too small for it.
        published_least_k: The smallest k in the published form; None if ε is too small for it.
        reached: Whether delta is at most the target.
        colour: How delta compares with 1/rows.
        kept: {class size: share of its records expected to be released}.
    """

    k: int
    beta: float
    epsilon: float
    sampling_epsilon: float
    choice_epsilon: float
    delta: float
    size: int
    least_k: int
    published_delta: float | None
    published_least_k: int | None
    reached: bool
    colour: Colour
    kept: dict[int, float]


def plan(
    rows: int,
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    k: Sequence[int] = (),
    beta: Sequence[float] = (),
    choice_epsilon: float = 0.1,
    sizes: Sequence[int] = SIZES,
) -> list[Setting]:
    """Return pairs (k, β) with their δ: for each β the smallest k that reaches it, or the given k.

    `safe-la` can run every returned setting with n0 = rows, epsilon, choice and beta; it refuses
    the red ones unless `allow_large_delta` is set.

    Parameters:
        rows: Number of records, from public knowledge: the plan is not secret.
        epsilon: The total budget; by default each β gets choice − ln(1 − β).
        delta: The target δ; by default a tenth of 1/rows.
        k: Values of k to evaluate; by default the smallest k for each β.
        beta: Sampling rates; by default the tenths for which a k below rows is enough.
        choice_epsilon: The part of the budget that the choice of the recoding spends.
        sizes: Class sizes for which to report the expected share of released records.

    Returns:
        The settings.

    Raises:
        InputError: An option is out of range.
        Infeasible: No k up to `rows` reaches the target δ.

    Examples:
        >>> [(setting.k, setting.beta) for setting in plan(30162, 1.31, 1e-6)][-2:]
        [(110, 0.8), (246, 0.9)]
    """
    check_count("rows", rows)
    for size in sizes:
        check_count("sizes", size)
    for stated in k:
        check_count("k", stated, LEAST_CLASS)
    wanted = 0.1 / rows if delta is None else delta
    check_budget(choice_epsilon if epsilon is None else epsilon, wanted)
    settings = []
    for rate in [float(as_rate(stated)) for stated in beta] or _TENTHS:
        whole = choice_epsilon + least_epsilon(rate) if epsilon is None else epsilon
        budget = SampleBudget(whole, choice_epsilon, rate)
        least = budget.least_k(wanted)
        # a stated β is reported even if no k up to `rows` is enough
        asked = k or [least] * (least <= rows or bool(beta))
        settings += [_setting(each, budget, wanted, least, rows, sizes) for each in asked]
    if not settings:
        raise Infeasible(
            f"no k up to {rows:,} reaches delta = {figure(wanted)}; raise epsilon or delta"
        )
    return settings


def colour(delta: float, rows: int) -> Colour:
    """Return green below a tenth of 1/rows, yellow below 1/rows, else red."""
    if delta * rows < 0.1:
        return "green"
    return "yellow" if delta * rows < 1 else "red"


def _setting(
    k: int,
    budget: SampleBudget,
    wanted: float,
    least: int,
    rows: int,
    sizes: Sequence[int],
) -> Setting:
    loss = budget.loss(k)
    delta = float(loss.delta)
    published = None
    if budget.per_sample >= least_epsilon(budget.beta) - ROUNDING:
        published = replace(budget, form="published")
    return Setting(
        k=k,
        beta=budget.beta,
        epsilon=budget.epsilon,
        sampling_epsilon=budget.per_sample,
        choice_epsilon=budget.choice,
        delta=delta,
        size=loss.size,
        least_k=least,
        published_delta=None if published is None else published.delta(k),
        published_least_k=None if published is None else published.least_k(wanted),
        reached=delta <= wanted,
        colour=colour(delta, rows),
        kept={size: float(expected_kept(size, k, budget.beta)) / size for size in sizes},
    )


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
    # P[Bin(n, β) ≥ m] = I_β(m, n − m + 1), here with n = size − 1 and m = k − 1
    chance[enough] = betainc(k - 1.0, others - (k - 2.0), beta)
    return np.asarray(sizes * beta * chance, dtype=np.float64)


LEAST_CLASS = 2  # people or records: a smaller class protects nobody


@dataclass(frozen=True)
class SampleBudget:
    """The ε of a release: one part for the choice of the recoding, the rest for sampling.

    Any split is valid in the tight form: below −ln(1 − β) per sample, δ is larger. The published
    form requires at least −ln(1 − β).

    epsilon: The total budget.
    choice: The part that the choice of the recoding spends.
    beta: Probability that a record is sampled.
    samples: Independent samples that share the rest.
    form: Form of δ.

    >>> SampleBudget(1.31, 0.1, 0.8).least_k(1e-6)
    110
    """

    epsilon: float
    choice: float
    beta: float
    samples: int = 1
    form: Form = "tight"

    def __post_init__(self) -> None:
        as_rate(self.beta)
        check_count("samples", self.samples)
        for name, value in (("epsilon", self.epsilon), ("choice", self.choice)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (number and 0 < value < math.inf):
                raise InputError(f"{name} must be a number above 0, not {value!r}")
        floor = least_epsilon(self.beta)
        if self.form != "tight" and self.per_sample < floor - ROUNDING:
            raise InputError(
                f"the {self.form} form of delta needs epsilon of at least choice − ln(1 − beta) = "
                f"{self.choice + self.samples * floor:.6g}, not {self.epsilon:g}; raise epsilon, "
                "or lower beta or choice"
            )
        fits = LEAST_BUDGET <= self.per_sample <= MOST_BUDGET
        if not fits and abs(self.per_sample - floor) > ROUNDING:
            raise InputError(
                f"epsilon = {self.epsilon:g} leaves {self.per_sample:.4g} for each sample after "
                f"{self.choice:g} for the choice; it must be from {LEAST_BUDGET} to {MOST_BUDGET}"
            )

    @property
    def per_sample(self) -> float:
        """The ε that one sample spends."""
        return (self.epsilon - self.choice) / self.samples

    def loss(self, k: int) -> SamplingLoss:
        """Return the δ of the release, and the size of the class that determines it."""
        loss = sampling_loss(k, self.beta, self.per_sample, form=self.form)
        return SamplingLoss(min(self.samples * float(loss.delta), 1.0), loss.size)

    def delta(self, k: int) -> float:
        """Return the δ of the release if classes below k are dropped."""
        return float(self.loss(k).delta)

    def least_k(self, delta: float) -> int:
        """Return the smallest k whose δ is at most the given one."""
        each = delta if self.samples == 1 else delta / self.samples
        least = least_k(self.per_sample, each, self.beta, form=self.form)
        return max(least, LEAST_CLASS)
