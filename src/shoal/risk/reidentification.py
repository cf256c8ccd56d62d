"""Re-identification: the probability that a prosecutor finds a person in a release.

An attacker who knows the quasi-identifiers of a person in the release considers the records that
could be that person's: the fewer people they belong to, the higher the risk.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.core.classes import Classes
from shoal.core.coverage import Coverage
from shoal.core.members import KindEdges, Members
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.verification import judge
from shoal.risk.candidates import loose_parts
from shoal.risk.people import (
    by_person,
    chance_of_rows,
    highest_by_person,
    lowest_by_person,
    row_weights,
)
from shoal.support.arrays import Counts, Floats, weighted_sum


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
