"""β-likeness: no sensitive value becomes much more frequent in a class than in the table.

The bound is relative, so it protects rare values as well as frequent ones. It limits only
increases in frequency, not decreases.
Cao & Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.privacy.largest_part import removed_by_caps
from shoal.privacy.model import ROUNDING, Model
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_flag, check_range


@dataclass(frozen=True)
class BetaLikeness(Model):
    """In each class (q − p) / p ≤ beta for every value: q is its share there, p in the input.

    A share counts the people who have the value in at least one of their rows. The reference is the
    input table, including suppressed rows. A missing value counts as a value.
    Monotone: q of a merged class is a weighted mean of the q of its parts, and p and the bound do
    not change, if no person is in both.

    Parameters:
        beta: Largest relative increase in frequency.
        column: The sensitive column.
        enhanced: Use the bound min(beta, −ln p). It is tighter for frequent values, and no value
            can fill a whole class.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> found = shoal.check(rows, BetaLikeness(1, "disease"), quasi="age")
    >>> [round(level, 2) for level in found.levels.values()]
    [0.33]
    """

    name: ClassVar[str] = "beta-likeness"
    monotone: ClassVar[bool] = True
    beta: float
    column: str
    enhanced: bool = True

    def __post_init__(self) -> None:
        check_range("beta", self.beta, 0, above=True)
        check_flag("enhanced", self.enhanced)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether no value exceeds the bound."""
        needs = self._needs(classes)
        return (needs <= self.beta + ROUNDING) & np.isfinite(needs)

    def level(self, classes: Classes) -> float:
        """Return the least beta that holds: the largest relative increase.

        Infinite if `enhanced` is set and some increase is above −ln p, since no beta holds then.
        """
        return float(self._needs(classes).max(initial=0.0))

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove until no value is too frequent."""
        expected = classes.reference(self.column)
        gain = np.full(len(expected), self.beta)
        if self.enhanced:
            gain = np.minimum(gain, -np.log(np.where(expected > 0, expected, 1.0)))
        caps = expected * (1 + gain + ROUNDING)
        return removed_by_caps(classes, self.column, caps)

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Anyone who finds a person's class sees no value of {self.column} become more than "
            f"{1 + self.beta:g} times as likely as in the whole table."
        )

    def _needs(self, classes: Classes) -> Floats:
        """(classes,) the least beta that holds in each class."""
        histogram = classes.histogram(self.column)
        expected = classes.reference(self.column)[histogram.codes]
        with np.errstate(divide="ignore"):  # infinite for a value that the input lacks
            gains = np.maximum(classes.shares(self.column) / expected - 1, 0.0)
            caps = -np.log(expected)
        if self.enhanced:
            gains = np.where(gains > caps + ROUNDING, np.inf, gains)
        return np.maximum.reduceat(gains, histogram.indptr[:-1])
