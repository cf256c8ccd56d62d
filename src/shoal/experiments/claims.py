"""A published finding and the question that tests it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
