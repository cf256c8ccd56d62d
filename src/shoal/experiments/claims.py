"""A published finding and the question that tests it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Generic, TypeVar

from shoal.experiments.page import Verdict
from shoal.experiments.runs import Row

Answer = tuple[bool | None, str]
Rows = Sequence[Row]
Test = Callable[[Rows], Answer]
Measured = TypeVar("Measured")  # the rows of a study, or what it made of them


@dataclass(frozen=True)
class StudyClaim(Generic[Measured]):
    """A finding of a figure, as text, and its test on what was measured."""

    figure: str
    text: str
    test: Callable[[Measured], Answer]

    def judge(self, measured: Measured) -> Verdict:
        """Hold the claim against what was measured."""
        try:
            holds, found = self.test(measured)
        except (LookupError, ArithmeticError, ValueError, StopIteration):  # what was not run
            holds, found = None, "not enough runs to tell"
        return Verdict(self.text, holds, found)


def judge_figure(
    claims: Iterable[StudyClaim[Measured]], figure: str, measured: Measured
) -> list[Verdict]:
    """Hold all claims on one figure against what was measured."""
    return [claim.judge(measured) for claim in claims if claim.figure == figure]


def half_width(values: Sequence[float]) -> float:
    """Return half the width of Student's 95 % interval of the mean."""
    from scipy.stats import t

    if len(values) < 2:
        return 0.0
    return float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
