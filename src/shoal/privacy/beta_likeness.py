"""β-likeness: no sensitive value becomes much more frequent in a class than in the table.

Relative, so that rare values are guarded as well as frequent ones; a loss is not limited.
Cao & Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools, Floats
from shoal.core.classes import Classes
from shoal.privacy.model import ROUNDING, Model, check_flag, check_range


@dataclass(frozen=True)
class BetaLikeness(Model):
    """In each class (q − p) / p ≤ beta for every value: q its share there, p in the input.

    A share is that of the people who show the value in one of their rows.

    enhanced: the bound is min(beta, −ln p), so that a frequent value is held closer and none may
        fill a class.

    The reference is the input table, suppressed rows included. A missing value counts as a value.
    Monotone: q of a merged class is a weighted mean of its parts', p and the bound stay, if nobody
    is in both.
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
        """Tell, class by class, whether no value gains more than the bound."""
        needs = self._needs(classes)
        return (needs <= self.beta + ROUNDING) & np.isfinite(needs)

    def level(self, classes: Classes) -> float:
        """Return the least beta that holds: the largest gain.

        Infinite where enhanced and some gain is above −ln p: then no beta holds.
        """
        return float(self._needs(classes).max(initial=0.0))

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Anyone who finds a person's class sees no value of {self.column} become more than "
            f"{1 + self.beta:g} times as likely as in the whole table."
        )

    def _needs(self, classes: Classes) -> Floats:
        """(classes,) the least beta that each class keeps."""
        histogram = classes.histogram(self.column)
        expected = classes.reference(self.column)[histogram.codes]
        with np.errstate(divide="ignore"):  # a value that the input does not show: infinite
            gains = np.maximum(classes.shares(self.column) / expected - 1, 0.0)
            caps = -np.log(expected)
        if self.enhanced:
            gains = np.where(gains > caps + ROUNDING, np.inf, gains)
        return np.maximum.reduceat(gains, histogram.indptr[:-1])
