"""How a command reads a table: groups of options, and the tables that they describe.

A command takes a group as one argument; on the command line, each of its fields is an option.

    Form        the format of the file            ┐
    Roles       roles by schema and options       ├→ load               a table with its roles
    EveryRole   and those of other columns        ┘  read_population    everyone, for k-map
    as_written  the format of a file that may be a release of the file that the schema describes
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import numpy as np
import typer

from shoal.cli.shared.console import about, note, notes
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
    from shoal.files.schema import Schema
    from shoal.privacy.model import Model
    from shoal.release.fitting import Published
    from shoal.release.verification import PopulationFit
    from shoal.table.classes import Classes
    from shoal.table.table import Table


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

    # typer reads the options of a command from its signature
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
        from shoal.files.schema import Schema

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
    from shoal.files.reading import read
    from shoal.table.roles import UnassignedColumns

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


def arrow_of(
    file: Path, stated: dict[str, Any], as_text: list[str], expected: Collection[str] = ()
) -> Any:
    """Return a file as an Arrow table, some of its columns as plain text.

    expected: the columns that the file should have; by default the text columns.
    """
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow

    with notes():
        return read_arrow(file, Format(**stated), as_text, expected=expected or as_text)


def with_missing_as_text(data: Any, file: Path, stated: dict[str, Any], columns: list[str]) -> Any:
    """Return the data of a published file with missing codes of the columns as their text.

    A reader of the file can distinguish different codes, so rows with different codes differ.
    """
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow

    if not stated.get("missing"):
        return data
    bare = read_arrow(file, Format(**{**stated, "missing": ()}), columns, expected=columns)
    for index, name in enumerate(data.column_names):
        if name in columns:
            data = data.set_column(index, name, bare.column(name))
    return data


def table_of(
    data: Any,
    known: Schema,
    columns: list[str],
    hierarchy: Hierarchies,
    file: Path,
    person: Sequence[str] = (),
    *,
    household: Sequence[str] = (),
    identifier: Sequence[str] = (),
    rows_are_people: bool = False,
) -> Table:
    """Return the compared columns of a file, read as the schema specifies.

    person, household: the columns that identify the person and the household behind a row.
    identifier: other columns that name people; one that repeats is refused without a person.
    """
    from shoal.files.reading import read
    from shoal.files.schema import Schema
    from shoal.table.roles import UnassignedColumns

    kept: dict[str, dict[str, Any]] = {
        name: {**known.columns.get(name, {}), "role": "quasi"} for name in columns
    }
    kept |= {name: {"role": "identifier"} for name in identifier if name not in kept}
    trees = {name: tree for name, tree in hierarchies_of(hierarchy).items() if name in kept}
    with about(file), notes(unless=UnassignedColumns):
        for name in person:
            if name not in data.column_names:
                raise InputError(f"no column {name!r} that identifies a person")
        return read(
            data,
            Schema(kept),
            hierarchies=trees,
            person=person,
            household=household,
            rows_are_people=rows_are_people,
        )


def published_of(data: Any, table: Table, columns: list[str]) -> dict[str, Published]:
    """Return, for each released cell, the values of another table that it covers.

    Cells that cannot be read are an error: they would seem to match no one.
    """
    from shoal.release.fitting import Published
    from shoal.release.row_matching import read_published

    found = read_published(data, table, columns, refuse_unread=True)
    return {name: Published(*cells) for name, cells in found.items()}


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
        # an existing file wins over a recipe of the same text
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

    from shoal.files.schema import load_yaml
    from shoal.table.recipes import RECIPES

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
    from shoal.files.text_files import first_line, is_utf8
    from shoal.files.typed_files import SPREADSHEETS
    from shoal.support.addresses import address_of, is_database

    found = dict(stated)
    if is_database(file) or address_of(file) is not None:
        return found
    found.pop("query", None)
    if file.suffix.lower() not in SPREADSHEETS:
        found.pop("sheet", None)
    delimiter, encoding = found.get("delimiter"), found.get("encoding")
    if encoding is not None and is_utf8(file):
        del found["encoding"]
    sign = "\t" if delimiter == r"\t" else delimiter
    # the file was not written with this delimiter, so the notation beside it is not meant either
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


PopulationFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table of everyone with the quasi-identifiers, for k-map and delta-presence.",
    ),
]


def read_population(
    file: Path, columns: Sequence[str], roles: Roles, hierarchy: Hierarchies, form: Form
) -> Table:
    """Read a table of everyone; its people and households are identified as those of the table.

    If it does not have these columns, each row counts as a person, and an identifier that repeats
    is refused as in the table.

    columns: the quasi-identifiers, all of which it must have.
    """
    stated = as_written(file, {**roles.known.file, **form.stated})
    units = {
        "person": () if roles.rows_are_people else names(roles.person) or roles.known.person,
        "household": names(roles.household) or roles.known.household,
    }
    naming = [name for name, spec in roles.columns.items() if spec.get("role") == "identifier"]
    hidden = list(dict.fromkeys([*naming, *units["person"], *units["household"]]))
    data = arrow_of(file, stated, hidden, list(columns))
    with about(file):
        for name in columns:
            if name not in data.column_names:
                raise InputError(f"has no column {name!r}")
    for what, named in units.items():
        units[what] = _present(what, named, data, file)
    return table_of(
        data,
        roles.known,
        list(columns),
        hierarchy,
        file,
        units["person"],
        household=units["household"],
        identifier=[name for name in naming if name in data.column_names],
        rows_are_people=roles.rows_are_people,
    )


def _present(what: str, named: Sequence[str], data: Any, file: Path) -> tuple[str, ...]:
    """Return the columns of a unit that the population has: all of them, or none with a note."""
    lacking = [name for name in named if name not in data.column_names]
    if lacking and len(lacking) < len(named):
        raise InputError(
            f"{file}: has no column {lacking[0]!r}; {', '.join(named)} together identify a {what}"
        )
    if lacking and what == "person":
        note(f"{file}: has no column {lacking[0]!r}, so each of its rows counts as a person")
    return () if lacking else tuple(named)


def with_population(
    table: Any, file: Path | None, roles: Roles, hierarchy: Hierarchies, form: Form
) -> Any:
    """Return the table with the population of a file, if one is named."""
    if file is None:
        return table
    return replace(table, population=read_population(file, table.quasi, roles, hierarchy, form))


def needs_population(model: Model) -> bool:
    """Return whether a part of the model compares a release with a population."""
    return any(part.needs_population for part in model.parts)


def fit_file(
    file: Path, classes: Classes, everyone: Table, stated: dict[str, Any]
) -> Callable[[], PopulationFit]:
    """Return a function that finds who of the population fits the rows of the file."""

    def fit() -> PopulationFit:
        from shoal.release.fitting import fit_people
        from shoal.release.verification import PopulationFit

        columns = list(classes.table.quasi)
        with about(file):
            published = published_of(arrow_of(file, stated, columns), everyone, columns)
        places = np.arange(len(classes.ids))
        return PopulationFit.between(
            [fit_people(published, everyone)], places, everyone, classes.table
        )

    return fit
