"""What a mechanism promises of its release, in words and with the arithmetic behind it.

A privacy model can be checked on the released values, and any method can be asked for it. A claim
cannot: differential privacy is a property of how a release is drawn, so only the mechanism that
drew it can make one.

Dwork & Roth, "The Algorithmic Foundations of Differential Privacy", 2014.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from shoal.dp.rates import check_count
from shoal.dp.sampling import ROUNDING, Form, least_epsilon, sampling_loss
from shoal.errors import InputError

_SHORT = 1e-9  # the share that a stated δ may fall short by
_NEIGHBOURS = "neighbours: two tables, one of which has one record more"


class Claim(ABC):
    """A promise that a mechanism makes of its release."""

    epsilon: float
    delta: float

    @abstractmethod
    def describe(self) -> str:
        """Say in plain words what is promised, and to whom."""

    @abstractmethod
    def arithmetic(self) -> list[str]:
        """Return, line by line, how the figures come about and what they rest on."""

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain values, with its words."""
        told = {"claim": str(self), "describe": self.describe(), "arithmetic": self.arithmetic()}
        return {**told, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class DP(Claim):
    """(ε, δ)-differential privacy of something published.

    what: the thing, as the words name it: "the coefficients of the model".
    """

    epsilon: float
    delta: float
    what: str

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)

    def __str__(self) -> str:
        return f"differential privacy({figure(self.epsilon)}, {figure(self.delta)})"

    def describe(self) -> str:
        """Say what the presence of one record can change."""
        return f"{_change(self.what, self.epsilon, self.delta)}."

    def arithmetic(self) -> list[str]:
        """Return the figures and who counts as a neighbour."""
        return [f"ε = {figure(self.epsilon)}", f"δ = {figure(self.delta)}", _NEIGHBOURS]


@dataclass(frozen=True, kw_only=True)
class DPUnderSampling(Claim):
    """(β, ε, δ)-differential privacy under sampling, after Li, Qardaji & Su (2012).

    The sample is drawn afresh by the mechanism itself, so its release is (ε, δ)-private for the
    whole table, as long as nobody is told who was drawn.

    epsilon: the whole budget, choice and sample.
    choice_epsilon: the part that the choice of the recoding takes.
    proven: whether a proof covers the mechanism; if not, the figures are its paper's.
    seeded: whether the draws can be repeated; such a release is for testing.
    public: what the mechanism takes for known to all, as words name it.
    """

    beta: float
    epsilon: float
    delta: float
    k: int
    choice_epsilon: float
    proven: bool = True
    seeded: bool = False
    public: tuple[str, ...] = ("k", "β", "the hierarchies")

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        check_budget(self.choice_epsilon, 0, option="choice_epsilon")
        check_count("k", self.k)
        least = sampling_loss(self.k, self.beta, self.sampling_epsilon, form=self.form).delta
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
        **options: Any,
    ) -> DPUnderSampling:
        """Return the claim with the least δ; the sampling step has the least ε by default."""
        spent = least_epsilon(beta) if sampling_epsilon is None else sampling_epsilon
        form: Form = "tight" if proven else "published"
        return cls(
            beta=beta,
            epsilon=choice_epsilon + spent,
            delta=float(sampling_loss(k, beta, spent, form=form).delta),
            k=k,
            choice_epsilon=choice_epsilon,
            proven=proven,
            **options,
        )

    @property
    def sampling_epsilon(self) -> float:
        """The part of the budget that the sample takes."""
        return self.epsilon - self.choice_epsilon

    @property
    def form(self) -> Form:
        """The form of δ: tight for the mechanism with a proof."""
        return "tight" if self.proven else "published"

    def __str__(self) -> str:
        figures = ", ".join(figure(value) for value in (self.beta, self.epsilon, self.delta))
        marks = ["unproven"] * (not self.proven) + ["for testing only"] * self.seeded
        told = f" ({', '.join(marks)})" if marks else ""
        return f"differential privacy under sampling({figures}){told}"

    def describe(self) -> str:
        """Say what the presence of one record can change, and how far this can be relied on."""
        words = (
            f"{_change('the released table', self.epsilon, self.delta)}. The mechanism drew each "
            f"record of the full table with probability {self.beta:g}; who was drawn must stay "
            "secret."
        )
        if not self.proven:
            words = (
                "Unproven. The paper of this mechanism claims the following, but the recoding was "
                "chosen on the sample that is released, which its proof does not cover. " + words
            )
        if self.seeded:
            words += " The draws came from a stated seed and can be repeated: for testing only."
        return words

    def arithmetic(self) -> list[str]:
        """Return how ε and δ add up, who counts as a neighbour, and what is public."""
        size = sampling_loss(self.k, self.beta, self.sampling_epsilon, form=self.form).size
        spent = self.sampling_epsilon
        return [
            f"choice of the recoding: ε′ = {figure(self.choice_epsilon)}",
            f"sample: {_against(spent, least_epsilon(self.beta))}",
            f"together: ε = {figure(self.choice_epsilon)} + {figure(spent)} = "
            f"{figure(self.epsilon)}",
            f"δ = {figure(self.delta)}, {self.form} form, for classes shown with k = {self.k} "
            f"records or more; the worst class has n = {size} records",
            _NEIGHBOURS,
            f"public: {', '.join(self.public)}",
            "proof: the choice composed with the sample of a recoding fixed before it"
            if self.proven
            else "proof: none; the recoding was chosen on the sample itself",
        ]


def check_budget(epsilon: float, delta: float, *, option: str = "epsilon") -> None:
    """Refuse an ε that is not a number of 0 or more, and a δ outside 0 … 1."""
    if not (isinstance(epsilon, (int, float)) and math.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"{option} must be a number of 0 or more, not {epsilon!r}")
    if not (isinstance(delta, (int, float)) and 0 <= delta <= 1):
        raise InputError(f"delta must be from 0 to 1, not {delta!r}")


def figure(value: float | Fraction) -> str:
    """Return a budget for people: four significant digits."""
    return f"{float(value):.4g}"


def _change(what: str, epsilon: float, delta: float) -> str:
    """Say what one record can change."""
    more = f", plus a chance of {figure(delta)}" if delta else ""
    return (
        f"Take any one record out of the input, or put one in: whatever can be seen in {what} is "
        f"then at most {figure(math.exp(epsilon))} times as likely as before{more}"
    )


def _against(spent: float, least: float) -> str:
    """Say how the budget of a sample compares with −ln(1 − β)."""
    formula = f"-ln(1 - β) = {figure(least)}"
    if abs(spent - least) <= ROUNDING:
        return formula
    how = "more than" if spent > least else "paid for in δ as it is less than"
    return f"{figure(spent)}, {how} {formula}"
