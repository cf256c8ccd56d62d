"""`shoal experiment`: repeat published studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, grid, note, out
from shoal.cli.shared.options import Json


def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The study. Default: list all of them.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="The folder for tables and pictures."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The table, one of those the study runs on.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run at the published size, which may take hours.")
    ] = False,
    releases: Annotated[
        int | None,
        typer.Option(metavar="N", help="Releases by each method; metrics-vs-utility only."),
    ] = None,
    json: Json = False,
) -> None:
    """Repeat a published study, or list the studies.

    Runs whose results are already in the folder are skipped.
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
    rows = grid("name", "description", "runs on")
    for name, entry in listed.items():
        rows.add_row(name, entry["about"], ", ".join(entry["data"]))
    out.print(rows)
