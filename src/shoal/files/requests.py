"""What is asked of a file: roles, units, hierarchies and format merged, and checks of what is read.

`request_of`   schema and options of `read` ─→ `Request`, in which options take precedence
`check_names`, `check_rows`, `check_dates`, `check_kinds`   before a file becomes a table
`as_declared`  columns with a declared type, read as it
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.files.formats import Format, Notation, misfits, undated_columns
from shoal.files.schema import Schema, check_spec
from shoal.support.wording import option
from shoal.table.column import Kind, Role
from shoal.table.encoding import combined, is_numeric, is_text
from shoal.table.hierarchy import Hierarchy
from shoal.table.roles import as_names
from shoal.table.types import declared_type, read_as

_MAX_NAMED = 8  # columns in a message
_PUBLISHED = r"^(\*|[\[\]({].*,.*[\[\])}])$"  # cells of releases, not of original tables


@dataclass(frozen=True)
class Request:
    """The specification of each column, merged from schema and options.

    specs: the options of each column with a role.
    trees: hierarchies that were given apart from the specifications.
    units: the columns that identify people and households, and whether rows are people.
    settings: the file format as far as it is stated.
    stated: the names of those settings that are not from the schema.
    """

    specs: Mapping[str, Mapping[str, Any]]
    trees: Mapping[str, Any]
    units: Mapping[str, Any]
    settings: Mapping[str, Any]
    stated: tuple[str, ...] = ()

    @cached_property
    def form(self) -> Format:
        """The file format."""
        missing_in = {n: spec["missing"] for n, spec in self.specs.items() if "missing" in spec}
        return Format(**self.settings, missing_in=missing_in)

    @property
    def text(self) -> set[str]:
        """The columns whose type is not inferred: unchanged, declared and identifying ones."""
        passing = (Role.INSENSITIVE, Role.IDENTIFIER)
        unchanged = {
            name
            for name, spec in self.specs.items()
            if spec.get("role") in passing or is_declared(spec)
        }
        return {*unchanged, *self.units["person"], *self.units["household"]}

    @property
    def declared(self) -> bool:
        """Whether every column has a declared type, so that a file without rows is a table."""
        return all(
            "type" in spec or spec["role"] == Role.IDENTIFIER for spec in self.specs.values()
        )

    @property
    def expected(self) -> set[str]:
        """The columns that a file should have."""
        return {*self.specs, *self.units["person"], *self.units["household"], *self.trees}


def request_of(
    schema: str | Path | Mapping[str, Any] | Schema | None,
    roles: Mapping[str, Any] | None,
    hierarchies: Mapping[str, Any] | None,
    person: str | Sequence[str],
    household: str | Sequence[str],
    rows_are_people: bool,
    form: Mapping[str, Any],
) -> Request:
    """Return the request of `read`, whose parameters have the same names.

    Parameters:
        form: Settings of the file format; None is not stated.
    """
    known = _schema(schema)
    specs = _merged(known, roles)
    if rows_are_people and as_names(person):
        raise InputError("person and rows_are_people cannot be combined; state one of them")
    units: dict[str, Any] = {
        "person": as_names(person) or (() if rows_are_people else known.person),
        "household": as_names(household) or known.household,
        "rows_are_people": rows_are_people,
    }
    trees = {
        name: Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree
        for name, tree in (hierarchies or {}).items()
    }
    stated = {name: value for name, value in form.items() if value is not None}
    return Request(specs, trees, units, {**known.file, **stated}, tuple(stated))


def _schema(schema: str | Path | Mapping[str, Any] | Schema | None) -> Schema:
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
    return Schema.of(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def _merged(schema: Schema, roles: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    if not isinstance(roles, Mapping | None):
        raise InputError("roles must be a mapping such as {column: 'quasi'}")
    merged = {name: dict(spec) for name, spec in schema.columns.items()}
    for name, stated in (roles or {}).items():
        spec = check_spec("roles: ", str(name), stated)
        merged.setdefault(str(name), {}).update(spec)
    if not merged:
        raise InputError(
            "no column has a role; pass a schema, or roles={column: "
            "'quasi' | 'sensitive' | 'identifier' | 'insensitive' | 'weight'}"
        )
    for name, spec in merged.items():
        if "role" not in spec:
            source = schema.source if name in schema.columns else "roles"
            raise InputError(f"{source}: column {name!r}: no role; give one of {', '.join(Role)}")
    return merged


class RenamedColumns(UserWarning):
    """Warns that columns without a name, or with the name of another, got one of their own."""


def distinct_names(path: Path | str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a header in which every column has a name of its own.

    A column without a name is called by its number, and a repeated name gets a number: tables of
    other programs often start with a column of row numbers that has none.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     distinct_names("people.csv", ["", "age", "age", "age_2"])
    ('column_1', 'age', 'age_3', 'age_2')
    """
    taken = {name for name in names if name.strip()}
    used: set[str] = set()
    made: list[str] = []
    for number, name in enumerate(names, start=1):
        own = name if name.strip() else f"column_{number}"
        again = 2
        while own in used or (own != name and own in taken):
            own, again = f"{name.strip() or f'column_{number}'}_{again}", again + 1
        used.add(own)
        made.append(own)
    pairs = enumerate(zip(names, made, strict=True), start=1)
    renamed = [f"{number} is called {own!r}" for number, (name, own) in pairs if own != name]
    if renamed:
        listed = ", ".join(renamed[:_MAX_NAMED])
        more = f", and {len(renamed) - _MAX_NAMED} more" if len(renamed) > _MAX_NAMED else ""
        message = f"{path}: columns without a name of their own got one: column {listed}{more}"
        warnings.warn(message, RenamedColumns, stacklevel=2)
    return tuple(made)


