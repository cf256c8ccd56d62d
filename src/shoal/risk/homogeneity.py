"""Homogeneity: all records that may be a person's show one sensitive value.

An attacker who finds the class knows the value, however many people share it.
Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.risk.candidates import Candidates, Source

NEARLY = 0.9  # a share of one value that leaves little doubt


@dataclass(frozen=True)
class Homogeneity:
    """People whose value of a sensitive column can be read off.

    people: those released; groups: classes, or kinds of people where everybody has an own box.
    certain: people all of whose candidates show one value, those aside who have none;
        certain_groups: groups of such.
    nearly: people with nine tenths of their candidates, or all, showing one value.
    largest: the largest share of one value in a group; usual: in the input table.
    """

    column: str
    people: int
    groups: int
    certain: int
    certain_groups: int
    nearly: int
    largest: float
    usual: float

    @property
    def certain_share(self) -> float:
        """Share of the released people whose value is certain."""
        return self.certain / max(self.people, 1)

    @property
    def nearly_share(self) -> float:
        """Share of the released people whose value is nearly certain."""
        return self.nearly / max(self.people, 1)


def homogeneity(source: Source, column: str) -> Homogeneity:
    """Count the people whose value of the column their class gives away.

    A missing value beside one other value does not hide it: a class counts where l-diversity with
    l = 2 fails. A class of missing values alone shows one value, and so does a class of one record.
    A person with rows in several classes counts where one of them gives a value away.
    """
    found = Candidates.of(source, column)
    return Homogeneity(
        column,
        people=found.total,
        groups=len(found),
        certain=found.count(found.single),
        certain_groups=int(found.single.sum()),
        nearly=found.count(found.single | (found.largest >= NEARLY)),
        largest=float(found.largest.max(initial=0.0)),
        usual=float(found.usual.max(initial=0.0)),
    )
