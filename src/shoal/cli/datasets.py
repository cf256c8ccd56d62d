"""`shoal datasets`: example tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, grid, out
from shoal.cli.shared.options import Command, Force, Group, Json, seed_option
from shoal.errors import InputError
from shoal.support.wording import counted

_MAX_ROWS = 100_000_000
app = typer.Typer(cls=Group, help="List example tables, or generate one.")


@app.callback(invoke_without_command=True)
def catalogue(context: typer.Context, json: Json = False) -> None:
    """List example tables, or generate one."""
    if context.invoked_subcommand is not None:
        return
    from shoal.datasets import catalogue as listed
    from shoal.datasets.public import SOURCES

    data: dict[str, dict[str, Any]] = {}
    for name, about in listed().items():
        file = SOURCES[name].file if name in SOURCES else None
        data[name] = {"about": about, "file": file, "state": _state(file)}
    emit(json, data, lambda: _show(data))


def _state(file: str | None) -> str:
    """Return whether the file of a public table exists; tables of Shoal itself have no file."""
    folder = os.environ.get("SHOAL_DATA")
    if file is None:
        return "built in"
    if not folder:
        return "SHOAL_DATA not set"
    return "present" if (Path(folder) / file).is_file() else "absent"


def _show(data: dict[str, dict[str, Any]]) -> None:
    rows = grid("name", "description", "state")
    for name, entry in data.items():
        rows.add_row(name, entry["about"], entry["state"])
    rows.add_row("patients", "a generated hospital table with any number of rows", "generated")
    out.print(rows)
    out.print("\ngenerate patients with  shoal datasets patients 10000 -o patients.csv")
    out.print("public tables are read from these files in the folder that SHOAL_DATA names:")
    files = grid("", "")
    for name, entry in data.items():
        if entry["file"]:
            files.add_row(f"  {name}", entry["file"])
    out.print(files)


@app.command(cls=Command)
def patients(
    rows: Annotated[
        int,
        typer.Argument(metavar="ROWS", help="Number of rows, up to 100 million."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write: .csv, .tsv or .parquet."
        ),
    ],
    seed: Annotated[int, seed_option("The same seed gives the same table.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate a hospital table, and write its schema to the same folder."""
    from shoal.core.publishing.writing import check_ending
    from shoal.datasets.writing import write_patients

    if not 1 <= rows <= _MAX_ROWS:
        raise InputError(f"rows must be from 1 to {_MAX_ROWS:,}, not {rows:,}")
    check_ending(output)
    with bars():
        schema = write_patients(output, rows, seed, force=force)
    data = {"output": str(output), "schema": str(schema), "rows": rows, "seed": seed}
    emit(
        json,
        data,
        lambda: out.print(f"{counted(rows, 'row')} written to {output}, roles to {schema}"),
    )
