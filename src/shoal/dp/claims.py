"""The guarantee that a mechanism claims for its release, in words and with its arithmetic.

A privacy model can be checked on the released values, and any method can aim for it. A claim cannot
be checked that way: differential privacy is a property of how a release is drawn, so only the
mechanism that draws it can claim it.

    DP                 (ε, δ) of a published result
    DPUnderSampling    (ε, δ) of a release that drew its own sample
    compose            the total of several releases of one table, by the smallest valid bound

If parameters are chosen adaptively, that is the sum or the advanced bound of Whitehouse et al.; the
optimal bound requires that all parameters are fixed in advance.

Dwork & Roth, "The Algorithmic Foundations of Differential Privacy", 2014, §3.5 on composition;
Kairouz, Oh & Viswanath, "The Composition Theorem for Differential Privacy", 2015; Whitehouse,
Ramdas, Rogers & Wu, "Fully-Adaptive Composition in Differential Privacy", 2023.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal, get_args

from shoal.dp.mechanisms import check_count
from shoal.dp.sampling import ROUNDING, Form, least_epsilon, sampling_loss
from shoal.errors import InputError, unknown
from shoal.support.options import is_number
from shoal.support.wording import counted

ProtectedUnit = Literal["record", "person", "household"]
_SHORT = 1e-9  # relative amount by which a stated δ may be too small
_NEIGHBOURS = "neighbours: two tables that differ by one added or removed record"


class Claim(ABC):
    """A guarantee that a mechanism claims for its release, such as `DP` or `DPUnderSampling`.

    Attributes:
        epsilon: The ε of the claim.
        delta: The δ of the claim.
    """

    epsilon: float
    delta: float

    @abstractmethod
    def describe(self) -> str:
        """Return in plain words what is guaranteed, and to whom."""

    @abstractmethod
    def arithmetic(self) -> list[str]:
        """Return, line by line, how the figures are computed and what they assume."""

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data, including its text."""
        words = {"claim": str(self), "describe": self.describe(), "arithmetic": self.arithmetic()}
        return {**words, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class DP(Claim):
    """(ε, δ)-differential privacy of a published result.

    Parameters:
        epsilon: The ε of the claim.
        delta: The δ of the claim.
        what: The published result as the text names it, such as "the coefficients of the model".

    >>> print(DP(1.0, 0.0, "a histogram"))
    differential privacy(1, 0)
    """

    epsilon: float
    delta: float
    what: str

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)

    def __str__(self) -> str:
        return f"differential privacy({figure(self.epsilon)}, {figure(self.delta)})"

    def describe(self) -> str:
        """Return in words how much one record can change the result."""
        return f"{_change(self.what, self.epsilon, self.delta)}."

    def arithmetic(self) -> list[str]:
        """Return the figures and the definition of neighbours."""
        return [f"ε = {figure(self.epsilon)}", f"δ = {figure(self.delta)}", _NEIGHBOURS]


