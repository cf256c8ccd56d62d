"""`shoal datasets`: tables to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import Json, bars, emit, grid, out

app = typer.Typer(help="List tables to try things on, or generate one.")


@app.callback(invoke_without_command=True)
def catalogue(context: typer.Context, json: Json = False) -> None:
    """List tables to try things on."""
    if context.invoked_subcommand is not None:
        return
    from shoal.datasets import catalogue as listed
    from shoal.datasets.public import SOURCES

    data = {
        name: {"about": about, "file": SOURCES[name].file if name in SOURCES else None}
        for name, about in listed().items()
    }

    def show() -> None:
        rows = grid("name", "what", "file under SHOAL_DATA")
        for name, told in data.items():
            rows.add_row(name, told["about"], told["file"] or "built in")
        rows.add_row("patients", "generated hospital table, any length", "shoal datasets patients")
        out.print(rows)

    emit(json, data, show)


@app.command()
def patients(
    rows: Annotated[
        int, typer.Argument(help="How many, up to 100 million.", min=1, max=100_000_000)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    json: Json = False,
) -> None:
    """Generate a hospital table, with its schema beside it."""
    from shoal.core.writing import writer_for
    from shoal.datasets.writing import write_patients

    writer_for(output)
    with bars():
        schema = write_patients(output, rows, seed, force=force)
    data = {"output": str(output), "schema": str(schema), "rows": rows, "seed": seed}
    emit(json, data, lambda: out.print(f"{rows:,} rows in {output}, roles in {schema}"))
