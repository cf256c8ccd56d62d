"""Bounds on how frequent a sensitive value may be in a class, alone or compared with the table.

    (α, k)-anonymity  share ≤ α, for one value or all, and k people
    β-likeness        share at most 1 + β times the table's; decreases are free
    δ-disclosure      share within a factor e^δ of the table's, in both directions; strict, since
                      every class must contain every value of the table

Wong, Li, Fu & Wang, "(α, k)-Anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", KDD 2006.
Cao & Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012.
Brickell & Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
publishing", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.privacy.model import ROUNDING, Model, check_enough, removed_by_caps
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_flag, check_range, check_whole
from shoal.table.classes import Classes
from shoal.table.table import Table


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """At least k people in each class, and at most a share alpha of them has the value.

    A person has every value that occurs in their rows of the class, so the shares of different
    values can add up to more than 1.
    Monotone: merging classes only increases their size, and the share in a merged class is a
    weighted mean of the shares in its parts, if no person is in both.

    Parameters:
        alpha: Maximum share of a class that may have the value.
        k: Minimum number of people in a class.
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


@dataclass(frozen=True)
class BetaLikeness(Model):
    """In each class (q − p) / p ≤ beta for every value: q is its share there, p in the input.

    A share counts the people who have the value in at least one of their rows. The reference is the
    input table, including suppressed rows. A missing value counts as a value.
    Monotone: q of a merged class is a weighted mean of the q of its parts, and p and the bound do
    not change, if no person is in both.

    Parameters:
        beta: Maximum relative increase in frequency.
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
        # a value may have a share of at most p · (1 + gain)
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
