"""Groups of options that describe how a command reads a table.

A command takes a group as one argument; on the command line, each of its fields is an option.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from shoal.cli.shared.console import notes
from shoal.cli.shared.options import (
    Dates,
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Hierarchies,
    Household,
    Identifier,
    Insensitive,
    Missing,
    Person,
    Quasi,
    Query,
    RowsArePeople,
    SchemaFile,
    Sensitive,
    Sheet,
    Trim,
    Weight,
    names,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.reading import Schema


_NUMBERED = re.compile(r"\bcolumn_[0-9]+\b")
_ROLES = ("quasi", "sensitive", "identifier", "insensitive", "weight")


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its groups separately, in place of the group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            options |= inspect.signature(groups[name], eval_str=True).parameters
        else:
            options[name] = parameter.replace(annotation=hints[name])

    @wraps(command)
    def ungrouped(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    apart = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options.values()]
    ungrouped.__signature__ = inspect.Signature(apart)  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {option.name: option.annotation for option in apart}
    return ungrouped


@dataclass(frozen=True)
class Form:
    """The file format, as far as the options state it."""

    delimiter: Delimiter = None
    encoding: Encoding = None
    missing: Missing = None
    decimal: Decimal = None
    dates: Dates = None
    header: Header = None
    trim: Trim = None
    sheet: Sheet = None
    query: Query = None

    @property
    def stated(self) -> dict[str, Any]:
        """The stated options."""
        options = {
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "missing": tuple(self.missing or ()) or None,
            "decimal": self.decimal,
            "dates": self.dates,
            "header": self.header,
            "trim": self.trim,
            "sheet": self.sheet,
            "query": self.query,
        }
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class Roles:
    """The roles of columns by a schema and by options; options take precedence."""

    schema: SchemaFile = None
    quasi: Quasi = ""
    sensitive: Sensitive = ""
    person: Person = ""
    household: Household = ""
    rows_are_people: RowsArePeople = False
    weight: Weight = ""

    @property
    def units(self) -> dict[str, Any]:
        """The unit of protection that the options state, for `read`."""
        return {
            "person": names(self.person),
            "household": names(self.household),
            "rows_are_people": self.rows_are_people,
        }

    @cached_property
    def known(self) -> Schema:
        """The schema, empty if none is named."""
        from shoal.reading import Schema

        return Schema() if self.schema is None else Schema.read(self.schema)

    @cached_property
    def stated(self) -> dict[str, str]:
        """`{column: role}` by the options; a column with two roles is an error."""
        roles: dict[str, str] = {}
        for role in (field.name for field in fields(self) if field.name in _ROLES):
            for name in names(getattr(self, role)):
                if roles.get(name, role) != role:
                    raise InputError(
                        f"column {name!r} is given two roles, {roles[name]} and {role}; choose one"
                    )
                roles[name] = role
        return roles

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """The columns of schema and options with their specifications."""
        found = {name: dict(spec) for name, spec in self.known.columns.items()}
        for name, role in self.stated.items():
            found[name] = {**found.get(name, {}), "role": role}
        return found

    def check(self) -> None:
        """Raise an error if neither the schema nor the options give a role."""
        if not self.known.columns and not self.stated:
            raise InputError(
                "no column has a role; give a schema with --schema, or name the quasi-identifiers "
                "with --quasi (`shoal inspect FILE` suggests roles)"
            )


@dataclass(frozen=True)
class EveryRole(Roles):
    """All roles, including those of columns that are not generalized."""

    identifier: Identifier = ""
    insensitive: Insensitive = ""


def load(
    file: Path,
    roles: Roles,
    hierarchies: Hierarchies,
    form: Form,
    *,
    otherwise: Mapping[str | None, str] | None = None,
    quiet: bool = False,
) -> Table:
    """Read a file with its roles; a note names the columns left out, unless `quiet`.

    otherwise: roles of columns that have none by the schema or an option.
    """
    from shoal.reading import UnassignedColumns, read

    roles.check()
    stated = roles_with(roles, otherwise or {})
    trees = hierarchies_of(hierarchies)
    with notes(unless=UnassignedColumns if quiet else None):
        return read(
            file, roles.known, roles=stated, hierarchies=trees, **roles.units, **form.stated
        )


def roles_with(roles: Roles, otherwise: Mapping[str | None, str]) -> dict[str, str]:
    """Return the roles that options state, and others for columns that have none."""
    stated = dict(roles.stated)
    for name, role in otherwise.items():
        if name is not None and name not in roles.known.columns:
            stated.setdefault(name, role)
    return stated


def with_missing_as_text(data: Any, file: Path, stated: dict[str, Any], columns: list[str]) -> Any:
    """Return the data of a published file with missing codes of the columns as their text.

    A reader of the file can distinguish different codes, so rows with different codes differ.
    """
    from shoal.reading import Format, read_arrow

    if not stated.get("missing"):
        return data
    bare = read_arrow(file, Format(**{**stated, "missing": ()}), columns, expected=columns)
    for index, name in enumerate(data.column_names):
        if name in columns:
            data = data.set_column(index, name, bare.column(name))
    return data


def hierarchies_of(stated: list[str] | None) -> dict[str, Any]:
    """Read `column=file` and `column=recipe` pairs; text that is not a recipe is a file."""
    found: dict[str, Any] = {}
    for text in stated or []:
        name, mark, source = (part.strip() for part in text.partition("="))
        if not (name and mark and source):
            raise InputError(
                f"hierarchy {text!r} must be written column=file or column=recipe, "
                "such as 'age=intervals: [5, 10]'"
            )
        if name in found:
            raise InputError(f"column {name!r} is given two hierarchies; choose one")
        recipe = None if _is_file(source) else recipe_of(source)
        found[name] = Path(source) if recipe is None else recipe
    return found


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long, or a character that no name can have
        return False


def recipe_of(text: str) -> dict[str, Any] | None:
    """Return a recipe such as `intervals: [5, 10]` or `ordering`, or None if it is not a recipe."""
    import yaml

    from shoal.core.hierarchies.recipes import RECIPES
    from shoal.reading.yaml_files import load_yaml

    try:
        found = load_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if isinstance(found, str) and found in RECIPES:
        return {found: None}
    return found if isinstance(found, dict) else None


def as_written(file: Path, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stated file format without settings that clearly do not apply to the file.

    A schema describes the original; a release is usually written with commas and in UTF-8.
    Settings that are left out are detected.
    """
    from shoal.reading.spreadsheets import ENDINGS
    from shoal.reading.text_files import first_line, is_utf8
    from shoal.support.addresses import address_of
    from shoal.support.files import is_database

    found = dict(stated)
    if is_database(file) or address_of(file) is not None:
        return found
    found.pop("query", None)
    if file.suffix.lower() not in ENDINGS:
        found.pop("sheet", None)
    delimiter, encoding = found.get("delimiter"), found.get("encoding")
    if encoding is not None and is_utf8(file):
        del found["encoding"]
    sign = "\t" if delimiter == r"\t" else delimiter
    if isinstance(sign, str) and sign not in first_line(file, found.get("encoding")):
        for option in ("delimiter", "quote", "decimal", "dates"):
            found.pop(option, None)
    if found.get("header") is False and _NUMBERED.search(first_line(file, found.get("encoding"))):
        del found["header"]  # the names that replaced the missing header
    return found


def of_release(file: Path, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file format of a release; its cells are read as text."""
    options = as_written(file, stated)
    return {name: value for name, value in options.items() if name not in ("decimal", "dates")}
