"""`shoal experiment`: studies that can be repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, emit, grid, note, out
from shoal.cli.options import Json


def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which one; without it they are listed.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where tables and pictures go.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Which table, of those it can run on.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="At the published size; may take hours.")
    ] = False,
    releases: Annotated[
        int | None,
        typer.Option(metavar="N", help="Releases by each method; metrics-vs-utility alone."),
    ] = None,
    json: Json = False,
) -> None:
    """Repeat a published study, or list those there are.

    Runs that the folder holds already are not run again.
    """
    from shoal.errors import InputError, unknown
    from shoal.experiments import EXPERIMENTS

    if name is None:
        listed = {key: {"about": e.about, "data": list(e.data)} for key, e in EXPERIMENTS.items()}
        emit(json, listed, lambda: _list(listed))
        return
    if name not in EXPERIMENTS:
        raise unknown("no experiment", name, EXPERIMENTS)
    if output is None:
        raise InputError("name a folder for the results with --out FOLDER")
    with bars():
        page = EXPERIMENTS[name].run(output, full=full, data=data, releases=releases)
    emit(json, {"page": str(page)}, lambda: note(f"wrote {page}"))


def _list(listed: dict[str, dict[str, Any]]) -> None:
    rows = grid("name", "what", "runs on")
    for name, told in listed.items():
        rows.add_row(name, told["about"], ", ".join(told["data"]))
    out.print(rows)
