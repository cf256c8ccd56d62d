"""A published finding and the question that tests it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import stdev

from shoal.experiments.page import Verdict
from shoal.experiments.runs import Row

Answer = tuple[bool | None, str]


@dataclass(frozen=True)
class Claim:
    """A finding of a figure, as text, and its test on the rows that were measured."""

    figure: str
    text: str
    test: Callable[[Sequence[Row]], Answer]

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Hold the claim against the rows."""
        try:
            holds, found = self.test(rows)
        except (LookupError, ArithmeticError, ValueError, StopIteration):  # what was not run
            holds, found = None, "not enough runs to tell"
        return Verdict(self.text, holds, found)


def half_width(values: Sequence[float]) -> float:
    """Return half the width of Student's 95 % interval of the mean."""
    from scipy.stats import t

    if len(values) < 2:
        return 0.0
    return float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
