"""Average risk: the expected share of people who are re-identified.

A condition on the release as a whole: some people may have a higher risk.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.members import Members
from shoal.core.population_fit import PopulationFit
from shoal.core.table import Table
from shoal.privacy.model import ROUNDING, ReleaseModel, check_enough
from shoal.support.arrays import Bools
from shoal.support.options import check_range


@dataclass(frozen=True)
class AverageRisk(ReleaseModel):
    """The average risk of the released people is at most a maximum.

    The risk of a person is that of `Risk`: 1 / people in the class, or the share of its rows that
    are theirs. If everyone has one row, the average is classes / people. Combine it with
    k-anonymity to bound the risk of each person too.

    Parameters:
        maximum: The highest average allowed, above 0 and below 1.

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
        """A number of people in each class that is enough, if everyone has one row."""
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
    picked = members.rows / classes.rows[members.place]
    chances = np.maximum(picked, 1 / classes.sizes[members.place])
    highest = np.zeros(members.count)
    np.maximum.at(highest, members.person, chances)
    return float(highest[members.present].mean())
