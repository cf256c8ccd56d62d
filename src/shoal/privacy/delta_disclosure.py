"""δ-disclosure privacy: no class makes any sensitive value much more or much less likely.

Strict: every class must contain every value of the table.
Brickell & Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
publishing", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.privacy.largest_part import removed_by_caps
from shoal.privacy.model import ROUNDING, Model
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_range


@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """In each class |ln(q / p)| < delta for every value: q is its share there, p in the input.

    A share counts the people who have the value in at least one of their rows. The reference is the
    input table, including suppressed rows. A class that lacks a value of the input fails for every
    delta. A missing value counts as a value.
    Monotone: q of a merged class lies between the q of its parts and p does not change, so q / p
    stays in the same interval, if no person is in both.

    Parameters:
        delta: Bound on the logarithm of q / p, exclusive.
        column: The sensitive column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> found = shoal.check(rows, DeltaDisclosure(1, "disease"), quasi="age")
    >>> [round(level, 2) for level in found.levels.values()]
    [0.41]
    """

    name: ClassVar[str] = "delta-disclosure"
    monotone: ClassVar[bool] = True
    delta: float
    column: str

    def __post_init__(self) -> None:
        check_range("delta", self.delta, 0, above=True)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether every value stays within a factor e^delta."""
        return self._gaps(classes) + ROUNDING < self.delta

    def level(self, classes: Classes) -> float:
        """Return the value that delta must exceed; infinite if a class lacks a value."""
        return float(self._gaps(classes).max(initial=0.0))

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove until no value is too frequent.

        All of them if the class lacks a value.
        """
        reference = classes.reference(self.column)
        removed = removed_by_caps(classes, self.column, reference * np.exp(self.delta + ROUNDING))
        lacking = classes.distinct(self.column) < np.count_nonzero(reference)
        return np.where(lacking, classes.rows, removed)

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Anyone who finds a person's class sees no value of {self.column} become more or "
            f"less likely by a factor of {np.exp(self.delta):.3g} or more."
        )

    def _gaps(self, classes: Classes) -> Floats:
        """(classes,) the largest |ln(q / p)|."""
        histogram = classes.histogram(self.column)
        reference = classes.reference(self.column)
        expected = reference[histogram.codes]
        with np.errstate(divide="ignore"):  # infinite for a value that the input lacks
            gaps = np.abs(np.log(classes.shares(self.column) / expected))
        widest = np.maximum.reduceat(gaps, histogram.indptr[:-1])
        lacking = classes.distinct(self.column) < np.count_nonzero(reference)
        return np.where(lacking, np.inf, widest)