@dataclass(frozen=True, kw_only=True)
class DPUnderSampling(Claim):
    """(β, ε, δ)-differential privacy under sampling, after Li, Qardaji & Su (2012).

    The mechanism draws a new sample itself, so its release is (ε, δ)-private for the whole table as
    long as the sampled records stay secret.

    Parameters:
        beta: Probability that a record is sampled.
        epsilon: The total budget: the choice of the recoding and every sample.
        delta: The total δ of all samples.
        k: The smallest size of a class that is released.
        choice_epsilon: The part of epsilon that the choice of the recoding spends.
        proven: Whether a proof covers the mechanism; if not, the figures are those of its paper.
        seeded: Whether the random draws can be repeated; such a release is for testing only.
        public: What the mechanism assumes to be public.
        unit: The unit in which neighbours differ: a record, or a person or household with all
            their rows.
        max_rows_per_person: Maximum number of rows of one unit that are used, each in a different
            sample.

    >>> claim = DPUnderSampling.of(k=50, beta=0.5, choice_epsilon=0.1)
    >>> print(claim)
    differential privacy under sampling(0.5, 0.7931, 9.241e-07)
    """

    beta: float
    epsilon: float
    delta: float
    k: int
    choice_epsilon: float
    proven: bool = True
    seeded: bool = False
    public: tuple[str, ...] = ("k", "β", "the hierarchies")
    unit: ProtectedUnit = "record"
    max_rows_per_person: int = 1

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        check_budget(self.choice_epsilon, 0, option="choice_epsilon")
        check_count("k", self.k)
        check_count("max_rows_per_person", self.max_rows_per_person)
        if self.unit not in get_args(ProtectedUnit):
            raise unknown("no unit", self.unit, get_args(ProtectedUnit))
        # a claim cannot be made with a δ that is smaller than its own figures
        each = sampling_loss(self.k, self.beta, self.sampling_epsilon, form=self.form).delta
        least = min(self.max_rows_per_person * float(each), 1.0)
        if self.delta < least * (1 - _SHORT):
            raise InputError(
                f"delta must be {figure(least)} or more for k = {self.k}, beta = {self.beta:g} "
                f"and epsilon = {self.sampling_epsilon:g} of the sampling step, not {self.delta:g}"
            )

    @classmethod
    def of(
        cls,
        k: int,
        beta: float,
        choice_epsilon: float,
        *,
        sampling_epsilon: float | None = None,
        proven: bool = True,
        max_rows_per_person: int = 1,
        **options: Any,
    ) -> DPUnderSampling:
        """Return the claim with the smallest δ; each sample spends −ln(1 − β) by default."""
        spent = least_epsilon(beta) if sampling_epsilon is None else sampling_epsilon
        form: Form = "tight" if proven else "published"
        each = float(sampling_loss(k, beta, spent, form=form).delta)
        return cls(
            beta=beta,
            epsilon=choice_epsilon + max_rows_per_person * spent,
            delta=min(max_rows_per_person * each, 1.0),
            k=k,
            choice_epsilon=choice_epsilon,
            proven=proven,
            max_rows_per_person=max_rows_per_person,
            **options,
        )

    @property
    def sampling_epsilon(self) -> float:
        """The part of the budget that each sample spends."""
        return (self.epsilon - self.choice_epsilon) / self.max_rows_per_person

    @property
    def neighbours(self) -> str:
        """The definition of neighbours, in the words of a ledger."""
        return f"add or remove one {self.unit}"

    @property
    def form(self) -> Form:
        """The form of δ: tight for a mechanism with a proof."""
        return "tight" if self.proven else "published"

    def __str__(self) -> str:
        figures = ", ".join(figure(value) for value in (self.beta, self.epsilon, self.delta))
        marks = [f"per {self.unit}"] * (self.unit != "record")
        marks += ["unproven"] * (not self.proven) + ["for testing only"] * self.seeded
        note = f" ({', '.join(marks)})" if marks else ""
        return f"differential privacy under sampling({figures}){note}"

    def describe(self) -> str:
        """Return in words how much one unit can change the release, and how reliable this is."""
        words = (
            f"{_change('the released table', self.epsilon, self.delta, self.unit)}. The mechanism "
            f"sampled each record of the full table with probability {self.beta:g}; which records "
            "were sampled must stay secret."
        )
        if self.unit != "record":
            rows = counted(self.max_rows_per_person, "row")
            words += f" At most {rows} of each {self.unit} were used, chosen at random."
        if not self.proven:
            words = (
                "Unproven. The paper of this mechanism claims the following, but the recoding was "
                "chosen on the sample that is released, which its proof does not cover. " + words
            )
        if self.seeded:
            words += " The random draws use a given seed and can be repeated: for testing only."
        return words

    def arithmetic(self) -> list[str]:
        """Return how ε and δ add up, the definition of neighbours, and what is public."""
        spent, named, samples = self.sampling_epsilon, self.unit, self.max_rows_per_person
        delta = figure(self.delta)
        if samples > 1:
            delta = f"{self._times(self.delta / samples)} = {delta}"
        size = sampling_loss(self.k, self.beta, spent, form=self.form).size
        return [
            f"choice of the recoding: ε′ = {figure(self.choice_epsilon)}",
            f"sample: {_against(spent, least_epsilon(self.beta))}",
            f"total: ε = {figure(self.choice_epsilon)} + {self._times(spent)} = "
            f"{figure(self.epsilon)}",
            f"δ = {delta}, {self.form} form, for released classes "
            f"of at least k = {self.k} {named}s; the worst class has n = {size} {named}s",
            *self._about_units(),
            f"public: {', '.join(self.public)}",
            "proof: composition of the choice and of sampling with a recoding fixed before it"
            if self.proven
            else "proof: none; the recoding was chosen on the sample that is released",
        ]

    def _times(self, value: float) -> str:
        """Return a figure of one sample, times the number of samples."""
        samples = self.max_rows_per_person
        return figure(value) if samples == 1 else f"{samples} · {figure(value)}"

    def _about_units(self) -> list[str]:
        """Return the definition of neighbours and the number of rows used per unit."""
        if self.unit == "record":
            return [_NEIGHBOURS]
        return [
            f"neighbours: two tables that differ by one added or removed {self.unit} with all "
            "their rows",
            f"max_rows_per_person: {self.max_rows_per_person}; further rows are left out at "
            "random, and each row that is used belongs to a different sample",
        ]


