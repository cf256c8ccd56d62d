"""Size of a release, counted in rows and in people.

Models count people and metrics count rows, so every summary of a release needs both.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.core.classes import Classes
from shoal.support.wording import counted


@dataclass(frozen=True)
class Tally:
    """Numbers of rows and people of a release.

    records, people, households: in the original; households is None if it has none.
    released, released_people: in the release.
    classes: number of equivalence classes.
    smallest_class: people in the smallest class, or households if the table has them and they are
        fewer.
    smallest_class_rows: rows of the class with the fewest rows.
    average_class_people, average_class_rows: the mean over classes; a person counts in each class
        that has a row of theirs.
    """

    records: int
    people: int
    households: int | None
    released: int
    released_people: int
    classes: int
    smallest_class: int
    smallest_class_rows: int
    average_class_people: float
    average_class_rows: float

    @classmethod
    def of(cls, classes: Classes) -> Tally:
        """Count the classes of a release, whose table is the original."""
        table = classes.table
        some = len(classes) > 0
        return cls(
            records=table.records,
            people=table.people,
            households=None if table.household is None else table.household.count,
            released=table.records - classes.suppressed,
            released_people=classes.released_people,
            classes=len(classes),
            smallest_class=int(classes.sizes.min()) if some else 0,
            smallest_class_rows=int(classes.rows.min()) if some else 0,
            average_class_people=float(classes.people.mean()) if some else 0.0,
            average_class_rows=float(classes.rows.mean()) if some else 0.0,
        )

    @property
    def suppressed(self) -> int:
        """Rows that are not released."""
        return self.records - self.released

    @property
    def suppressed_people(self) -> int:
        """People without a single released row."""
        return self.people - self.released_people

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        counts = asdict(self)
        counts |= {"suppressed": self.suppressed, "suppressed_people": self.suppressed_people}
        return counts


def released_of(tally: dict[str, Any]) -> str:
    """Return as a phrase how much of the original is released.

    >>> released_of({"released": 90, "records": 100, "released_people": 19, "people": 20})
    '90 of 100 rows about 19 of 20 people'
    >>> released_of({"released": 90, "records": 100, "released_people": 90, "people": 100})
    '90 of 100 records'
    """
    if tally["people"] == tally["records"]:
        return f"{tally['released']:,} of {counted(tally['records'], 'record')}"
    if tally["released_people"] is None:  # the persons of the released rows are not known
        return f"{tally['released']:,} of {counted(tally['records'], 'row')}"
    people = counted(tally["people"], "person", "people")
    return (
        f"{tally['released']:,} of {counted(tally['records'], 'row')} about "
        f"{tally['released_people']:,} of {people}"
    )
