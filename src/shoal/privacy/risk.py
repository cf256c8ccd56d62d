"""Bounds on a probability: of re-identification, for everyone or on average, or of presence.

The risk is that to an attacker who knows that a person is in the release (prosecutor), or, by
sampling weights, to one who does not (journalist). δ-presence protects the fact of being in it.

El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for weights Benedetti
& Franconi, "Statistical and technological solutions for controlled data dissemination", 1998.
Nergiz, Atzori & Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import ROUNDING, Model, PopulationModel, ReleaseModel, check_enough
from shoal.support.arrays import Bools, Floats
from shoal.support.options import check_choice, check_range
from shoal.support.proportions import expected_inverse
from shoal.support.wording import counted
from shoal.table.classes import Classes
from shoal.table.members import Members
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.release.verification import PopulationFit


@dataclass(frozen=True)
class Risk(Model):
    """The risk of everyone is at most a maximum.

    By the sample, the risk of a person is 1 / people in the class, or m / n if m of the n rows of
    the class are theirs and that is more. If everyone has one row, this is k-anonymity with
    k = 1 / maximum, rounded up. By weights, it is the individual risk of Benedetti and Franconi:
    the expectation of 1 / people of the population who share the values.

    Monotone: a merged class has more people, and the share m / n of a person in it lies between
    their shares in the parts. By weights it is so if no person is in both parts.

    Parameters:
        maximum: The maximum risk allowed, above 0 and below 1.
        by: "sample", or "weights" for a table with sampling weights.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 5})
    >>> shoal.check(rows, Risk(0.25), quasi="age").levels
    {'risk(maximum=0.25, by=sample)': 0.25}
    """

    name: ClassVar[str] = "risk"
    monotone: ClassVar[bool] = True
    monotone_over_people: ClassVar[bool] = True
    maximum: float
    by: str = "sample"

    def __post_init__(self) -> None:
        check_range("maximum", self.maximum, 0, 1 - ROUNDING, above=True)
        check_choice("by", self.by, ("sample", "weights"))
        object.__setattr__(self, "monotone_over_people", self.by == "sample")

    @property
    def k(self) -> int:
        """Least number of people in a class."""
        return 1 if self.by == "weights" else math.ceil(1 / self.maximum - 1e-9)

    @property
    def equivalent_size(self) -> int:
        """The least class size that is the same condition: k, by the sample only."""
        return 0 if self.by == "weights" else self.k

    def for_search(self, table: Table) -> Model:
        """Return k-anonymity if it is the same condition."""
        return KAnonymity(self.k) if self.by == "sample" and table.unit is None else self

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether no risk in it exceeds the maximum."""
        meets: Bools = self.risks(classes) <= self.maximum + ROUNDING
        return meets

    def level(self, classes: Classes) -> float:
        """Return the highest risk."""
        return float(self.risks(classes).max(initial=0.0))

    def risks(self, classes: Classes) -> Floats:
        """(classes,) the highest risk of a person in each class."""
        if self.by == "weights":
            people = classes.people.astype(np.float64)
            return expected_inverse(people, np.minimum(people / classes.represented, 1.0))
        return np.maximum(1 / classes.sizes, classes.heaviest / classes.rows)

    def check(self, table: Table) -> None:
        """Reject a table that is too small, or has no weights although the model needs them."""
        if self.by == "weights" and table.weights is None:
            raise InputError(
                f"{self} needs sampling weights; give the column that has them the role weight"
            )
        units = [table.people, table.people if table.household is None else table.household.count]
        if min(units) < self.k:
            what = counted(min(units), "person or household", "people or households")
            raise InputError(
                f"{self} needs classes of {self.k} people, but the table has {what}; allow a "
                "higher risk"
            )

    def describe(self) -> str:
        """Return what the model guarantees."""
        if self.by == "weights":
            return (
                "By the sampling weights, anyone who knows everyone's quasi-identifiers, but not "
                "who is in the release, re-identifies a person with an estimated probability of at "
                f"most {self.maximum:g}."
            )
        return (
            "Anyone who knows a person's quasi-identifiers, and that the person is in the release, "
            f"finds them with a probability of at most {self.maximum:g}."
        )


