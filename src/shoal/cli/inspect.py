"""`shoal inspect`: what is in a file, and who could be picked out by it."""

from __future__ import annotations

from typing import Any

from shoal.cli.console import (
    Delimiter,
    Encoding,
    File,
    Json,
    Missing,
    Quasi,
    emit,
    grid,
    names,
    notes,
    number,
    out,
)


def inspect(
    file: File,
    quasi: Quasi = "",
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Show the columns of FILE with suggested roles, and how many people each combination of
    columns singles out.

    Combinations are taken of the columns named with --quasi, else of those suggested as such.
    """  # noqa: D205
    from shoal.inspection import describe, suggest_schema
    from shoal.reading.files import Format, read_arrow

    with notes():
        form = Format(delimiter, encoding=encoding, missing=tuple(missing or ()))
        data = read_arrow(file, form)
    found = describe(data, names(quasi))
    told: dict[str, Any] = {**found, "schema": suggest_schema(found)}
    emit(json, told, lambda: _show(told))


def _show(data: dict[str, Any]) -> None:
    out.print(f"{data['records']:,} records\n")
    columns = grid("column", "type", "values", "missing", "suggested role", "because")
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
