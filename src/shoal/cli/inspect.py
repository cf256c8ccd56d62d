"""`shoal inspect`: the columns of a file, suggested roles, and who is unique."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding

from shoal.cli.risk.record import Fraction, show_uniqueness
from shoal.cli.shared.console import (
    about,
    bars,
    emit,
    grid,
    listed,
    notes,
    number,
    out,
    show_warnings,
)
from shoal.cli.shared.options import File, Force, Hierarchies, Json, names
from shoal.cli.shared.tables import Form, Roles, grouped, hierarchies_of
from shoal.errors import OutputError
from shoal.support.files import check_readable, check_writable, replace_file

if TYPE_CHECKING:
    from shoal.files.formats import Format

_UNCHANGED = (
    "\nsensitive and insensitive columns are published unchanged; round those that single people "
    "out, leave them out, or make them quasi-identifiers:"
)
_VERDICTS = {"fine": "green", "look": "yellow", "serious": "red"}


@grouped
def inspect(
    *,
    file: File,
    roles: Roles,
    hierarchy: Hierarchies = None,
    sampling_fraction: Fraction = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the suggested schema: .yaml."),
    ] = None,
    force: Force = False,
    form: Form,
    json: Json = False,
) -> None:
    """Show the columns of FILE with suggested roles, and count the people who are unique by them.

    The command counts people with a unique value or combination of values in the quasi-identifiers
    that --quasi names, or else in the suggested ones. If the identifier with the most distinct
    values repeats, the suggested schema declares it as the person column.

    With --sensitive, or a schema that names sensitive columns, FILE is also checked as a release:
    what rows with equal quasi-identifiers reveal about these columns. With --sampling-fraction, the
    command estimates how many people are unique in the whole population.

    The schema that -o writes declares a type for every column and lists the values of small
    categories; the screen shows no values. Bounds are never taken from the data: a comment in the
    schema asks for them.
    """
    from shoal.files.requests import check_dates
    from shoal.inspection import describe, suggest_schema
    from shoal.inspection.file_settings import read_well

    check_readable(file)
    columns, trees = roles.columns, hierarchies_of(hierarchy)
    if output is not None:
        _check_schema(output, force=force)
    stated = {**roles.known.file, **form.stated}
    with notes():
        read = read_well(file, _form(columns, stated), _expected(roles, columns))
    data = read.data
    with about(file):
        check_dates(data, stated.get("dates"))
    guarded = {
        name: _spec(name, roles.known.columns.get(name, {}), trees)
        for name, spec in columns.items()
        if spec.get("role") == "sensitive"
    }
    others = names(roles.quasi) or [
        name
        for name, spec in columns.items()
        if spec.get("role") == "quasi" and name in data.column_names
    ]
    passed = [name for name, spec in columns.items() if spec.get("role") == "insensitive"]
    unchecked = [name for name in passed if name in data.column_names]
    with bars(), about(file):
        found = describe(
            data, others, guarded, sampling_fraction, insensitive=unchecked, **_units(roles)
        )
    found = read.declared(found)
    found["hints"] = [*read.hints, *found["hints"]]
    for column in found["columns"]:
        if role := roles.stated.get(column["name"]):
            column |= {"role": role, "reason": "stated"}
    found["rows_are_people"] |= roles.rows_are_people
    written = {**found.pop("file"), **stated}
    commands = _commands(file, found, {**_given(roles), **form.stated}, output)
    if output is not None:
        with replace_file(output, force=force) as temporary:
            temporary.write_text(suggest_schema(found, written), encoding="utf-8")
    shown = [{k: v for k, v in each.items() if k != "values"} for each in found["columns"]]
    schema = suggest_schema(found, written, list_values=False)
    described: dict[str, Any] = {
        **found,
        "columns": shown,
        "schema": schema,
        "commands": commands,
    }
    emit(json, described, lambda: _show(described, file, output))


def _commands(
    file: Path, found: dict[str, Any], stated: dict[str, Any], output: Path | None
) -> list[str]:
    """Return the commands that write the schema, if it is not, and the release."""
    from shlex import join

    from shoal.inspection.roles import releasable

    if not releasable(found):
        return []
    lines = []
    source = str(file)
    if output is None:
        output = _free(f"{file.stem}.yaml")
        lines.append(join(["shoal", "inspect", source, *_as_options(stated), "-o", str(output)]))
    release = _free(f"{file.stem}-anonymous{'.parquet' if file.suffix == '.parquet' else '.csv'}")
    counted = ["--rows-are-people"] if found["rows_are_people"] else []
    k = str(min(5, found["people"]))
    last = ["--schema", str(output), *counted, "-k", k, "-o", str(release)]
    return [*lines, join(["shoal", "anonymize", source, *last])]


def _given(roles: Roles) -> dict[str, Any]:
    """Return the options that state roles and units, as far as they are given."""
    return {field.name: value for field in fields(roles) if (value := getattr(roles, field.name))}


def _as_options(stated: dict[str, Any]) -> list[str]:
    """Return settings of the file format as command-line options."""
    options = []
    for name, value in stated.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        for each in value if isinstance(value, tuple) else (value,):
            options += [f"--{flag}", str(each)]
    return options


def _free(name: str) -> Path:
    """Return a path in the current folder at which nothing lies."""
    path, number = Path(name), 2
    while path.exists():
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
        number += 1
    return path


def _form(columns: dict[str, dict[str, Any]], stated: dict[str, Any]) -> Format:
    """Return the file format, with the missing codes that columns of the schema declare."""
    from shoal.files.formats import Format

    missing_in = {name: spec["missing"] for name, spec in columns.items() if "missing" in spec}
    return Format(**stated, missing_in=missing_in)


def _expected(roles: Roles, columns: dict[str, dict[str, Any]]) -> list[str]:
    units = _units(roles)
    return [*columns, *units["person"], *units["household"]]


def _units(roles: Roles) -> dict[str, Any]:
    """Return the unit of protection from the options, or else from the schema."""
    stated = roles.units
    for what in ("person", "household"):
        stated[what] = stated[what] or getattr(roles.known, what)
    return stated


def _check_schema(output: Path, *, force: bool) -> None:
    """Raise an error if the schema could not be written or would replace an input."""
    if output.suffix.lower() not in (".yaml", ".yml"):
        raise OutputError(f"{output}: the name of a schema must end in .yaml or .yml")
    check_writable(output, force=force)


def _spec(name: str, known: dict[str, Any], trees: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a sensitive column: kind, order, bounds and hierarchy."""
    from shoal.table.hierarchy import Hierarchy

    tree = trees.get(name, known.get("hierarchy"))
    read = Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree
    return {**known, **({} if read is None else {"hierarchy": read})}


