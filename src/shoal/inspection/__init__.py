"""A first look at a table: types, suggested roles with the reason, who stands out.

Suggestions come from names and counts; only the owner knows what others know of a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.classes import Classes
from shoal.core.column import Column, Kind, Role
from shoal.core.grouping import group
from shoal.core.people import Unit, count_distinct
from shoal.core.progress import report
from shoal.core.spelled import is_spelled
from shoal.core.table import Table
from shoal.core.wording import counted
from shoal.errors import InputError, unknown
from shoal.inspection.hints import misread_texts, noticed
from shoal.inspection.people import find_people
from shoal.inspection.recipes import suggest_recipe
from shoal.inspection.roles import suggest_role
from shoal.inspection.schemas import suggest_schema, suggest_type, suggest_values
from shoal.risk import checks, identifying_columns, population_uniqueness
from shoal.risk.singling_out import UNCHANGED, count_alone, singling_out

_MOST_COMBINATIONS = 12
_MANY = 16  # columns of which triples are still looked at
_TYPES = (
    (pa.types.is_boolean, "true/false"),
    (pa.types.is_integer, "whole number"),
    (pa.types.is_floating, "number"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "date and time"),
    (pa.types.is_time, "time"),
    (pa.types.is_duration, "duration"),
    (pa.types.is_nested, "list"),
    (pa.types.is_null, "empty"),
)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def describe(
    data: Any,
    quasi: Sequence[str] = (),
    sensitive: Mapping[str, Mapping[str, Any]] | None = None,
    sampling_fraction: float | None = None,
    *,
    insensitive: Sequence[str] = (),
    person: Sequence[str] = (),
    household: Sequence[str] = (),
    rows_are_people: bool = False,
) -> dict[str, Any]:
    """Return columns with suggested roles, and how far combinations of them single people out.

    quasi: the columns to combine; by default those suggested as quasi-identifying.
    sensitive: columns to guard, with their kind, order or hierarchy where known: what the data
        gives away of them as it stands.
    insensitive: columns to publish unchecked. How far these and the sensitive ones, or else those
        suggested as such, single people out if they are published unchanged.
    sampling_fraction: the share of the population that the data is: how many people would be alone
        in it.
    person, household: the columns that identify people and households; by default the identifier
        with the most distinct values, if it repeats, and a column with the name of a household.
    rows_are_people: every row is a different person, although identifiers repeat.
    """
    for name in (*quasi, *(sensitive or {}), *insensitive, *person, *household):
        if name not in data.column_names:
            raise unknown("no column", name, data.column_names)
    encoded = {}
    for place, name in enumerate(data.column_names):
        report("columns", place, data.num_columns)
        encoded[name] = _encode(name, data.column(name))
    columns = [_column(name, data.column(name), encoded[name]) for name in data.column_names]
    people = find_people(data, columns, person, household, rows_are_people=rows_are_people)
    misread = misread_texts(data)
    for each in columns:  # text that may be numbers or dates has no type yet
        if each["type"] == "text" and any(each["name"] in hint["columns"] for hint in misread):
            each |= {"declare": None, "values": None}
    chosen = list(quasi) or [c["name"] for c in columns if c["role"] == Role.QUASI]
    studied = [column for name in chosen if (column := encoded[name]) is not None]
    return {
        **people.to_dict(),
        "about": people.sentence,
        "columns": columns,
        "hints": [*noticed(encoded, people), *misread],
        "combinations": standing_out(studied, people.unit),
        "near_keys": near_keys(studied, people.unit),
        "singling_out": unchanged(
            encoded, _roles_of(columns, quasi, sensitive or {}, insensitive), people.unit
        ),
        "uniqueness": _uniqueness(studied, sampling_fraction, people.unit),
        "checks": given_away(
            data, [column.name for column in studied], sensitive or {}, people.unit
        ),
    }


def unchanged(
    encoded: Mapping[str, Column | None], roles: Mapping[str, Role], person: Unit | None = None
) -> dict[str, Any] | None:
    """Return how far the columns to be published unchanged single people out, None without any."""
    columns = tuple(
        replace(column, role=roles[name])
        for name, column in encoded.items()
        if column is not None and roles.get(name) in UNCHANGED
    )
    if not columns:
        return None
    table = Table(columns, person=person)
    every = np.zeros(len(table), dtype=np.int32)  # quasi-identifiers are not published as they are
    return singling_out(Classes.of(table, every), with_quasi=False).to_dict()


def _roles_of(
    columns: Sequence[dict[str, Any]],
    quasi: Sequence[str],
    sensitive: Iterable[str],
    insensitive: Sequence[str],
) -> dict[str, Role]:
    """Return the role of each column: the stated one, else the suggested one."""
    roles = {column["name"]: Role(column["role"]) for column in columns}
    roles |= dict.fromkeys(quasi, Role.QUASI) | dict.fromkeys(sensitive, Role.SENSITIVE)
    return roles | dict.fromkeys(insensitive, Role.INSENSITIVE)


def given_away(
    data: Any,
    quasi: Sequence[str],
    sensitive: Mapping[str, Mapping[str, Any]],
    person: Unit | None = None,
) -> list[dict[str, Any]]:
    """Return what rows alike in the quasi-identifiers tell of the sensitive columns."""
    known = [name for name in quasi if name not in sensitive]
    if not known or not sensitive:
        return []
    roles = {name: {"role": Role.QUASI, "kind": Kind.NOMINAL} for name in known}
    guarded = {name: {**spec, "role": Role.SENSITIVE} for name, spec in sensitive.items()}
    table = replace(Table.from_arrow(data, {**roles, **guarded}), person=person)
    return [check.to_dict() for check in checks(Classes.by_quasi(table))]


def _encode(name: str, cells: Any) -> Column | None:
    try:
        return Column.encode(name, cells)
    except InputError:  # nested values: nothing to count
        return None


def _column(name: str, cells: Any, column: Column | None) -> dict[str, Any]:
    distinct = 0 if column is None else column.known
    role, reason = suggest_role(name, cells, distinct)
    recipe = suggest_recipe(column) if column is not None and role is Role.QUASI else None
    values = suggest_values(column, role)
    return {
        "name": name,
        "type": type_words(cells.type),
        "arrow_type": str(cells.type),
        "kind": str(column.kind) if column else "nominal",
        "distinct": distinct,
        "missing": cells.null_count,
        "filled": len(cells) - cells.null_count,
        "role": str(role),
        "reason": reason,
        "hierarchy": recipe,
        "declare": "category" if values else suggest_type(cells.type) if distinct else None,
        "values": values,
    }


def type_words(kind: Any) -> str:
    """Return an Arrow type in plain words.

    >>> type_words(pa.int64()), type_words(pa.decimal128(9, 2))
    ('whole number', 'exact decimal, 2 places')
    """
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return type_words(kind.value_type)
    if is_spelled(kind):
        return "number" if pa.types.is_floating(kind.number) else "exact decimal"
    if any(is_text(kind) for is_text in _TEXTS):
        return "text"
    if pa.types.is_decimal(kind):
        places = counted(kind.scale, "place")
        return f"exact decimal, {places}" if kind.scale > 0 else "whole number"
    return next((words for is_such, words in _TYPES if is_such(kind)), "other")


def standing_out(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return how many people are alone with their values, for single columns up to all.

    Of pairs and triples only those that single out most are listed.
    """
    found: list[dict[str, Any]] = []
    for width in (1, 2, 3):
        subsets = list(combinations(columns, width))
        if width > 1 and (width >= len(columns) or len(subsets) > 500):
            continue
        told = []
        for place, subset in enumerate(subsets):
            report(f"combinations of {width}", place, len(subsets))
            told.append(_uniques(subset, person))
        ranked = sorted(told, key=lambda each: -each["unique"])
        found += ranked if width == 1 else ranked[: _MOST_COMBINATIONS // width]
    if len(columns) > 1:
        found.append(_uniques(columns, person))
    return found


def _uniques(columns: Sequence[Column], person: Unit | None) -> dict[str, Any]:
    """Return how many people have a row whose values nobody else has, and the smallest group."""
    found = group([c.codes for c in columns], [c.domain for c in columns])
    if person is None:
        people, sizes = len(columns[0]), found.sizes()
    else:
        people, sizes = person.count, count_distinct(found.ids, len(found), person)
    unique = count_alone(found.ids, len(found), person)
    return {
        "columns": [column.name for column in columns],
        "unique": unique,
        "share": unique / max(people, 1),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def near_keys(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return the smallest sets of columns, up to three, that identify nearly everyone."""
    if not columns or not len(columns[0]):
        return []
    most = 3 if len(columns) <= _MANY else 2 if len(columns) <= 4 * _MANY else 1
    table = Table(tuple(columns), person=person)
    return [key.to_dict() for key in identifying_columns(table, most=most).keys]


def _uniqueness(
    columns: Sequence[Column], fraction: float | None, person: Unit | None
) -> dict[str, Any] | None:
    if fraction is None or not columns or not len(columns[0]):
        return None
    return population_uniqueness(Table(tuple(columns), person=person), fraction).to_dict()


__all__ = [
    "describe",
    "given_away",
    "near_keys",
    "standing_out",
    "suggest_recipe",
    "suggest_schema",
    "type_words",
    "unchanged",
]
