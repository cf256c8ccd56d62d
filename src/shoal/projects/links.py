"""Which person each row belongs to, and what each column of a project becomes.

Foreign keys lead from any table, over one or more others, to the table of people:

    readings ──visit──→ visits ──patient──→ patients

`treatment_of` decides how a column is published, for rows in memory and on disk alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.replacement import Coarsening, Drop
from shoal.identifiers.replacements import as_replacement
from shoal.projects.project import Project, ProjectTable, key_replacement
from shoal.support.arrays import Bools, Codes
from shoal.support.wording import counted
from shoal.table.column import Role
from shoal.table.table import Table

NOBODY = -1


@dataclass(frozen=True, eq=False)
class Linked:
    """A table whose rows are linked to people.

    Attributes:
        table: The table.
        keys: (rows,) the keys as text, None if the table has no key.
        parents: For each foreign key, (rows,) the row that it refers to, −1 for none.
        people: (rows,) the row of the person in the table of people, −1 for nobody; None if the
            table is not about people.
    """

    table: Table
    keys: Any
    parents: Mapping[str, Codes]
    people: Codes | None


def link_table(
    project: Project, spec: ProjectTable, table: Table, done: Mapping[str, Linked]
) -> Linked:
    """Link the rows of a table to people.

    done: the tables that it refers to, already linked.
    """
    keys = None if spec.key is None else _keys(spec, table)
    parents = {
        column: _index(as_texts(table[column].to_arrow(), column), done[to].keys)
        for column, to in spec.foreign.items()
    }
    if spec.name == project.person:
        return Linked(table, keys, parents, np.arange(len(table), dtype=np.int32))
    people: Codes | None = None
    for column in project.people_of(spec.name):
        owners = done[spec.foreign[column]].people
        assert owners is not None
        found = follow(parents[column], owners)
        if people is not None:
            _check_one_person(spec, people, found)
        # several ways to a person must agree; a missing key leaves the decision to the others
        people = found if people is None else np.where(people >= 0, people, found)
    return Linked(table, keys, parents, people)


def follow(parents: Codes, values: Codes) -> Codes:
    """(rows,) the value of the row that each row refers to, −1 for none."""
    found = np.full(len(parents), NOBODY, dtype=np.int32)
    found[parents >= 0] = values[parents[parents >= 0]]
    return found


def as_texts(cells: Any, column: str) -> Any:
    """(rows,) the cells of an identifier as text."""
    indices, texts = distinct_texts(cells, column)
    return texts.cast(pa.large_string()).take(indices)


def _keys(spec: ProjectTable, table: Table) -> Any:
    """(rows,) the keys of a table as text; missing and repeated keys are errors."""
    assert spec.key is not None
    keys = as_texts(table[spec.key].to_arrow(), spec.key)
    refuse_keys(spec, keys.null_count, len(keys) - keys.null_count - len(keys.drop_null().unique()))
    return keys


def refuse_keys(spec: ProjectTable, missing: int, repeated: int) -> None:
    """Reject missing and repeated keys, given the numbers of such rows."""
    if missing:
        rows = counted(missing, "row has", "rows have")
        raise InputError(f"table {spec.name!r}: {rows} no key in {spec.key!r}")
    if repeated:
        raise InputError(
            f"table {spec.name!r}: key {spec.key!r} repeats in {counted(repeated, 'row')}"
        )


def _index(foreign: Any, keys: Any) -> Codes:
    """(rows,) the row of the key that each foreign key refers to, −1 for none."""
    found = pc.index_in(foreign, value_set=keys, skip_nulls=True).fill_null(NOBODY)
    return np.asarray(found, dtype=np.int32)


def _check_one_person(spec: ProjectTable, one: Codes, other: Codes) -> None:
    both: Bools = (one >= 0) & (other >= 0) & (one != other)
    refuse_two_people(spec, int(both.sum()))


def refuse_two_people(spec: ProjectTable, rows: int) -> None:
    """Reject rows that belong to two people, given their number."""
    if rows:
        raise InputError(
            f"table {spec.name!r}: in {counted(rows, 'row')} the foreign keys refer to different "
            "people, whose rows would be linked; remove one of the keys"
        )


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
            f"table {name!r}: column {column!r}: {kind.name} applies only to a single table; give "
            "the column the role quasi and a hierarchy"
        )
    if isinstance(kind, Drop):
        return Treatment(How.LEFT_OUT, "left out")
    return Treatment(How.REPLACED, kind=kind)


def refuse_nothing(name: str, columns: Mapping[str, Any]) -> None:
    """Reject a table of which no column is published."""
    if not columns:
        raise InputError(f"table {name!r}: no column is published; leave the table out")
