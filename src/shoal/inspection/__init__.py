"""A first look at a table: types, suggested roles with reasons, and who is unique.

Suggestions follow from names and counts; only the owner knows what others know about a person.

    describe   each column: its type, role (`roles.py`), codes for missing (`shapes.py`), recipe
               (`recipes.py`) and declared values (`schemas.py`) the table: its people (`roles.py`),
               hints (`hints.py`), and who stands out by single columns, by combinations, and by
               what is published unchanged

The result is plain data, the JSON of `shoal inspect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, unknown
from shoal.identifiers.content import count_identifiers
from shoal.inspection.hints import misread_texts, noticed, padded, recognized
from shoal.inspection.people import find_people
from shoal.inspection.recipes import is_coded, suggest_hierarchies, suggest_recipe
from shoal.inspection.roles import Suggestion, suggest_roles
from shoal.inspection.schemas import suggest_order, suggest_schema, suggest_type, suggest_values
from shoal.inspection.shapes import Codes, find_codes
from shoal.risk import checks, identifying_columns, population_uniqueness
from shoal.risk.singling_out import UNCHANGED, count_alone, singling_out
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.classes import Classes
from shoal.table.column import Column, Kind, Role
from shoal.table.encoding import is_spelled
from shoal.table.people import Unit, count_distinct, group
from shoal.table.table import Table

__all__ = [
    "describe",
    "given_away",
    "near_keys",
    "standing_out",
    "suggest_hierarchies",
    "suggest_recipe",
    "suggest_schema",
    "type_words",
    "unchanged",
]


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
    """Return columns with suggested roles, and how many people combinations of them single out.

    Parameters:
        data: The table as Arrow.
        quasi: The columns to combine; by default those suggested as quasi-identifiers.
        sensitive: Sensitive columns with their kind, order or hierarchy if known; the result
            contains what the data reveals about them if it is published unchanged.
        sampling_fraction: The share of the population in the data, to estimate how many people
            are unique in the population.
        insensitive: Columns to publish unchecked. The result counts the people whom these and the
            sensitive columns, stated or suggested, single out if they are published unchanged.
        person: The columns that identify people; by default the identifier with the most distinct
            values, if it repeats.
        household: The columns that identify households; by default a column with such a name.
        rows_are_people: Whether every row is a different person, even if identifiers repeat.

    Returns:
        The description as plain data.

    Raises:
        InputError: A column does not exist.

    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ann", "Bob", "Cid"], "age": [31, 42, 53]})
    >>> [(column["name"], column["role"]) for column in describe(people)["columns"]]
    [('name', 'identifier'), ('age', 'quasi')]
    """
    for name in (*quasi, *(sensitive or {}), *insensitive, *person, *household):
        if name not in data.column_names:
            raise unknown("no column", name, data.column_names)
    encoded = {}
    for index, name in enumerate(data.column_names):
        report("columns", index, data.num_columns)
        encoded[name] = _encode(name, data.column(name))
    contains = {name: count_identifiers(data.column(name)) for name in data.column_names}
    suggested = suggest_roles(encoded, contains)
    columns = [
        _column(name, data.column(name), encoded[name], suggested[name], contains[name])
        for name in data.column_names
    ]
    people = find_people(data, columns, person, household, rows_are_people=rows_are_people)
    codes = {c["name"]: c.pop("codes") for c in columns}
    unread = {c["name"]: codes[c["name"]] for c in columns if _may_be_misread(c)}
    spaced = padded(data)
    known = {name for hint in spaced for name in hint["columns"]}
    misread = [*spaced, *misread_texts(data, {n: c for n, c in unread.items() if n not in known})]
    for each in columns:  # text that may be numbers or dates has no type yet
        hinted = any(each["name"] in hint["columns"] for hint in misread)
        if each["name"] in unread and (hinted or codes[each["name"]].others):
            each |= {"declare": None, "values": None}
    chosen = list(quasi) or [c["name"] for c in columns if c["role"] == Role.QUASI]
    studied = [column for name in chosen if (column := encoded[name]) is not None]
    return {
        **people.to_dict(),
        "about": people.sentence,
        "columns": columns,
        "hints": [*noticed(encoded, people, codes), *misread, *recognized(columns)],
        "combinations": standing_out(studied, people.unit),
        "near_keys": near_keys(studied, people.unit),
        "singling_out": unchanged(
            encoded, _roles_of(columns, quasi, sensitive or {}, insensitive), people.unit
        ),
        "uniqueness": estimate_uniqueness(studied, sampling_fraction, people.unit),
        "checks": given_away(
            data, [column.name for column in studied], sensitive or {}, people.unit
        ),
    }


def unchanged(
    encoded: Mapping[str, Column | None], roles: Mapping[str, Role], person: Unit | None = None
) -> dict[str, Any] | None:
    """Return how many people the columns published unchanged single out.

    Parameters:
        encoded: The columns by name; None for columns with nested values, which are ignored.
        roles: The role of each column; sensitive and insensitive columns are published unchanged.
        person: The person of each row, None if each row is a different person.

    Returns:
        The figures as plain data, None if no column is published unchanged.

    >>> from shoal import Column, Role
    >>> ill = Column.encode("ill", ["no", "no", "yes"])
    >>> unchanged({"ill": ill}, {"ill": Role.SENSITIVE})["columns"][0]["alone"]
    1
    """
    # columns with nested values cannot be compared, and are left out
    columns = tuple(
        replace(column, role=roles[name])
        for name, column in encoded.items()
        if column is not None and roles.get(name) in UNCHANGED
    )
    if not columns:
        return None
    table = Table(columns, person=person)
    every = np.zeros(len(table), dtype=np.int32)  # quasi-identifiers are not published unchanged
    return singling_out(Classes.of(table, every), with_quasi=False).to_dict()


def _roles_of(
    columns: Sequence[dict[str, Any]],
    quasi: Sequence[str],
    sensitive: Iterable[str],
    insensitive: Sequence[str],
) -> dict[str, Role]:
    """Return the role of each column: the stated one, else the suggested one."""
    roles = {c["name"]: Role(c["role"]) for c in columns if c["role"] in list(Role)}
    roles |= dict.fromkeys(quasi, Role.QUASI) | dict.fromkeys(sensitive, Role.SENSITIVE)
    return roles | dict.fromkeys(insensitive, Role.INSENSITIVE)


def given_away(
    data: Any,
    quasi: Sequence[str],
    sensitive: Mapping[str, Mapping[str, Any]],
    person: Unit | None = None,
) -> list[dict[str, Any]]:
    """Return what rows with equal quasi-identifiers reveal about the sensitive columns.

    Parameters:
        data: The table as Arrow.
        quasi: The quasi-identifiers.
        sensitive: Sensitive columns with their kind, order or hierarchy if known.
        person: The person of each row, None if each row is a different person.

    Returns:
        The checks of `shoal.risk.checks` as plain data.

    >>> import pyarrow as pa
    >>> rows = pa.table({"age": [31, 31, 47, 47], "ill": ["no", "no", "yes", "no"]})
    >>> given_away(rows, ["age"], {"ill": {}})[0]["sentence"]
    '2 of 4 people: all records that may be theirs show one value of ill'
    """
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


def _column(
    name: str,
    cells: Any,
    column: Column | None,
    suggested: Suggestion,
    contains: Mapping[str, int],
) -> dict[str, Any]:
    distinct = 0 if column is None else column.known
    role = suggested.role
    codes = Codes() if role is Role.IDENTIFIER else find_codes(column)
    order = suggest_order(column, role, codes.rows)
    recipe = None
    if column is not None and role is Role.QUASI:
        recipe = suggest_recipe(column, codes.rows)
        if order is not None:
            recipe = {"ordering": 2} if len(order) > 3 else None
    values = order or suggest_values(column, role)
    is_category = bool(values) or (column is not None and is_coded(column))
    kind = "nominal" if column is None else "ordinal" if order else str(column.kind)
    return {
        "name": name,
        "type": type_words(cells.type),
        "arrow_type": str(cells.type),
        "kind": kind,
        "distinct": distinct,
        "missing": cells.null_count,
        "filled": len(cells) - cells.null_count,
        "role": str(role),
        "reason": suggested.reason,
        "hierarchy": recipe,
        "declare": _declared(cells.type, distinct, is_category, kind),
        "values": values,
        "missing_codes": codes.rows,
        "codes": codes,
        "contains": contains,
    }


def _declared(kind: Any, distinct: int, is_category: bool, order: str) -> str | None:
    """Return the type to declare; None for long ordered categories, whose order it would drop."""
    if is_category:
        return "category"
    return suggest_type(kind) if distinct and order != Kind.ORDINAL else None


def _may_be_misread(column: Mapping[str, Any]) -> bool:
    """Return whether a text column may be numbers or dates: it has no bands and no codes."""
    masked = "mask" in (column["hierarchy"] or {})
    return column["type"] == "text" and column["kind"] != Kind.ORDINAL and not masked


def type_words(kind: Any) -> str:
    """Return an Arrow type in plain words.

    Parameters:
        kind: The type.

    Returns:
        Words such as `whole number`, `text` or `date`.

    >>> import pyarrow as pa
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


