"""`shoal datasets`: tables to try things on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, emit, grid, out
from shoal.cli.options import Command, Force, Group, Json, seed_option
from shoal.core.wording import counted
from shoal.errors import InputError

_MOST = 100_000_000
app = typer.Typer(cls=Group, help="List tables to try things on, or generate one.")


@app.callback(invoke_without_command=True)
def catalogue(context: typer.Context, json: Json = False) -> None:
    """List tables to try things on."""
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
    """Say whether a public table's file is there; None is a table that comes with Shoal."""
    folder = os.environ.get("SHOAL_DATA")
    if file is None:
        return "built in"
    if not folder:
        return "SHOAL_DATA not set"
    return "present" if (Path(folder) / file).is_file() else "absent"


def _show(data: dict[str, dict[str, Any]]) -> None:
    rows = grid("name", "what", "state")
    for name, told in data.items():
        rows.add_row(name, told["about"], told["state"])
    rows.add_row("patients", "a generated hospital table of any length", "generated")
    out.print(rows)
    out.print("\npatients are generated with  shoal datasets patients 10000 -o patients.csv")
    out.print("public tables are read from these files in the folder that SHOAL_DATA names:")
    files = grid("", "")
    for name, told in data.items():
        if told["file"]:
            files.add_row(f"  {name}", told["file"])
    out.print(files)


@app.command(cls=Command)
def patients(
    rows: Annotated[
        int,
        typer.Argument(metavar="ROWS", help="How many, up to 100 million."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write: .csv, .tsv, .parquet."
        ),
    ],
    seed: Annotated[int, seed_option("The same seed gives the same table.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate a hospital table, with its schema beside it."""
    from shoal.core.writing import check_ending
    from shoal.datasets.writing import write_patients

    if not 1 <= rows <= _MOST:
        raise InputError(f"rows must be from 1 to {_MOST:,}, not {rows:,}; choose another number")
    check_ending(output)
    with bars():
        schema = write_patients(output, rows, seed, force=force)
    data = {"output": str(output), "schema": str(schema), "rows": rows, "seed": seed}
    emit(json, data, lambda: out.print(f"{counted(rows, 'row')} in {output}, roles in {schema}"))
