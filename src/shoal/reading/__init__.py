"""From a file or a frame to a table with roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.core.column import Role
from shoal.core.frames import from_frame
from shoal.core.hierarchy import Hierarchy
from shoal.core.native import origin_of
from shoal.core.roles import UnassignedColumns, as_names, unassigned_message, warn_unassigned
from shoal.core.specs import without_missing
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.reading.checks import as_declared, check_dates, check_kinds, is_declared
from shoal.reading.files import Format, read_arrow
from shoal.reading.formats import guesses_of
from shoal.reading.notations import PLAIN, Notation
from shoal.reading.released import Unclaimed, released
from shoal.reading.schema import Schema, check_spec


def read(
    source: Any,
    schema: str | Path | Mapping[str, Any] | Schema | None = None,
    *,
    roles: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    rows_are_people: bool = False,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    decimal: str | None = None,
    dates: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> Table:
    """Read a table from a file, a database or a frame (pandas, polars, pyarrow).

    Files are CSV, Parquet and JSON lines; with the extras `excel` and `survey` also spreadsheets
    and files of Stata, SPSS and SAS, whose value labels become ordered categories. With the extra
    `sql` the source may be `postgresql://host/database`.

    schema: a YAML file, or the same as a mapping.
    roles: `{column: role}`, or a mapping with role, type, values and other options of a column;
        they win over the schema's. A column that nobody gives a role is not published: one warning
        names such columns.
    hierarchies: `{column: CSV path, Hierarchy or recipe}`, such as `{"age": {"intervals": [5]}}`.
    person: the columns that identify the person behind a row; they are never published, and every
        guarantee counts these people instead of rows. They win over the schema's.
    household: the same for households; k then counts households as well.
    rows_are_people: state that every row is a different person, though identifiers repeat.
    delimiter, quote, encoding: of a CSV file; found out where not stated.
    missing: texts that mean a missing value, such as `["?", "NA"]`, besides empty fields.
    decimal: the decimal sign of numbers, `","` or `"."`; `"."` where not stated.
    dates: how dates are written, such as `"DD.MM.YYYY"`; like 2024-03-09 where not stated.
    header: whether the first line of a CSV file holds the column names. Without one, `False`, the
        columns are column_1, column_2, …; a first line that looks like data is refused where it is
        not stated.
    sheet: the sheet of a spreadsheet; needed where it has several.
    query: what to ask a database, such as `"SELECT * FROM patients"`.

    A frame goes by its rows, not by its index; the options of files do not go with it.
    """
    known = _schema(schema)
    specs = _merged(known, roles)
    units: dict[str, Any] = {
        "person": as_names(person) or (() if rows_are_people else known.person),
        "household": as_names(household) or known.household,
        "rows_are_people": rows_are_people,
    }
    if rows_are_people and as_names(person):
        raise InputError(
            "a person column and rows that are people contradict each other; state one of them"
        )
    trees = {name: _hierarchy(tree) for name, tree in (hierarchies or {}).items()}
    told: dict[str, Any]
    told = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "missing": missing}
    told |= {"decimal": decimal, "dates": dates, "header": header, "sheet": sheet, "query": query}
    stated: dict[str, Any] = {option: value for option, value in told.items() if value is not None}
    if isinstance(source, (str, Path)):
        missing_in = {n: spec["missing"] for n, spec in specs.items() if "missing" in spec}
        form = Format(**{**known.file, **stated}, missing_in=missing_in)
        text = {*_kept_as_text(specs), *units["person"], *units["household"]}
        declared = all("type" in spec or spec["role"] == Role.IDENTIFIER for spec in specs.values())
        expected = {*specs, *units["person"], *units["household"], *trees}
        data = read_arrow(Path(source), form, text, may_be_empty=declared, expected=expected)
        table = _table(data, specs, trees, units, Path(source), form.notation)
    else:
        if stated:
            raise InputError(f"{', '.join(stated)}: for files only; change the frame itself")
        table = _table(from_frame(source), specs, trees, units)
        table = origin_of(source, table)
    warn_unassigned(table.unassigned, stacklevel=2)
    return table


def _table(
    data: Any,
    specs: Mapping[str, Mapping[str, Any]],
    trees: Mapping[str, Any],
    units: Mapping[str, Any],
    path: Path | None = None,
    notation: Notation = PLAIN,
) -> Table:
    """Make the table; what is wrong with it is said of the file."""
    if path is not None and not set(specs) & set(data.column_names):
        # its first line may be a person's: it is not shown
        raise InputError(
            f"{path}: has none of the columns {', '.join(specs)}; {_advice(specs, data)}"
        )
    try:
        if not any(str(spec.get("type")).startswith("date") for spec in specs.values()):
            check_dates(data, notation.dates)  # a declared date has a check of its own
        data = without_missing(data, specs)
        check_kinds(data, specs)
        declared = as_declared(data, specs, notation)
        table = Table.from_arrow(declared, specs, trees, **units)
        return replace(table, guessed=tuple(guesses_of(data)))
    except InputError as error:
        if path is not None:
            error.args = (f"{path}: {error}", *error.args[1:])
        raise


def _advice(wanted: Iterable[str], data: Any) -> str:
    found = {name.strip().casefold() for name in data.column_names}
    if found & {name.casefold() for name in wanted}:
        return (
            "some are there with other capitals or spaces; write names as the file does, in a "
            "schema and in quotes where they begin or end with a space"
        )
    return (
        "does it begin with a line of names, and is the delimiter right? `shoal inspect` shows "
        "what it has"
    )


def _schema(schema: Any) -> Schema:
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
    return Schema.of(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def _merged(schema: Schema, roles: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    if not isinstance(roles, Mapping | None):
        raise InputError("roles must be a mapping such as {column: 'quasi'}")
    merged = {name: dict(spec) for name, spec in schema.columns.items()}
    for name, told in (roles or {}).items():
        spec = check_spec("roles: ", str(name), told)
        merged.setdefault(str(name), {}).update(spec)
    if not merged:
        raise InputError(
            "no column has a role; pass a schema, or roles={column: "
            "'quasi' | 'sensitive' | 'identifier' | 'insensitive'}"
        )
    for name, spec in merged.items():
        if "role" not in spec:
            source = schema.source if name in schema.columns else "roles"
            raise InputError(f"{source}: column {name!r}: no role; it is one of {', '.join(Role)}")
    return merged


def _kept_as_text(specs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the columns whose type is not inferred: carried ones, and those with their own."""
    passing = (Role.INSENSITIVE, Role.IDENTIFIER)
    return {
        name for name, spec in specs.items() if spec.get("role") in passing or is_declared(spec)
    }


def _hierarchy(tree: Any) -> Any:
    return Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree


__all__ = [
    "Format",
    "Schema",
    "UnassignedColumns",
    "Unclaimed",
    "read",
    "read_arrow",
    "released",
    "unassigned_message",
]
