"""Suggest the columns that identify people and households."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.inspection.concepts import PERSON_NAME, PERSON_NUMBER, means
from shoal.support.wording import counted, folded_name, rows_about
from shoal.table import encoding
from shoal.table.column import Role
from shoal.table.people import Deciding, Unit, deciding_identifier, group, words_per_value

_HOUSEHOLD = r"^(household|family|hh|haushalts?|familien?|hogar|menage)"
_NUMBER_ENDING = r"_?(id|nr|no|num|number|nummer|key)$"
_FULL_NAME = 1.5  # words on average
_MAX_HOUSEHOLD = 10  # people on average
_MIN_HOUSEHOLDS = 16  # for a column not named as a number, which may be a size or a kind


@dataclass(frozen=True, eq=False)
class People:
    """The unit of protection that a schema should declare.

    person, household: the columns to name; empty if each row is one person or none is found.
    unit: the person of each row; None if each row is one person.
    households: their number; None if no column identifies them.
    repeated: an identifier that repeats, if it does not identify people or has missing cells.
    """

    rows: int
    person: tuple[str, ...] = ()
    household: tuple[str, ...] = ()
    unit: Unit | None = None
    households: int | None = None
    repeated: Deciding | None = None

    @property
    def people(self) -> int:
        """Number of people."""
        return self.rows if self.unit is None else self.unit.count

    @property
    def sentence(self) -> str:
        """The number of rows, people and households, with the columns that identify them."""
        counts = rows_about(self.rows, self.people)
        if self.person:
            counts += f" ({', '.join(self.person)})"
        if self.households is not None:
            named = ", ".join(self.household)
            counts += f", {counted(self.households, 'household')} ({named})"
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as plain data."""
        return {
            "records": self.rows,
            "people": self.people,
            "households": self.households,
            "person": list(self.person),
            "household": list(self.household),
            "rows_are_people": self.repeated is not None,
        }


def find_people(
    data: Any,
    columns: Sequence[dict[str, Any]],
    person: Sequence[str] = (),
    household: Sequence[str] = (),
    *,
    rows_are_people: bool = False,
) -> People:
    """Return the stated unit of protection, or else the number of people that repeats.

    Only a column named as a number of people, or with full names, may be the person.

    columns: as described; those that identify people or households become identifiers.
    """
    named = tuple(household) or _named_household(columns)
    identifiers = [
        column["name"]
        for column in columns
        if column["role"] == Role.IDENTIFIER and column["name"] not in named
    ]
    repeated = None
    if not person and not rows_are_people:
        person = _repeated_person(data, identifiers)
        found = None if person else deciding_identifier(data, identifiers)
        repeated = found if found is not None and found.repeats else None
    unit = _unit(data, person) if person else None
    homes = _unit(data, named) if named else None
    if homes is not None and not household and not _groups_people(homes, unit, data.num_rows):
        named, homes = (), None
    for column in columns:
        if column["name"] in (*person, *named):
            what = "person" if column["name"] in person else "household"
            column |= {"role": str(Role.IDENTIFIER), "reason": f"identifies the {what}"}
            column |= {"hierarchy": None, "values": None}
    counts = None if homes is None else homes.count
    return People(data.num_rows, tuple(person), tuple(named), unit, counts, repeated)


def _repeated_person(data: Any, identifiers: Sequence[str]) -> tuple[str, ...]:
    """Return the number of people that repeats, else their names if most of them repeat.

    Two people may have one name, so a few names that repeat mean nothing.
    """
    full = {name for name in identifiers if _are_full(data.column(name))}
    numbers = [n for n in identifiers if means(n, PERSON_NUMBER) and n not in full]
    found = deciding_identifier(data, numbers)
    if found is None:
        names = [n for n in identifiers if means(n, PERSON_NAME, PERSON_NUMBER) and n in full]
        found = deciding_identifier(data, names)
        if found is not None and 2 * found.distinct > found.filled:
            return ()
    if found is None or not found.repeats or found.filled < data.num_rows:
        return ()
    return (found.column,)


def _are_full(names: Any) -> bool:
    """Return whether names have several words: few first names alone are not the people."""
    texts = encoding.combined(names, "")
    return encoding.is_text(texts.type) and words_per_value(texts.drop_null()) >= _FULL_NAME


def _named_household(columns: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the first column with the name of a household or of its number."""
    for column in columns:
        name = folded_name(column["name"])
        if re.search(f"{_HOUSEHOLD}{_NUMBER_ENDING}", name):
            return (column["name"],)
        if re.search(f"{_HOUSEHOLD}$", name) and column["distinct"] >= _MIN_HOUSEHOLDS:
            return (column["name"],)
    return ()


def _unit(data: Any, columns: Sequence[str]) -> Unit:
    """Return the units of some columns; a row without a value is its own unit."""
    encoded, blank = [], np.zeros(data.num_rows, dtype=np.bool_)
    for name in columns:
        cells = encoding.with_missing(data.column(name), name)
        blank |= cells.is_null().to_numpy(zero_copy_only=False)
        encoded.append(encoding.encode(cells, name))
    ids = group([codes for codes, _ in encoded], [len(values) for _, values in encoded]).ids
    # rows without a value are not one person: each gets a number of its own behind the others
    ids = ids.astype(np.int64)
    ids[blank] = ids.max(initial=0) + 1 + np.arange(int(blank.sum()))
    used, numbers = np.unique(ids, return_inverse=True)
    return Unit(tuple(columns), numbers.astype(np.int32), len(used))


def _groups_people(homes: Unit, person: Unit | None, rows: int) -> bool:
    """Return whether every person has one household, with a plausible number of people."""
    people = rows if person is None else person.count
    if person is not None:
        pairs = group([person.ids, homes.ids], [person.count, homes.count])
        if len(pairs) != people:
            return False
    return homes.count < people <= _MAX_HOUSEHOLD * homes.count
