"""l-diversity: every class has several sensitive values, none of them too frequent.

Distinct, entropy and recursive are three definitions of "well represented", from weak to strong.
A missing value adds no diversity: it does not hide the values of the other people in the class.
Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.privacy.model import ROUNDING, Model, at_least
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.options import check_flag, check_range, check_whole
from shoal.table.classes import Classes


@dataclass(frozen=True)
class LDiversity(Model):
    """Distinct l-diversity: each class has at least l values of the column, among l people.

    One person with many values is not diverse. The l people are people with a value.
    Monotone: a merged class has every value and every person of its parts.

    Parameters:
        l: Minimum number of values, and of people, in a class.
        column: The sensitive column.
        count_missing: Whether a missing value counts as one of the l values.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> shoal.check(rows, LDiversity(2, "disease"), quasi="age").levels
    {'l-diversity(l=2, column=disease)': 2.0}
    """

    name: ClassVar[str] = "l-diversity"
    monotone: ClassVar[bool] = True
    monotone_over_people: ClassVar[bool] = True
    l: int  # noqa: E741  the paper's letter
    column: str
    count_missing: bool = False

    def __post_init__(self) -> None:
        check_whole("l", self.l, 2)
        check_flag("count_missing", self.count_missing)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it has l values of the column among l people."""
        return self._values(classes) >= self.l

    def level(self, classes: Classes) -> float:
        """Return the least number of values, or of people with a value, in a class."""
        return float(self._values(classes).min()) if len(classes) else float("inf")

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return all records: no part of a class has a value that the class lacks."""
        return classes.rows

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Every class has at least {self.l} different values of {self.column}, among "
            f"at least {self.l} people.{_also_missing(self.count_missing)}"
        )

    def _values(self, classes: Classes) -> Counts:
        """(classes,) number of values of the column, or of people with a value if that is lower."""
        readings = _readings(classes, self.column, count_missing=self.count_missing)
        shown = [np.minimum(r.sums((r.counts > 0).astype(np.int64)), r.people) for r in readings]
        fewest: Counts = np.minimum.reduce(shown)
        return fewest


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """Entropy l-diversity: the values of each class have an entropy of log l or more.

    l equally frequent values reach it exactly; l need not be an integer. A person counts once for
    each of their values, and the entropy of a class is capped at the logarithm of its people.
    Monotone: entropy is concave, and the shares of a merged class are a weighted mean of the shares
    of its parts if no person is in both, so it has at least the lower entropy of the two.

    Parameters:
        l: Effective number of values in a class.
        column: The sensitive column.
        count_missing: Whether a missing value counts as a value. By default the entropy must be
            reached both with the missing value as one more value and among the people with a value.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> found = shoal.check(rows, EntropyLDiversity(1.5, "disease"), quasi="age")
    >>> [round(level, 2) for level in found.levels.values()]
    [1.75]
    """

    name: ClassVar[str] = "entropy-l-diversity"
    monotone: ClassVar[bool] = True
    l: float  # noqa: E741  the paper's letter
    column: str
    count_missing: bool = False

    def __post_init__(self) -> None:
        check_range("l", self.l, 1, above=True)
        check_flag("count_missing", self.count_missing)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether its entropy reaches log l."""
        return self._entropies(classes) >= math.log(self.l) - ROUNDING

    def level(self, classes: Classes) -> float:
        """Return exp of the least entropy: this many equally frequent values have that entropy."""
        return float(np.exp(self._entropies(classes).min())) if len(classes) else float("inf")

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove from each class.

        Entropy is concave, so the entropy of n records is at least N / n of the entropy of N of
        them, and n · entropy ≥ N · log l.
        """
        histogram = classes.histogram(self.column)
        entropies = _entropy(_Reading(histogram.counts, classes.people, histogram.indptr[:-1]))
        share = 1 - entropies / (math.log(self.l) - ROUNDING) if self.l > 1 else 0 * entropies
        return at_least(share * classes.rows, classes.rows)

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"In every class {self.column} is at least as uncertain as {self.l:g} equally "
            f"frequent values.{_also_missing(self.count_missing)}"
        )

    def _entropies(self, classes: Classes) -> Floats:
        """(classes,) entropy of the column in nats, capped at the logarithm of the people."""
        readings = _readings(classes, self.column, count_missing=self.count_missing)
        least: Floats = np.minimum.reduce([_entropy(reading) for reading in readings])
        return least


@dataclass(frozen=True)
class RecursiveLDiversity(Model):
    """Recursive (c, l)-diversity: r₁ < c · (r_l + … + r_m), with counts r₁ ≥ r₂ ≥ … ≥ r_m.

    In each class the most frequent value does not dominate the rare ones: it stays uncertain even
    after l − 2 other values are ruled out. A class with fewer than l values, or fewer than l
    people, fails for every c. r counts people, each once for each of their values.
    Monotone: if no person is in both parts, r₁ of the merged class is at most the sum over the
    parts, and so is the count of the l − 1 most frequent values; so the count of the remaining
    values is at least the sum over the parts.

    Parameters:
        c: Factor by which the most frequent value may exceed the sum of the rare ones.
        l: Rank from which values count as rare.
        column: The sensitive column.
        count_missing: Whether a missing value counts as a value. By default the inequality must
            hold both with the missing value as one more value and among the people with a value.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> shoal.check(rows, RecursiveLDiversity(4, 2, "disease"), quasi="age").levels
    {'recursive-l-diversity(c=4, l=2, column=disease)': 3.0}
    """

    name: ClassVar[str] = "recursive-l-diversity"
    monotone: ClassVar[bool] = True
    c: float
    l: int  # noqa: E741  the paper's letter
    column: str
    count_missing: bool = False

    def __post_init__(self) -> None:
        check_range("c", self.c, 0, above=True)
        check_whole("l", self.l, 2)
        check_flag("count_missing", self.count_missing)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether its first value has less than c times the rest."""
        return self._ratios(classes) * (1 + ROUNDING) < self.c

    def level(self, classes: Classes) -> float:
        """Return the value that c must exceed for this l; infinite if a class has fewer values."""
        return float(self._ratios(classes).max(initial=0.0))

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove from each class.

        A part has no more records from the l-th most frequent value on than the class, so none of
        its values may have c times as many as these.
        """
        histogram = classes.histogram(self.column)
        starts, widths = histogram.indptr[:-1], np.diff(histogram.indptr)
        greatest = np.maximum.reduceat(histogram.counts, starts)
        ratios = _ratio(_Reading(histogram.counts, classes.people, starts), self.l)
        cap = self.c * (1 + ROUNDING) * greatest / ratios  # 0 if the ratio is infinite
        excess = np.maximum(histogram.counts - np.repeat(cap, widths), 0.0)
        return at_least(np.add.reduceat(excess, starts), classes.rows)

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"In every class fewer people have the most frequent value of {self.column} than "
            f"{self.c:g} times the people who have its less frequent values, from rank {self.l} on."
            f"{_also_missing(self.count_missing)}"
        )

    def _ratios(self, classes: Classes) -> Floats:
        """(classes,) count of the first value divided by the sum from the l-th value on."""
        readings = _readings(classes, self.column, count_missing=self.count_missing)
        greatest: Floats = np.maximum.reduce([_ratio(reading, self.l) for reading in readings])
        return greatest


@dataclass(frozen=True, eq=False)
class _Reading:
    """The values of a column in each class, with or without its missing values.

    A column's histogram has an entry for each value of each class, class by class:

        counts  2 1 | 3 | 1 1 1      people with the value; 0 if the value does not count
        starts  0     2   3          (classes,) the first entry of each class
        people  3     3   3          (classes,) people who have a value that counts
    """

    counts: Counts
    people: Counts
    starts: Codes | Counts

    def sums(self, entries: Any) -> Any:
        """(classes,) sum of the entries of each class."""
        return np.add.reduceat(entries, self.starts) if len(self.starts) else entries[:0]


def _readings(classes: Classes, name: str, *, count_missing: bool) -> tuple[_Reading, ...]:
    """Return the readings of a column; a class must be diverse in all of them.

    With `count_missing` a missing value counts as a value. Otherwise people without a value are
    left out. That alone would accept a class in which nearly everyone has no value, so the class
    must be diverse with and without them.
    """
    histogram, missing = classes.histogram(name), classes.table[name].missing
    every = _Reading(histogram.counts, classes.people, histogram.indptr[:-1])
    if count_missing or missing is None:
        return (every,)
    counts = np.where(histogram.codes == missing, 0, histogram.counts)
    return (every, _Reading(counts, classes.people_with_value(name), every.starts))


def _entropy(reading: _Reading) -> Floats:
    """(classes,) entropy of the values in nats, capped at the logarithm of the people."""
    totals = np.maximum(reading.sums(reading.counts), 1)
    widths = np.diff(np.append(reading.starts, len(reading.counts)))
    shares = reading.counts / np.repeat(totals, widths)
    logarithms = np.zeros(len(shares))
    np.log(shares, out=logarithms, where=shares > 0)
    entropies = -reading.sums(shares * logarithms)
    least: Floats = np.minimum(entropies, np.log(np.maximum(reading.people, 1)))
    return least


def _ratio(reading: _Reading, rank: int) -> Floats:
    """(classes,) greatest count divided by the sum of the counts from the rank-th greatest on."""
    starts, classes = reading.starts, len(reading.starts)
    widths = np.diff(np.append(starts, len(reading.counts)))
    owners = np.repeat(np.arange(classes), widths)
    # the counts of each class in descending order, so that the first is its greatest
    counts = reading.counts[np.lexsort((-reading.counts, owners))]
    ranks = np.arange(len(counts)) - np.repeat(starts, widths)
    rest = reading.sums(np.where(ranks >= rank - 1, counts, 0))
    rest[reading.people < rank] = 0
    ratios = np.full(classes, np.inf)
    np.divide(counts[starts], rest, out=ratios, where=rest > 0)
    return ratios


def _also_missing(count_missing: bool) -> str:
    return " A missing value counts as a value." if count_missing else ""