def check_budget(epsilon: float, delta: float, *, option: str = "epsilon") -> None:
    """Raise an error unless ε is a number of at least 0 and δ is from 0 to 1."""
    if not (is_number(epsilon) and math.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"{option} must be a number of 0 or more, not {epsilon!r}")
    if not (is_number(delta) and 0 <= delta <= 1):
        raise InputError(f"delta must be from 0 to 1, not {delta!r}")


def figure(value: float | Fraction) -> str:
    """Return a budget with four significant digits, for users."""
    return f"{float(value):.4g}"


def _change(what: str, epsilon: float, delta: float, unit: str = "record") -> str:
    """Return in words how much one record, or one unit with all its rows, can change."""
    more = f", plus a probability of {figure(delta)}" if delta else ""
    return (
        f"Adding or removing any one {unit} of the input makes any event in {what} at most "
        f"{figure(math.exp(epsilon))} times as likely as before{more}"
    )


def _against(spent: float, least: float) -> str:
    """Return in words how the budget of a sample compares with −ln(1 − β)."""
    formula = f"-ln(1 - β) = {figure(least)}"
    if abs(spent - least) <= ROUNDING:
        return formula
    if spent > least:
        return f"{figure(spent)}, more than {formula}"
    return f"{figure(spent)}, less than {formula}, which increases δ"


_ROUNDING = 1e-10  # relative error of logarithms and roots
_EXACT = Context(prec=2000, traps=[Inexact, InvalidOperation])  # the widest sum of floats fits


@dataclass(frozen=True)
class Composed:
    """The result of `compose`: the total of several releases.

    Attributes:
        epsilon: The total ε.
        delta: The total δ.
        rule: The composition rule: "basic", "advanced" or "optimal".
    """

    epsilon: float
    delta: float
    rule: str  # "basic", "advanced" or "optimal"