def check_names(path: Path | str, names: Sequence[str], *, show: bool = True) -> None:
    """Raise an error for columns without a name or with the same name.

    Parameters:
        show: Whether a message may name the columns; the first line of a file may be a record.
    """
    unnamed = [number for number, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise InputError(f"{path}: column {unnamed[0]} has no name; name it")
    broken = [number for number, name in enumerate(names, start=1) if "\0" in name]
    if broken:
        raise InputError(f"{path}: the name of column {broken[0]} has a null character; rename it")
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen and show:
            raise InputError(f"{path}: column {name!r} occurs more than once; rename one of them")
        if name in seen:
            raise InputError(
                f"{path}: columns {seen[name]} and {number} have the same name; rename one of "
                f"them, or state with {option('header', False)} that the first row has no names"
            )
        seen[name] = number
    folded = {name.casefold() for name in names}
    if len(folded) < len(names):
        raise InputError(f"{path}: two column names differ only in case; rename one of them")


def check_dates(data: Any, dates: str | None) -> None:
    """Raise an error for a stated format of dates that no column has."""
    checked = undated_columns(data)
    if checked is None:
        return
    more = f" and {len(checked) - _MAX_NAMED} more" if len(checked) > _MAX_NAMED else ""
    columns = ", ".join(checked[:_MAX_NAMED]) + more
    raise InputError(
        f"dates: no column is written as {dates} in all rows (checked {columns or 'none'}); state "
        "the format of the file, or list the text that means missing under missing"
    )


def check_rows(path: Path | str, table: Any) -> None:
    """Raise an error for a table without rows."""
    if not table.num_rows:
        raise InputError(f"{path}: has a header but no rows; nothing to anonymize")


def check_kinds(data: Any, specs: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise an error for text in quasi-identifiers and sensitive columns declared as numeric.

    Row numbers start at 1 and do not count the header.
    """
    for name, spec in specs.items():
        if data.column_names.count(name) != 1 or spec.get("role") not in (
            Role.QUASI,
            Role.SENSITIVE,
        ):
            continue
        if spec.get("kind") != Kind.NUMERIC or is_numeric(data.column(name).type):
            continue
        if is_declared(spec):  # its cells were read as its type
            continue
        cells = combined(data.column(name), name)
        if is_text(cells.type):
            _refuse_text(name, cells)


def is_declared(spec: Mapping[str, Any]) -> bool:
    """Return whether a column has a declared type, by name or by its values."""
    return spec.get("type") is not None or spec.get("values") is not None


def as_declared(data: Any, specs: Mapping[str, Mapping[str, Any]], notation: Notation) -> Any:
    """Return an Arrow table with every declared column read as its type.

    Parameters:
        notation: How the file writes numbers and dates.
    """
    for index, name in enumerate(data.column_names):
        spec = specs.get(name, {})
        wanted = declared_type(spec.get("type"), spec.get("values"), name)
        if wanted is not None and data.column_names.count(name) == 1:
            plain = partial(notation.cells, wanted=wanted)
            data = data.set_column(index, name, read_as(data.column(name), wanted, name, plain))
    return data


def _refuse_text(name: str, cells: Any) -> None:
    wrong = misfits(cells)
    rows = pc.indices_nonzero(wrong)
    if pc.any(pc.match_substring_regex(cells.take(rows), _PUBLISHED)).as_py():
        raise InputError(
            f"column {name!r}: kind numeric, but it contains ranges, sets or stars; give the "
            "original table, not a release (or list * under missing if it means that)"
        )
    if not len(rows):
        raise InputError(
            f"column {name!r}: kind numeric, but its cells are text that reads as numbers or "
            "dates; store them as numbers or dates, or make the column nominal"
        )
    count = "one row is" if len(rows) == 1 else f"{len(rows)} of {len(wrong)} rows are"
    first = f"row {rows[0].as_py() + 1}"
    raise InputError(
        f"column {name!r}: kind numeric, but {count} not numbers or dates like the others, the "
        f"first is {first} (not counting the header); write them like 1234.50 or 2024-03-09, or "
        "state decimal or dates; list the text that means missing under missing, or make the "
        "column nominal"
    )