def _show(data: dict[str, Any], file: Path, output: Path | None) -> None:
    out.print(f"{data['about']}; the roles are suggestions\n", soft_wrap=True)
    columns = grid("column", "type", "values", "missing", "role", "reason")
    for fixed in columns.columns[:-1]:
        fixed.no_wrap = True
    for column in data["columns"]:
        columns.add_row(
            column["name"],
            column["type"],
            f"{column['distinct']:,}",
            f"{column['missing']:,}" if column["missing"] else "",
            column["role"],
            column["reason"],
        )
    out.print(columns)
    _show_hints(data["hints"])
    if data["combinations"]:
        out.print("\npeople with a unique combination of values:")
        rows = grid("columns", "unique", "share", "smallest group")
        for found in data["combinations"]:
            rows.add_row(
                ", ".join(found["columns"]),
                f"{found['unique']:,}",
                number(found["share"]),
                f"{found['smallest']:,}",
            )
        out.print(rows)
    if data["near_keys"]:
        keys = "; ".join(" + ".join(key["columns"]) for key in data["near_keys"])
        out.print(f"\nthese columns identify nearly everyone: {keys}", soft_wrap=True)
    if data["singling_out"]:
        show_warnings(data["singling_out"]["sentences"], heading=_UNCHANGED)
    if data["uniqueness"]:
        show_uniqueness(data["uniqueness"])
    if data["checks"]:
        out.print("\nwhat the file reveals if it is published unchanged:")
        show_checks(data["checks"])
    if output is not None:
        out.print(
            f"\nschema written to {output}: check every role and type, then run", soft_wrap=True
        )
    else:
        out.print("\na schema to start from (check every role; -o FILE.yaml writes it):\n")
        for line in data["schema"].split("\n"):
            out.print(line, soft_wrap=True)
        if data["commands"]:
            out.print("write it, check every role and type, then anonymize the table:")
    for line in data["commands"]:
        out.print(f"  {line}", soft_wrap=True)
    if not data["commands"]:
        out.print("no release is possible: all columns identify people or are left out")


def _show_hints(hints: list[dict[str, Any]]) -> None:
    if not hints:
        return
    out.print("\ncheck first:")
    for each in hints:
        named = f"{listed(each['columns'])}: " if each["columns"] else ""
        out.print(Padding(f"- {named}{each['hint']}", (0, 0, 0, 2)))


def show_checks(found: list[dict[str, Any]]) -> None:
    """Print the checks of a release: verdict, name and finding."""
    from rich.text import Text

    rows = grid("", "check", "what others learn")
    for check in found:
        verdict = Text(check["severity"], style=_VERDICTS[check["severity"]])
        rows.add_row(verdict, check["name"], check["sentence"])
    out.print(rows)
