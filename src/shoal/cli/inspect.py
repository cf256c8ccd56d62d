"""`shoal inspect`: what is in a file, and who could be picked out by it."""

from __future__ import annotations

from typing import Any

from shoal.cli.console import emit, grid, notes, number, out
from shoal.cli.options import Delimiter, Encoding, File, Json, Missing, Quasi, names


def inspect(
    file: File,
    quasi: Quasi = "",
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Show the columns of FILE with suggested roles, and who stands out by them.

    Counted are the people who are alone with their values in the columns that --quasi names, else
    in those suggested as such, one by one and together.
    """
    from shoal.inspection import describe, suggest_schema
    from shoal.reading.files import Format, read_arrow

    with notes():
        form = Format(delimiter, encoding=encoding, missing=tuple(missing or ()))
        data = read_arrow(file, form)
    found = describe(data, names(quasi))
    told: dict[str, Any] = {**found, "schema": suggest_schema(found)}
    emit(json, told, lambda: _show(told))


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
    out.print("\na schema to start from (check every role):\n")
    out.print(data["schema"], soft_wrap=True)
