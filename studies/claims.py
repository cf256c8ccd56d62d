"""A published claim and the measurement that decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from studies.runs import Row
from studies.verdicts import Decision

Answer = tuple[Decision, str]
Rows = Sequence[Row]
Test = Callable[[Rows], Answer]
Measured = TypeVar("Measured")  # the rows of a study, or an analysis of them


@dataclass(frozen=True)
class Verdict:
    """A claim, the verdict on it, and the measurement behind the verdict."""

    claim: str
    word: Decision
    found: str


@dataclass(frozen=True)
class Claim(Generic[Measured]):
    """A claim on a figure or table, and its test on the measurements."""

    figure: str
    text: str
    test: Callable[[Measured], Answer]

    def judge(self, measured: Measured) -> Verdict:
        """Return the verdict on the measurements."""
        try:
            word, found = self.test(measured)
        except (LookupError, ArithmeticError, ValueError, StopIteration):  # what was not run
            word, found = "undecided", "not enough runs"
        return Verdict(self.text, word, found)


def judge_figure(
    claims: Iterable[Claim[Measured]], figure: str, measured: Measured
) -> list[Verdict]:
    """Return the verdicts on all claims on one figure."""
    return [claim.judge(measured) for claim in claims if claim.figure == figure]