_MAX_COMBINATIONS = 12
_MAX_COLUMNS_FOR_TRIPLES = 16


def standing_out(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return how many people are unique by single columns, pairs, triples and all columns.

    Only the pairs and triples that single out the most people are listed.

    Parameters:
        columns: The columns to combine.
        person: The person of each row, None if each row is a different person.

    Returns:
        For each set of columns its names, the number and the share of unique people, and the size
        of the smallest group.

    >>> from shoal import Column
    >>> age, sex = Column.encode("age", [31, 31, 47]), Column.encode("sex", ["f", "m", "f"])
    >>> [(found["columns"], found["unique"]) for found in standing_out([age, sex])]
    [(['age'], 1), (['sex'], 1), (['age', 'sex'], 3)]
    """
    uniques: list[dict[str, Any]] = []
    for width in (1, 2, 3):
        subsets = list(combinations(columns, width))
        if width > 1 and (width >= len(columns) or len(subsets) > 500):
            continue
        counts = []
        for index, subset in enumerate(subsets):
            report(f"combinations of {width}", index, len(subsets))
            counts.append(count_uniques(subset, person))
        ranked = sorted(counts, key=lambda each: -each["unique"])
        uniques += ranked if width == 1 else ranked[: _MAX_COMBINATIONS // width]
    if len(columns) > 1:
        uniques.append(count_uniques(columns, person))
    return uniques


def count_uniques(columns: Sequence[Column], person: Unit | None) -> dict[str, Any]:
    """Return how many people have a row with unique values, and the size of the smallest group."""
    groups = group([c.codes for c in columns], [c.domain for c in columns])
    if person is None:
        people, sizes = len(columns[0]), groups.sizes()
    else:
        people, sizes = person.count, count_distinct(groups.ids, len(groups), person)
    unique = count_alone(groups.ids, len(groups), person)
    return {
        "columns": [column.name for column in columns],
        "unique": unique,
        "share": unique / max(people, 1),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def near_keys(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return the smallest sets of columns, up to three, that identify nearly everyone.

    Parameters:
        columns: The columns to combine.
        person: The person of each row, None if each row is a different person.

    Returns:
        The sets as plain data, as `shoal.risk.identifying_columns` finds them.

    >>> from shoal import Column
    >>> age, sex = Column.encode("age", [31, 31, 47]), Column.encode("sex", ["f", "m", "f"])
    >>> near_keys([age, sex])[0]["columns"]
    ['age', 'sex']
    """
    if not columns or not len(columns[0]):
        return []
    # the number of sets grows with the third power of the columns
    limit = _MAX_COLUMNS_FOR_TRIPLES
    most = 3 if len(columns) <= limit else 2 if len(columns) <= 4 * limit else 1
    table = Table(tuple(columns), person=person)
    return [key.to_dict() for key in identifying_columns(table, most=most).keys]


def estimate_uniqueness(
    columns: Sequence[Column], fraction: float | None, person: Unit | None
) -> dict[str, Any] | None:
    """Return an estimate of how many people are unique in the population, None if not requested."""
    if fraction is None or not columns or not len(columns[0]):
        return None
    return population_uniqueness(Table(tuple(columns), person=person), fraction).to_dict()
