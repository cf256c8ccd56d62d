"""What each column of a project becomes, for rows in memory and on disk alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from shoal.core.column import Role
from shoal.errors import InputError
from shoal.identifiers.drop import Drop
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement
from shoal.projects.project import Project, key_replacement

UNCHANGED = "released unchanged"


class How(Enum):
    """The form in which a column is published."""

    LEFT_OUT = "not at all"
    UNCHANGED = "as it is"
    KEY = "its key, replaced"
    FOREIGN = "the key of another table"
    REPLACED = "an identifier, replaced"
    PERSON = "as the person's own attribute"
    COVER = "what all rows of a class of people have"


@dataclass(frozen=True)
class Treatment:
    """What a column becomes.

    Attributes:
        how: The form.
        words: The same in words, "" if the replacement states it.
        kind: How it is replaced, None for keys that stay.
        to: The table that a foreign key refers to.
    """

    how: How
    words: str = ""
    kind: Any = None
    to: str = ""


@dataclass(frozen=True, eq=False)
class Published:
    """One table as it is published.

    Attributes:
        treatments: How each column is published, in words; columns that are left out too.
        columns: The published columns; `quasi` and `sensitive`: those with this role.
        rows: Number of published rows.
        joined: For each foreign key, the published rows whose key joins.
        batches: Returns the rows as Arrow tables, of which there is at least one.
    """

    treatments: Mapping[str, str]
    columns: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    rows: int
    joined: Mapping[str, int]
    batches: Callable[[], Iterator[Any]]


def is_about_people(project: Project, name: str) -> bool:
    """Return whether the rows of a table belong to people."""
    return name == project.person or bool(project.people_of(name))


def treatment_of(
    project: Project, name: str, column: str, role: Role, repeats: Callable[[], bool]
) -> Treatment:
    """Return what a column becomes.

    repeats: returns whether the column repeats a quasi-identifier of the table of people.
    """
    spec = project.tables[name]
    if column == spec.key:
        return key_treatment(project, name)
    if column in spec.foreign:
        to = spec.foreign[column]
        parent = key_treatment(project, to)
        return Treatment(How.FOREIGN, parent.words, parent.kind, to)
    if role is Role.IDENTIFIER:
        return _identifier(project, name, column)
    if role is not Role.QUASI:
        return Treatment(How.UNCHANGED, UNCHANGED)
    if name == project.person:
        return Treatment(How.PERSON, "generalized")
    if not is_about_people(project, name):
        raise InputError(
            f"table {name!r}: column {column!r} is quasi-identifying, but the table is not about "
            "people; make it insensitive, or add a foreign key"
        )
    if repeats():
        return Treatment(How.PERSON, "generalized as in the table of people")
    return Treatment(How.COVER, "generalized to what all rows of a group hold")


def key_treatment(project: Project, name: str) -> Treatment:
    """Return what the key of a table becomes."""
    kind = key_replacement(project, name)
    if kind is None:
        return Treatment(How.UNCHANGED, UNCHANGED)
    if isinstance(kind, Drop):
        if any(name in table.foreign.values() for table in project.tables.values()):
            raise InputError(
                f"table {name!r}: other tables refer to its key, so it cannot be left out"
            )
        return Treatment(How.LEFT_OUT, "left out: it identifies a row")
    if isinstance(kind, Coarsening) or not kind.links_rows:
        raise InputError(f"table {name!r}: {kind.name} does not keep keys apart; use pseudonym")
    return Treatment(How.KEY, kind=kind)


def _identifier(project: Project, name: str, column: str) -> Treatment:
    stated = project.tables[name].schema.columns[column].get("replace")
    if stated is None:
        return Treatment(How.LEFT_OUT, "left out: it names a person")
    kind = as_replacement(stated, column)
    if isinstance(kind, Coarsening):
        raise InputError(
            f"table {name!r}: column {column!r}: {kind.name} is for a single table; make the "
            "column quasi-identifying, with a hierarchy"
        )
    if isinstance(kind, Drop):
        return Treatment(How.LEFT_OUT, "left out")
    return Treatment(How.REPLACED, kind=kind)


def refuse_nothing(name: str, columns: Mapping[str, Any]) -> None:
    """Reject a table of which no column is published."""
    if not columns:
        raise InputError(f"table {name!r}: no column is published; leave the table out")