@dataclass(frozen=True)
class AverageRisk(ReleaseModel):
    """The average risk of the released people is at most a maximum.

    The risk of a person is that of `Risk`: 1 / people in the class, or the share of its rows that
    are theirs. If everyone has one row, the average is classes / people. Combine it with
    k-anonymity to bound the risk of each person too.

    Parameters:
        maximum: The maximum average allowed, above 0 and below 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": ["30-39"] * 2 + ["40-49"] * 6})
    >>> shoal.check(rows, AverageRisk(0.25), quasi="age").levels
    {'average-risk(maximum=0.25)': 0.25}
    """

    name: ClassVar[str] = "average-risk"
    maximum: float

    def __post_init__(self) -> None:
        check_range("maximum", self.maximum, 0, 1 - ROUNDING, above=True)

    @property
    def sufficient(self) -> int:
        """A class size that is enough if everyone has one row."""
        return math.ceil(1 / self.maximum - 1e-9)

    def judge_release(
        self, classes: Classes, fit: PopulationFit | None = None
    ) -> tuple[Bools, float]:
        """Return which rows break the model, all or none, and the average risk."""
        average = _average(classes) if len(classes) else 0.0
        return np.full(len(classes.ids), average > self.maximum + ROUNDING), average

    def check(self, table: Table) -> None:
        """Reject a table of one person."""
        check_enough(table, 2)

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows everyone's quasi-identifiers, and who is in the release, is expected "
            f"to find a share of at most {self.maximum:g} of the people. Single people may have a "
            "higher risk."
        )


def _average(classes: Classes) -> float:
    """Return the average risk of the people with a row in some class."""
    person = classes.table.person
    if person is None:
        return float((1 / classes.sizes * classes.people).sum() / classes.people.sum())
    members = Members.of(classes.ids, person, classes.table.counts)
    # of someone in several classes the highest risk counts
    picked = members.rows / classes.rows[members.place]
    chances = np.maximum(picked, 1 / classes.sizes[members.place])
    highest = np.zeros(members.count)
    np.maximum.at(highest, members.person, chances)
    return float(highest[members.present].mean())


@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """The probability that a person of the population is in the release lies between two bounds.

    If n released people have the same cells and N people of the population fit these, the
    probability is n / N for each of the N. If a person fits several classes, the sum over these
    classes must not exceed `high`, and the largest must reach `low`. If the table has households,
    the bounds also hold for the presence of a household.

    Parameters:
        low: Minimum probability, for everyone in the population; 0 allows people who fit no record.
        high: Maximum probability.

    >>> import pyarrow as pa
    >>> import shoal
    >>> everyone = pa.table({"age": range(30, 50)})
    >>> ages = pa.table({"age": [31, 33, 47, 48]})
    >>> release = shoal.anonymize(ages, DeltaPresence(0, 0.5), quasi="age", population=everyone)
    >>> release.verify().levels
    {'delta-presence(low=0, high=0.5)': 0.2}
    """

    name: ClassVar[str] = "delta-presence"
    low: float
    high: float

    def __post_init__(self) -> None:
        check_range("low", self.low, 0, 1)
        check_range("high", self.high, 0, 1, above=True)
        if self.low > self.high:
            raise InputError(f"low must be at most high, not {self.low:g} above {self.high:g}")

    @property
    def sufficient(self) -> int:
        """The size of classes to try first; no size is enough for every population."""
        return 2

    def judge_fit(self, classes: Classes, fit: PopulationFit) -> tuple[Bools, float]:
        """Return which rows reveal too much about someone's presence, and the top probability."""
        failing, highest = np.zeros(len(fit.places), dtype=np.bool_), 0.0
        for each in fit.each:
            odds = each.presence()
            wrong = (odds.highest > self.high + ROUNDING) | (odds.lowest < self.low - ROUNDING)
            failing |= each.rows_of(wrong)
            if self.low > 0 and (wrong & ~odds.present).any():
                failing[:] = True  # someone fits no record, so no row is to blame alone
            highest = max(highest, float(odds.highest.max(initial=0.0)))
        return failing, highest

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows the quasi-identifiers of the population learns that a person is in "
            f"the release with a probability from {self.low:g} to {self.high:g} only."
        )