def compose(
    losses: Sequence[tuple[float, float]], *, slack: float = 0.0, adaptive: bool = True
) -> Composed:
    """Return the smallest valid total ε of several releases, and its δ.

    Parameters:
        losses: The ε and δ of each release.
        slack: The δ that the sharper rules may add, fixed before the first release; 0 for the sum.
        adaptive: Whether an ε or δ may depend on earlier releases.

    Returns:
        The total ε and δ with the rule that bounds them.

    Examples:
        >>> compose([(0.5, 1e-6), (0.1, 0.0)])
        Composed(epsilon=0.6, delta=1e-06, rule='basic')
    """
    epsilons = [epsilon for epsilon, _ in losses]
    deltas = [delta for _, delta in losses]
    best = Composed(decimal_sum(epsilons), decimal_sum(deltas), "basic")
    if not losses or not slack:
        return best
    bounds = {"advanced": advanced_epsilon(epsilons, slack)}
    if not adaptive and len(set(losses)) == 1:
        bounds["optimal"] = optimal_epsilon(epsilons[0], len(losses), slack)
    rule = min(bounds, key=bounds.__getitem__)
    if bounds[rule] >= best.epsilon:
        return best
    return Composed(bounds[rule], decimal_sum([*deltas, slack]), rule)


def decimal_sum(numbers: Iterable[float]) -> float:
    """Return the sum of numbers as written in decimals, rounded up: ten times 0.1 is 1.

    >>> decimal_sum([0.1] * 10), decimal_sum([0.1, 0.2])
    (1.0, 0.3)
    """
    total = exact_sum(numbers)
    nearest = float(total)
    return nearest if as_written(nearest) >= total else math.nextafter(nearest, math.inf)


def exact_sum(numbers: Iterable[float]) -> Decimal:
    """Return the sum of numbers as written in decimals."""
    total = Decimal(0)
    # equal numbers once: a ledger can hold thousands of equal entries
    for number, count in Counter(numbers).items():
        total = _EXACT.add(total, _EXACT.multiply(as_written(number), Decimal(count)))
    return total


def as_written(number: float) -> Decimal:
    """Return the shortest decimal form of a number."""
    return Decimal(repr(float(number)))


def advanced_epsilon(epsilons: Sequence[float], slack: float) -> float:
    """Return ε of advanced composition at δ' = slack, also for adaptively chosen ε.

    √(2 ln(1/δ') Σε²) + Σε²/2: the privacy losses minus their mean are a martingale.
    """
    squares = math.fsum(epsilon * epsilon for epsilon in epsilons)
    bound = math.sqrt(2 * math.log(1 / slack) * squares) + squares / 2
    return bound * (1 + _ROUNDING)


def advanced_room(epsilon: float, slack: float) -> float:
    """Return the Σε² at which advanced composition reaches ε."""
    log = math.log(1 / slack)
    # r = √Σε² solves √(2 ln(1/δ'))·r + r²/2 = ε; this form of the root has no cancellation
    root = 2 * epsilon / (math.sqrt(2 * log + 2 * epsilon) + math.sqrt(2 * log))
    return root * root * (1 - 4 * _ROUNDING)


def optimal_epsilon(epsilon: float, count: int, slack: float) -> float:
    """Return the smallest ε of `count` releases of ε each at δ' = slack; no valid bound is smaller.

    In the worst case each release answers truthfully with probability e^ε/(1 + e^ε). With at most i
    lies counted, the loss exceeds ε* by at most Σ_{l ≤ i} C(count, l) (p_l − e^ε* q_l), which is
    solved for ε* at every i.
    """
    truth = -math.log1p(math.exp(-epsilon))  # logarithms throughout: p_l underflows early
    lie = truth - epsilon
    ways = [_log_choose(count, lies) for lies in range(count + 1)]
    here = [way + (count - lies) * truth + lies * lie for lies, way in enumerate(ways)]
    there = [way + lies * truth + (count - lies) * lie for lies, way in enumerate(ways)]
    # one candidate for each i; the largest one satisfies them all
    best = 0.0
    for above, below in zip(accumulate(here, _log_add), accumulate(there, _log_add), strict=True):
        left = math.exp(above) - slack
        if left > 0:
            best = max(best, math.log(left) - below)
    return min(best * (1 + _ROUNDING) + _ROUNDING, decimal_sum([epsilon] * count))


def _log_choose(count: int, part: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(part + 1) - math.lgamma(count - part + 1)


def _log_add(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))
