"""`shoal inspect`: what is in a file, who could be picked out by it, and what that would tell."""

from __future__ import annotations

from typing import Any

from shoal.cli.console import about, emit, grid, notes, number, out
from shoal.cli.options import File, Hierarchies, Json, names
from shoal.cli.risk_record import Fraction, show_uniqueness
from shoal.cli.sources import Form, Roles, grouped, hierarchies_of

_VERDICTS = {"fine": "green", "look": "yellow", "serious": "red"}


@grouped
def inspect(
    *,
    file: File,
    roles: Roles,
    hierarchy: Hierarchies = None,
    sampling_fraction: Fraction = None,
    form: Form,
    json: Json = False,
) -> None:
    """Show the columns of FILE with suggested roles, and who stands out by them.

    Counted are the people who are alone with their values in the columns that --quasi names, else
    in those suggested as such, one by one and together.

    With --sensitive, or a schema that names such columns, FILE is also looked at as a release: what
    rows that are alike in the quasi-identifiers give away of these columns. With
    --sampling-fraction it is estimated how many people are alone in the whole population.
    """
    from shoal.inspection import describe, suggest_schema
    from shoal.reading.files import Format, read_arrow

    columns = roles.columns
    with notes():
        data = read_arrow(file, Format(**{**roles.known.file, **form.stated}))
    trees = hierarchies_of(hierarchy)
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
    with about(file):
        found = describe(data, others, guarded, sampling_fraction)
    told: dict[str, Any] = {**found, "schema": suggest_schema(found)}
    emit(json, told, lambda: _show(told))


def _spec(name: str, known: dict[str, Any], trees: dict[str, Any]) -> dict[str, Any]:
    """Return how a sensitive column is to be read: its kind, order, bounds and hierarchy."""
    from pathlib import Path

    from shoal.core.hierarchy import Hierarchy

    tree = trees.get(name, known.get("hierarchy"))
    read = Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree
    return {**known, **({} if read is None else {"hierarchy": read})}


def _show(data: dict[str, Any]) -> None:
    out.print(f"{data['records']:,} records; the roles are suggestions\n")
    columns = grid("column", "type", "values", "missing", "role", "because")
    columns.columns[-1].no_wrap = True  # reasons are short
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
    if data["combinations"]:
        out.print("\npeople alone with their combination of values:")
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
        told = "; ".join(" + ".join(key["columns"]) for key in data["near_keys"])
        out.print(f"\nnearly everybody is told apart by: {told}", soft_wrap=True)
    if data["uniqueness"]:
        show_uniqueness(data["uniqueness"])
    if data["checks"]:
        out.print("\nwhat the file gives away, published as it is:")
        show_checks(data["checks"])
    out.print("\na schema to start from (check every role):\n")
    out.print(data["schema"], soft_wrap=True)


def show_checks(found: list[dict[str, Any]]) -> None:
    """Print checks of a release: their verdict, their name and what an attacker learns."""
    from rich.text import Text

    rows = grid("", "check", "what others learn")
    for check in found:
        verdict = Text(check["severity"], style=_VERDICTS[check["severity"]])
        rows.add_row(verdict, check["name"], check["sentence"])
    out.print(rows)
