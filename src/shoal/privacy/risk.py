"""Maximum risk: no one in a class is re-identified with a higher probability.

The risk to an attacker who knows that a person is in the release (prosecutor), or, by sampling
weights, to one who does not (journalist).
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for weights Benedetti
& Franconi, "Statistical and technological solutions for controlled data dissemination", 1998.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import ROUNDING, Model
from shoal.support.arrays import Bools, Floats
from shoal.support.negative_binomial import expected_inverse
from shoal.support.options import check_choice, check_range
from shoal.support.wording import counted


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
        maximum: The highest risk allowed, above 0 and below 1.
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
        kept: Bools = self.risks(classes) <= self.maximum + ROUNDING
        return kept

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
