"""(α, k)-anonymity: every class holds k people, and no sensitive value fills too much of it.

Wong, Li, Fu & Wang, "(α, k)-Anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", KDD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools, Floats
from shoal.core.classes import Classes
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model, check_enough, check_range, check_whole


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """At least k people in each class, of whom a share of at most alpha show the value.

    value: the value to guard, as text; by default every value, the missing one included.

    A person shows each value of her rows in the class, so that shares of people with several values
    may add up to more than 1.
    Monotone: merged classes only grow, and a merged share is a weighted mean of its parts', if
    nobody is in both.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    monotone: ClassVar[bool] = True
    alpha: float
    k: int
    column: str
    value: str | None = None

    def __post_init__(self) -> None:
        check_range("alpha", self.alpha, 0, 1, above=True)
        check_whole("k", self.k, 1)

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether it is large enough and the value rare enough."""
        return (classes.sizes >= self.k) & (self._shares(classes) <= self.alpha)

    def level(self, classes: Classes) -> float:
        """Return the alpha that the classes reach: the largest share. It says nothing of k."""
        return float(self._shares(classes).max(initial=0.0))

    def check(self, table: Table) -> None:
        """Refuse a table of fewer than k people, or without the value."""
        super().check(table)
        check_enough(table, self.k)
        if self.value is not None and self.value not in table[self.column].labels:
            raise InputError(
                f"{self.name}: the value is not one of column {self.column!r}; "
                "write it as the data does, or leave it out to guard every value"
            )

    def describe(self) -> str:
        """Say what a reader cannot do."""
        guarded = "one value" if self.value is None else f"the value {self.value!r}"
        return (
            f"Anyone who knows a person's quasi-identifiers finds at least {self.k} matching "
            f"people, and a share of at most {self.alpha:g} of them has {guarded} of "
            f"{self.column}."
        )

    def _shares(self, classes: Classes) -> Floats:
        """(classes,) the share of the value, or of the most frequent one."""
        histogram = classes.histogram(self.column)
        starts = histogram.indptr[:-1]
        shares = classes.shares(self.column)
        if self.value is None:
            return np.maximum.reduceat(shares, starts)
        labels = classes.table[self.column].labels
        code = labels.index(self.value) if self.value in labels else -1
        return np.add.reduceat(np.where(histogram.codes == code, shares, 0.0), starts)
