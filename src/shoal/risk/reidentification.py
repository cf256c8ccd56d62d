"""Re-identification: the probability that a prosecutor finds a person, and from rows to households.

An attacker who knows the quasi-identifiers of a person in the release considers the records that
could be that person's: the fewer people they belong to, the higher the risk.

    Reidentification   the candidates of each row, and the risk of its person
    household_risk     1 − ∏ (1 − risk of a member): the members as if found independently
    by_person, …       figures of rows to figures of people: found if one of their rows is found;
                       they change nothing if each row is a different person

El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for households Templ,
Kowarik & Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro",
Journal of Statistical Software 67(4), 2015.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.release.release import Release
from shoal.release.verification import judge
from shoal.risk.sensitive import loose_parts
from shoal.support.arrays import Bools, Codes, Counts, Floats, weighted_sum
from shoal.table.classes import Classes
from shoal.table.coverage import Coverage
from shoal.table.members import KindEdges, Members
from shoal.table.people import Unit, group, sum_by
from shoal.table.table import Table


@dataclass(frozen=True, eq=False)
class Reidentification:
    """The number of people a released record may belong to, and the risk of being found.

    Parameters:
        by_class: Whether the guarantee is about classes; if not, about the records that people fit.
        sizes, weights: For each class, for each row, or, if people have several rows, for each
            person: the number of candidates (people, or households if they are fewer), and how many
            people have them. A person of several classes counts in the smallest.
        risks: For each entry, the probability of finding such a person.
        fewest: Smallest number of candidates of a person, 0 if no one is released.
        class_sizes: (classes,) the number of people in each class, empty if not by class.
    """

    by_class: bool
    sizes: Counts
    weights: Counts
    risks: Floats
    fewest: float
    class_sizes: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, release: Release) -> Reidentification:
        """Count the people of each class, or the people who fit each record of a freeform release.

        In the latter case no one has more candidates than the level that the model reaches.
        """
        if not loose_parts(release):
            return cls.of_classes(release.classes)
        rows = np.flatnonzero(release.classes.ids >= 0)
        table, coverage = release.original.take(rows), release.coverage.take(rows)
        fitting = coverage.released()
        risks, _ = by_person(_picked(coverage, table), row_weights(table), table.person, np.maximum)
        sizes, weights = by_person(fitting, row_weights(table), table.person, np.minimum)
        return cls(False, sizes, weights, risks, _reached(release, coverage, rows))

    @classmethod
    def of_classes(cls, classes: Classes) -> Reidentification:
        """Count the people of each class.

        The risk of a person is the highest over their classes of m/n and 1/people, if m of the n
        rows of a class are theirs.
        """
        fewest = float(classes.sizes.min()) if len(classes) else 0.0
        person = classes.table.person
        if person is None:
            risks = 1 / classes.people
            return cls(True, classes.sizes, classes.people, risks, fewest, classes.sizes)
        members = Members.of(classes.ids, person, classes.table.counts)
        risks = highest_by_person(chance_of_rows(members, classes), members)
        sizes = lowest_by_person(classes.sizes[members.place], members)
        present = members.present
        ones = np.ones(int(present.sum()), dtype=np.int64)
        return cls(True, sizes[present], ones, risks[present], fewest, classes.sizes)

    def __repr__(self) -> str:
        return f"Reidentification(people={self.people}, fewest={self.fewest:g})"

    @property
    def people(self) -> int:
        """Number of people with a released record."""
        return int(self.weights.sum())

    @property
    def highest_risk(self) -> float:
        """Highest risk of a person, 0 if no one is released."""
        if not self.fewest:
            return 0.0
        highest = float(self.risks.max(initial=0.0))
        return highest if self.by_class else max(highest, 1 / self.fewest)

    @property
    def average_risk(self) -> float:
        """Average risk of a person, 0 if no one is released."""
        return weighted_sum(self.risks, self.weights) / self.people if self.people else 0.0


def _reached(release: Release, coverage: Coverage, rows: Counts) -> float:
    """Return the lowest level that the coverage models reach, which bounds all candidates."""
    table = release.original.take(rows)
    classes = Classes.of(table, release.classes.ids[rows], origin=release.original)
    reached = float(coverage.released().min(initial=np.iinfo(np.int64).max))
    for part in loose_parts(release):
        if table.unit is None:
            reached = min(reached, part.level_for(coverage))
        else:
            judged = judge(classes, part, lambda: coverage)
            reached = min(reached, *judged.levels.values())
    return reached


def _picked(coverage: Coverage, table: Table) -> Floats:
    """(rows,) the probability of finding the person of a row among the records that the row fits.

    The larger of the share of these records that are theirs, and 1 / people who have any of them.
    """
    people = fitting_people(coverage, table)
    if table.person is None:
        return np.asarray(1 / people)
    edges = KindEdges(*coverage.fits.edges, len(coverage.fits.copies))
    mine = edges.own_records(coverage.tuples, coverage.boxes, table.person, table.counts)
    every = edges.sum_records(coverage.fits.copies)[coverage.tuples]
    return np.asarray(np.maximum(mine / every, 1 / people))


def fitting_people(coverage: Coverage, table: Table) -> Counts:
    """(rows,) the number of people with a released record that each row fits.

    Parameters:
        coverage: The coverage of the released rows.
        table: These rows of the original.
    """
    if table.unit is None:
        return coverage.released()
    edges = KindEdges(*coverage.fits.edges, len(coverage.fits.copies))
    if table.person is None:  # households are declared, and each record is a person
        return edges.sum_records(coverage.fits.copies)[coverage.tuples]
    return edges.count_people(Members.of(coverage.boxes, table.person))[coverage.tuples]


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
    # one chance for each member: a row, the copies of a weighted row, or all rows of a person
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


Numbers = TypeVar("Numbers", Counts, Floats)


def by_person(
    figures: Numbers, weights: Counts, person: Unit | None, choose: np.ufunc
) -> tuple[Numbers, Counts]:
    """Return the largest or smallest figure of each person's rows.

    Parameters:
        figures: (rows,) one figure for each row.
        weights: (rows,) people behind each row, if each record is a different person.
        person: The person of each row, None if each record is a different person.
        choose: `np.maximum` or `np.minimum`.

    Returns:
        One figure for each person and how many people it stands for; without `person`, the
        arguments.
    """
    if person is None:
        return figures, weights
    order = np.argsort(person.ids, kind="stable")
    starts = np.searchsorted(person.ids[order], np.arange(person.count))
    if not len(order):
        return figures, weights
    chosen = choose.reduceat(figures[order], starts)
    return chosen, np.ones(person.count, dtype=np.int64)


def row_weights(table: Table) -> Counts:
    """(rows,) the number of records behind each row."""
    return np.ones(len(table), dtype=np.int64) if table.counts is None else table.counts


def chance_of_rows(members: Members, classes: Classes) -> Floats:
    """(pairs,) the probability of finding a person in a class that is known to contain them.

    The larger of two probabilities: an attacker who picks one of the n rows of the class finds one
    of the m rows of the person with probability m/n; an attacker who names one of the people in the
    class is right with probability 1/people.
    """
    picked = members.rows / classes.rows[members.place]
    return np.maximum(picked, 1 / classes.people[members.place])


def highest_by_person(figures: Floats, members: Members) -> Floats:
    """(people,) the largest of each person's figures (pairs,), 0 for people without any."""
    highest = np.zeros(members.count)
    np.maximum.at(highest, members.person, figures)
    return highest


def lowest_by_person(figures: Counts, members: Members) -> Counts:
    """(people,) the smallest of each person's figures (pairs,), 0 for people without any."""
    lowest = np.full(members.count, np.iinfo(np.int64).max)
    np.minimum.at(lowest, members.person, figures)
    return np.where(members.present, lowest, 0)


def at_least_once(chances: NDArray[np.float64], owner: Codes, owners: int) -> Floats:
    """(owners,) the probability that at least one of an owner's independent events happens.

    Parameters:
        chances: (events,) the probability of each event.
        owner: (events,) the owner of each event.
        owners: Number of owners.
    """
    with np.errstate(divide="ignore"):  # a certain event: log 0
        missed = np.bincount(owner, np.log1p(-chances.clip(0.0, 1.0)), minlength=owners)
    return np.asarray(-np.expm1(missed))
