"""How a release was produced, and its size: run, candidate nodes, proof, claims, rows and people.

Models count people and metrics count rows, so every summary of a release needs both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import ceil, inf
from typing import Any, Protocol

from shoal.support.wording import counted
from shoal.table.classes import Classes


@dataclass(frozen=True)
class Run:
    """How a release was produced, in enough detail to repeat it; `Release.run` has it.

    Attributes:
        method: The name of the method.
        options: Its options.
        seed: The random seed, if one was given.
        versions: The version of each library that the release depends on.
        seconds: The duration of each step.
        notes: Remarks of the method.
    """

    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A lattice node that meets the model: its levels, its cost, and its suppressed records."""

    node: Mapping[str, int]
    loss: float
    suppressed: int


@dataclass(frozen=True)
class Proof:
    """Proven quality of a release; `Release.proof` has it if the method knows a bound.

    Attributes:
        loss: Its weighted penalties, summed over all cells.
        bound: Lower bound on the loss of any release of this table that meets the same model and
            suppresses no record.
        among: The form of the releases that the bound is about, such as "with labels of the
            hierarchies"; empty for any form.
        note: What the method says about the proof, for the notes of the run; empty for nothing.

    >>> Proof(loss=10.3, bound=10.0).describe()
    'at most 3 % above the best possible'
    """

    loss: float
    bound: float
    among: str = field(default="", repr=False)
    note: str = field(default="", repr=False, compare=False)

    @property
    def gap(self) -> float:
        """Largest possible reduction of the loss, as a share of it."""
        return max(self.loss - self.bound, 0.0) / self.loss if self.loss else 0.0

    @property
    def excess(self) -> float:
        """Upper limit on how much more is lost than necessary, as a share of the bound."""
        if self.proven:
            return 0.0
        return self.loss / self.bound - 1 if self.bound > 0 else inf

    @property
    def proven(self) -> bool:
        """Whether the loss is optimal, up to rounding."""
        return self.gap < 1e-6

    def describe(self) -> str:
        """Return in words how far the loss is from the best possible; percentages are rounded up.

        Returns:
            The words, without a full stop.
        """
        best = f"the best possible {self.among}".rstrip()
        if self.proven:
            return f"{best}, proven"
        if self.bound <= 0:
            return f"at an unknown distance from {best}"
        percent = 100 * self.excess
        digits = 0 if percent >= 10 else 1 if percent >= 1 else 2
        above = ceil(percent * 10**digits - 1e-6) / 10**digits
        return f"at most {above:.{digits}f} % above {best}".replace(".0 %", " %")

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain data; excess is None if it is unlimited."""
        return {
            "loss": self.loss,
            "bound": self.bound,
            "gap": self.gap,
            "excess": self.excess if self.excess < inf else None,
            "proven": self.proven,
            "statement": self.describe(),
        }


class Promise(Protocol):
    """A claim about the mechanism that drew a release; the released rows cannot show it."""

    def describe(self) -> str:
        """Return the claim in plain words."""

    def arithmetic(self) -> list[str]:
        """Return the derivation of its figures, line by line."""

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data."""


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
