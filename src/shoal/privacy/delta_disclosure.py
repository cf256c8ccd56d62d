"""δ-disclosure privacy: no class makes any sensitive value much likelier or much less likely.

Strict: a class must show every value that the table shows.
Brickell & Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
publishing", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools, Floats
from shoal.core.classes import Classes
from shoal.privacy.model import ROUNDING, Model, check_range


@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """In each class |ln(q / p)| < delta for every value: q its share there, p in the input.

    A share is that of the people who show the value in one of their rows. The reference is the
    input table, suppressed rows included. A value of the input that a class does not show breaks
    it, whatever delta. A missing value counts as a value.
    Monotone: q of a merged class lies between its parts' and p stays, so q / p keeps to the same
    interval, if nobody is in both.
    """

    name: ClassVar[str] = "delta-disclosure"
    monotone: ClassVar[bool] = True
    delta: float
    column: str

    def __post_init__(self) -> None:
        check_range("delta", self.delta, 0, above=True)

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether every value stays within a factor e^delta."""
        return self._gaps(classes) + ROUNDING < self.delta

    def level(self, classes: Classes) -> float:
        """Return the delta that the classes need more than; infinite if one lacks a value."""
        return float(self._gaps(classes).max(initial=0.0))

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Anyone who finds a person's class sees no value of {self.column} become more or "
            f"less likely by a factor of {np.exp(self.delta):.3g} or more."
        )

    def _gaps(self, classes: Classes) -> Floats:
        """(classes,) the largest |ln(q / p)|."""
        histogram = classes.histogram(self.column)
        reference = classes.reference(self.column)
        expected = reference[histogram.codes]
        with np.errstate(divide="ignore"):  # a value that the input does not show: infinite
            gaps = np.abs(np.log(classes.shares(self.column) / expected))
        widest = np.maximum.reduceat(gaps, histogram.indptr[:-1])
        lacking = classes.distinct(self.column) < np.count_nonzero(reference)
        return np.where(lacking, np.inf, widest)
