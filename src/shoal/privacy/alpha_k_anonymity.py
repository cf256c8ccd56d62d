"""(α, k)-anonymity: every class has at least k people, and no sensitive value is too frequent.

Wong, Li, Fu & Wang, "(α, k)-Anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", KDD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.largest_part import removed_by_caps
from shoal.privacy.model import Model, check_enough
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_range, check_whole


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """At least k people in each class, and at most a share alpha of them has the value.

    A person has every value that occurs in their rows of the class, so the shares of different
    values can add up to more than 1.
    Monotone: merging classes only increases their size, and the share in a merged class is a
    weighted mean of the shares in its parts, if no person is in both.

    Parameters:
        alpha: Largest share of a class that may have the value.
        k: Least number of people in a class.
        column: The sensitive column.
        value: The value to protect, as text. By default every value, including the missing one.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> shoal.check(rows, AlphaKAnonymity(0.75, 4, "disease"), quasi="age").levels
    {'alpha-k-anonymity(alpha=0.75, k=4, column=disease)': 0.75}
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
        """Return, for each class, whether it is large enough and the value rare enough."""
        return (classes.sizes >= self.k) & (self._shares(classes) <= self.alpha)

    def level(self, classes: Classes) -> float:
        """Return the alpha that the classes reach, which is the largest share; k is ignored."""
        return float(self._shares(classes).max(initial=0.0))

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove until no value is too frequent.

        All of them if the class is too small.
        """
        column = classes.table[self.column]
        caps = np.full(column.domain, self.alpha)
        if self.value is not None:
            caps[[label != self.value for label in column.labels]] = 1.0
        removed = removed_by_caps(classes, self.column, caps)
        return np.where(classes.sizes < self.k, classes.rows, removed)

    def check(self, table: Table) -> None:
        """Reject a table with fewer than k people, or one that lacks the value."""
        super().check(table)
        check_enough(table, self.k)
        if self.value is not None and self.value not in table[self.column].labels:
            raise InputError(
                f"{self.name}: column {self.column!r} does not have the value; "
                "write it as in the data, or leave it out to protect every value"
            )

    def describe(self) -> str:
        """Return what the model guarantees."""
        protected = "the same value" if self.value is None else f"the value {self.value!r}"
        return (
            f"Anyone who knows a person's quasi-identifiers finds at least {self.k} matching "
            f"people, and a share of at most {self.alpha:g} of them has {protected} of "
            f"{self.column}."
        )

    def _shares(self, classes: Classes) -> Floats:
        """(classes,) share of people who have the value, or the most frequent value."""
        histogram = classes.histogram(self.column)
        starts = histogram.indptr[:-1]
        shares = classes.shares(self.column)
        if self.value is None:
            return np.maximum.reduceat(shares, starts)
        labels = classes.table[self.column].labels
        code = labels.index(self.value) if self.value in labels else -1
        return np.add.reduceat(np.where(histogram.codes == code, shares, 0.0), starts)
