"""Which person each row of each table belongs to, followed through the foreign keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.table import Table
from shoal.errors import InputError
from shoal.identifiers.plain_text import distinct_texts
from shoal.projects.project import Project, ProjectTable
from shoal.support.arrays import Bools, Codes
from shoal.support.wording import counted

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
            "people, whose rows would be linked; leave one of the keys out"
        )
