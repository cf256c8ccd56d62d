"""Homogeneity: all records that may be a person's have the same sensitive value.

An attacker who finds the class knows the value, however many people share it.
Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.risk.candidates import Candidates, Source

NEARLY = 0.9  # share of one value that makes it nearly certain


@dataclass(frozen=True)
class Homogeneity:
    """Result of `homogeneity`: people whose value of a column is certain, or nearly so.

    Attributes:
        column: The sensitive column.
        people: Released people.
        groups: Number of classes, or of kinds of people if each record is generalized on its own.
        certain: People whose candidates all have one value, not counting missing values.
        certain_groups: Groups of such people.
        nearly: People with at least 90 % of their candidates sharing one value.
        largest: Largest share of one value in a group.
        usual: Largest share of one value in the original table.
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
    """Count the people whose class reveals their value of a sensitive column.

    A missing value next to one other value does not hide it: a class counts if l-diversity with
    l = 2 fails. A class of only missing values has one value, and so does a class of one record. A
    person with rows in several classes counts if one of them reveals a value.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The number of people and classes, and the largest shares of one value.

    Raises:
        UnknownColumn: The table has no such column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> homogeneity(release, "ill").certain
    2
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
