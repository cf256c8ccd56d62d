"""l-diversity: every class shows several sensitive values, none of them too frequent.

Distinct, entropy and recursive: three readings of "well represented", from weak to strong.
Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools, Counts, Floats
from shoal.core.classes import Classes
from shoal.privacy.model import ROUNDING, Model, check_range, check_whole


@dataclass(frozen=True)
class LDiversity(Model):
    """Distinct l-diversity: each class shows at least l values of the column, among l people.

    One person with rows of many values is not diverse.
    Monotone: a merged class shows every value and every person of its parts. A missing value counts
    as a value.
    """

    name: ClassVar[str] = "l-diversity"
    monotone: ClassVar[bool] = True
    monotone_over_people: ClassVar[bool] = True
    l: int  # noqa: E741  the paper's letter
    column: str

    def __post_init__(self) -> None:
        check_whole("l", self.l, 2)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it shows l values of the column among l people."""
        return self._values(classes) >= self.l

    def level(self, classes: Classes) -> float:
        """Return the least number of values, or of people, that a class shows."""
        return float(self._values(classes).min()) if len(classes) else float("inf")

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Every class shows at least {self.l} different values of {self.column}, among "
            f"at least {self.l} people."
        )

    def _values(self, classes: Classes) -> Counts:
        """(classes,) the values of the column, or the people where those are fewer."""
        return np.minimum(classes.distinct(self.column), classes.people)


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """Entropy l-diversity: the values of each class have an entropy of log l or more.

    l equally frequent values reach it exactly; l need not be whole. A person counts once for each
    of her values, and a class has at most the entropy of its people: log of their number.
    Monotone: entropy is concave, so a merged class, whose shares are a weighted mean of its
    parts' if nobody is in both, has at least the lesser entropy. A missing value counts as a value.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    monotone: ClassVar[bool] = True
    l: float  # noqa: E741  the paper's letter
    column: str

    def __post_init__(self) -> None:
        check_range("l", self.l, 1, above=True)

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether its entropy reaches log l."""
        return self._entropies(classes) >= math.log(self.l) - ROUNDING

    def level(self, classes: Classes) -> float:
        """Return the l of the least entropy: so many equally frequent values would have it."""
        return float(np.exp(self._entropies(classes).min())) if len(classes) else float("inf")

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"In every class {self.column} is at least as uncertain as {self.l:g} equally "
            "frequent values."
        )

    def _entropies(self, classes: Classes) -> Floats:
        """(classes,) the entropy of the column, in nats, at most that of the people."""
        shares = classes.distribution(self.column)
        starts = classes.histogram(self.column).indptr[:-1]
        entropies = -np.add.reduceat(shares * np.log(shares), starts)
        if classes.table.person is None:
            return entropies
        return np.minimum(entropies, np.log(classes.people))


@dataclass(frozen=True)
class RecursiveLDiversity(Model):
    """Recursive (c, l)-diversity: r₁ < c · (r_l + … + r_m), with counts r₁ ≥ r₂ ≥ … ≥ r_m.

    In each class the most frequent value does not outweigh the rare ones: even once l − 2 other
    values are ruled out, it is no certainty. A class of fewer than l values, or of fewer than l
    people, fails for every c. r counts people, each once for each of her values.
    Monotone: on merging, r₁ grows to at most the sum of the parts', and so does the sum of the
    l − 1 most frequent values, hence the rest to at least the sum of the parts' rests, if nobody is
    in both. A missing value counts as a value.
    """

    name: ClassVar[str] = "recursive-l-diversity"
    monotone: ClassVar[bool] = True
    c: float
    l: int  # noqa: E741  the paper's letter
    column: str

    def __post_init__(self) -> None:
        check_range("c", self.c, 0, above=True)
        check_whole("l", self.l, 2)

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether its first value weighs less than c times the rest."""
        return self._ratios(classes) * (1 + ROUNDING) < self.c

    def level(self, classes: Classes) -> float:
        """Return the c that this l needs more than; infinite if a class has fewer values."""
        return float(self._ratios(classes).max(initial=0.0))

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"In every class the most frequent value of {self.column} has less than {self.c:g} "
            f"times the people of the values from number {self.l} on, taken together."
        )

    def _ratios(self, classes: Classes) -> Floats:
        """(classes,) the count of the first value over that of the values from the l-th on."""
        histogram = classes.histogram(self.column)
        starts, widths = histogram.indptr[:-1], np.diff(histogram.indptr)
        owners = np.repeat(np.arange(len(classes)), widths)
        counts = histogram.counts[np.lexsort((-histogram.counts, owners))]
        ranks = np.arange(len(counts)) - np.repeat(starts, widths)
        rest = np.add.reduceat(np.where(ranks >= self.l - 1, counts, 0), starts)
        rest[classes.people < self.l] = 0
        ratios = np.full(len(classes), np.inf)
        np.divide(counts[starts], rest, out=ratios, where=rest > 0)
        return ratios
