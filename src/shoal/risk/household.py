"""Household risk: the probability that at least one member of a household is found.

1 − ∏ (1 − risk of a member), as if members were found independently of each other.
Templ, Kowarik & Meindl, "Statistical disclosure control for micro-data using the R package
sdcMicro", Journal of Statistical Software 67(4), 2015.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.grouping import group, sum_by
from shoal.core.table import Table
from shoal.risk.people import at_least_once
from shoal.support.arrays import Bools, Counts, Floats


@dataclass(frozen=True)
class HouseholdRisk:
    """The risk of households, from `assess` and `record_risk`.

    Attributes:
        households: Households with a released member.
        k: Smallest number of households in a class, 0 if none is released.
        expected: Expected number of households found.
        highest: Highest risk of a household.
        people: Expected number of people in the households found, as sdcMicro counts them.
    """

    households: int
    k: int
    expected: float
    highest: float
    people: float = 0.0

    @property
    def average(self) -> float:
        """Average risk of a household, 0 if none is released."""
        return self.expected / self.households if self.households else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {**asdict(self), "average": self.average}


def household_risk(table: Table, risks: Floats, classes: Classes) -> HouseholdRisk | None:
    """Return the risk of households from the risks of their members.

    A person of several households counts as a member of each.

    Parameters:
        table: The original table.
        risks: (rows,) the risk of each row's person; rows that are not released are ignored.
        classes: The classes of the release.

    Returns:
        The risk, None if the table declares no households.
    """
    if table.household is None:
        return None
    chances = household_chances(table, risks, classes.ids >= 0)
    assert classes.households is not None
    return HouseholdRisk(
        households=len(chances),
        k=int(classes.households.min()) if len(classes) else 0,
        expected=float(chances.sum()),
        highest=float(chances.max(initial=0.0)),
        people=float((chances * _members(table, classes.ids >= 0)).sum()),
    )


def _members(table: Table, released: Bools) -> Counts:
    """(households with a released row,) the number of people with a released row in each."""
    household, person = table.household, table.person
    assert household is not None
    rows = np.flatnonzero(released)
    ids = household.ids[rows]
    if person is None:
        people = sum_by(ids, household.count, None if table.counts is None else table.counts[rows])
    elif len(rows):
        once = group([ids, person.ids[rows]], [household.count, person.count]).first
        people = np.bincount(ids[once], minlength=household.count)
    else:
        return np.zeros(0, dtype=np.int64)
    return people[np.unique(ids)]


def household_chances(table: Table, risks: Floats, released: Bools) -> Floats:
    """(households with a released row,) the probability that a member is found.

    Parameters:
        table: The original table, which declares households.
        risks: (rows,) the risk of each row's person.
        released: (rows,) whether the row is released.
    """
    household, person = table.household, table.person
    assert household is not None
    rows = np.flatnonzero(released)
    if not len(rows):
        return np.zeros(0)
    chances = risks[rows]
    if person is None:  # all records behind a row of a weighted table are people
        if table.counts is not None:
            chances = at_least_once(
                np.repeat(chances, table.counts[rows]),
                np.repeat(np.arange(len(rows)), table.counts[rows]),
                len(rows),
            )
        members = rows
    else:
        ids = [household.ids[rows], person.ids[rows]]
        once = group(ids, [household.count, person.count]).first
        chances, members = chances[once], rows[once]
    by_household = at_least_once(chances, household.ids[members], household.count)
    return by_household[np.unique(household.ids[rows])]
