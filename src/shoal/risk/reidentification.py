"""Reidentification: how likely an attacker who knows a person picks her out of a release.

An attacker who knows the quasi-identifiers of a person in the release, as a prosecutor may, looks
at the records that may be hers: the fewer people they belong to, the greater the risk.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.core.classes import Classes
from shoal.core.coverage import Coverage
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.verification import judge
from shoal.risk.candidates import loose_parts
from shoal.risk.people import (
    KindEdges,
    Members,
    by_person,
    chance_of_rows,
    highest_by_person,
    lowest_by_person,
    row_weights,
)
from shoal.support.arrays import Counts, Floats, weighted_sum


@dataclass(frozen=True, eq=False)
class Reidentification:
    """How many people a released record may belong to, and the chance to pick the right one.

    by_class: whether the guarantee rests on classes; if not, on whom each record fits.
    sizes, weights: one pair for each class, for each row, or where people have several rows for
        each person: the people (or households, where they are fewer) who may be it, and how many
        people have as many. A person of several classes counts in the smallest.
    risks: beside each pair, the chance to find such a person.
    fewest: candidates of the person worst off, 0 where nobody is released.
    class_sizes: (classes,) people in each class, empty where not by class.
    """

    by_class: bool
    sizes: Counts
    weights: Counts
    risks: Floats
    fewest: float
    class_sizes: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, release: Release) -> Reidentification:
        """Count them: people published alike, or where classes do not settle it, who fits whom.

        In the latter case nobody is said to have more of them than the model reaches.
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

        The risk of a person is the largest over her classes: the chance m/n that one of the n rows
        there is one of her m, or 1/people, whichever is larger.
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
        """The chance to find the person worst off, 0 where there is none."""
        if not self.fewest:
            return 0.0
        highest = float(self.risks.max(initial=0.0))
        return highest if self.by_class else max(highest, 1 / self.fewest)

    @property
    def average_risk(self) -> float:
        """The chance to find a person, averaged over people, 0 where there are none."""
        return weighted_sum(self.risks, self.weights) / self.people if self.people else 0.0


def _reached(release: Release, coverage: Coverage, rows: Counts) -> float:
    """Return the least k that the models of who may be whom reach, and nobody exceeds."""
    table = release.original.take(rows)
    classes = Classes.of(table, release.classes.ids[rows], origin=release.original)
    reached = float(coverage.released().min(initial=np.iinfo(np.int64).max))
    for part in loose_parts(release):
        if table.unit is None:
            reached = min(reached, part.level_for(coverage))
        else:
            found = judge(classes, part, lambda: coverage)
            reached = min(reached, *found.levels.values())
    return reached


def _picked(coverage: Coverage, table: Table) -> Floats:
    """(rows,) the chance to find the person of a row among the records that the row fits.

    The larger of the share of these records that are hers, and of 1 / people who have any.
    """
    people = fitting_people(coverage, table)
    if table.person is None:
        return np.asarray(1 / people)
    edges = KindEdges(*coverage.fits.edges, len(coverage.fits.copies))
    mine = edges.own_records(coverage.tuples, coverage.boxes, table.person, table.counts)
    every = edges.sum_records(coverage.fits.copies)[coverage.tuples]
    return np.asarray(np.maximum(mine / every, 1 / people))


def fitting_people(coverage: Coverage, table: Table) -> Counts:
    """(rows,) the people who have a released record that each row fits.

    table: the rows of the coverage, all of them released.
    """
    if table.unit is None:
        return coverage.released()
    edges = KindEdges(*coverage.fits.edges, len(coverage.fits.copies))
    if table.person is None:  # households are named, and each record is a person
        return edges.sum_records(coverage.fits.copies)[coverage.tuples]
    return edges.count_people(Members.of(coverage.boxes, table.person))[coverage.tuples]
