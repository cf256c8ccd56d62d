"""`shoal risk`: assess what releases still reveal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.risk import assess, link, record
from shoal.cli.shared.console import bars, emit, grid, note, notes, number, out, share
from shoal.cli.shared.options import Command, Group, Hierarchies, Json, Key
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.tables import (
    Form,
    Roles,
    as_written,
    grouped,
    load,
    of_release,
    with_missing_as_text,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.risk import Intersection
    from shoal.table.table import Table

app = typer.Typer(cls=Group, help="Assess what releases still reveal.", no_args_is_help=True)


@app.callback()
def risk() -> None:
    """Assess what releases still reveal."""


for command in (
    assess.assess,
    assess.attack,
    record.records,
    record.columns,
    link.link,
    assess.linked,
    link.rehearse,
    record.suda,
):
    app.command(cls=Command)(command)


@app.command(cls=Command)
@grouped
def intersect(
    *,
    released: Annotated[
        list[Path],
        typer.Argument(metavar="RELEASED...", help="Two or more releases of the same people."),
    ],
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The original table. Without it, only equal text is compared."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", metavar="N", help="Count people below this k. Default: the smallest class."
        ),
    ] = None,
    key: Key = None,
    same_order: Annotated[
        bool,
        typer.Option(
            "--same-order", help="State that equal positions in the files are the same person."
        ),
    ] = False,
    roles: Roles,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Measure how much more several releases of the same table reveal when they are combined.

    With --original, the cells are intersected row by row, and the command reports the remaining
    loss, how many rows a person matches and how many people a row matches. Without it, only rows
    that are equal in all releases are counted. To count people instead of rows, use --person, which
    needs --original.

    Rows are matched by --key or, with --original, by position or by their values. People without a
    row in a release count as suppressed in it. Releases that Shoal writes are sorted, so without
    --original and --key you must state --same-order.
    """
    from shoal.support.files import check_readable

    files = (*released, *([] if original is None else [original]))
    refuse_large(*files)
    for file in files:
        check_readable(file)
    if k is not None and k < 1:
        raise InputError(f"k must be 1 or more, not {k}")
    if original is None and key is None and not (same_order or roles.person or roles.household):
        raise InputError(
            "released files are sorted, so their rows cannot be matched by position; name the "
            "--original or a --key, or state with --same-order that the orders agree"
        )
    with bars():
        if original is None:
            found = _bare(released, roles, form, key, k)
        else:
            table = load(
                original, roles, hierarchy, form, otherwise={key: "identifier"}, quiet=True
            )
            stated = {**roles.known.file, **form.stated}
            found = _read(released, table, stated, key, k)
    data = {"files": [str(file) for file in released], **found.to_dict()}
    emit(json, data, lambda: _show(data))


def _read(
    files: list[Path], original: Table, stated: dict[str, Any], key: str | None, k: int | None
) -> Intersection:
    """Intersect releases by comparing their cells with the original."""
    from shoal.release.released_files import read_released
    from shoal.risk import intersect as intersect_releases
    from shoal.table.roles import UnassignedColumns

    with notes(unless=UnassignedColumns):
        releases = [
            read_released(file, original, key=key, **of_release(file, stated)) for file in files
        ]
    for file, release in zip(files, releases, strict=True):
        for text in release.run.notes:
            note(f"{file}: {text}")
    return intersect_releases(*releases, k=k)


def _bare(
    files: list[Path], roles: Roles, form: Form, key: str | None, k: int | None
) -> Intersection:
    """Intersect releases by comparing the text of their cells."""
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow
    from shoal.risk import aligned, intersect_classes

    roles.check()
    if roles.person or roles.household:
        raise InputError(
            "a release does not identify people; name the table that has the --person and "
            "--household columns with --original"
        )
    specs = roles.columns
    for spec in specs.values():
        spec.pop("hierarchy", None)  # not used here
    quasi = [name for name, spec in specs.items() if spec["role"] == "quasi"]
    as_text = [*quasi, *([] if key is None else [key])]
    with notes():
        stated = {**roles.known.file, **form.stated}
        frames = []
        for file in files:
            own = as_written(file, stated)
            data = read_arrow(file, Format(**own), as_text, expected=as_text)
            frames.append(with_missing_as_text(data, file, own, quasi))
    return intersect_classes(aligned(frames, specs, key), k)


def _show(data: dict[str, Any]) -> None:
    views = [*data["releases"], data["together"]]
    names = [Path(file).name for file in data["files"]]
    rows = grid("", *names, "combined")
    k = data["k"]
    if data["finer"] is not None:
        rows.add_row("loss per cell, 0 to 1", *(share(view["loss"]) for view in views))
        for column in data["together"]["losses"]:
            rows.add_row(f"  {column}", *(share(view["losses"][column]) for view in views))
    rows.add_row("people", *(f"{view['people']:,}" for view in views))
    rows.add_row("classes", *(f"{view['classes']:,}" for view in views))
    _add_crowds(rows, "people in a class", "alike", views, k)
    if data["finer"] is not None:
        _add_crowds(rows, "rows that a person matches", "rows", views, k)
        _add_crowds(rows, "people whom a row matches", "originals", views, k)
    out.print(rows)
    if data["finer"] is not None:
        out.print(
            f"\ncombined, they reveal {share(data['finer'])} of what the finest of them hides"
        )
    if data["sensitive"]:
        out.print("\npeople whose value is certain:")
        rows = grid("column", *names, "combined, rows linked", "combined, rows not linked")
        for found in data["sensitive"]:
            counts = (*found["alone"], found["linked"], found["unlinked"])
            rows.add_row(found["column"], *(f"{count:,}" for count in counts))
        out.print(rows)


def _add_crowds(rows: Any, title: str, name: str, views: list[dict[str, Any]], k: int) -> None:
    crowds = [view[name] for view in views]
    rows.add_row(f"{title}: fewest", *(f"{crowd['fewest']:,}" for crowd in crowds))
    rows.add_row("  on average", *(number(crowd["mean"]) for crowd in crowds))
    rows.add_row(f"  people with fewer than {k:,}", *(f"{crowd['below']:,}" for crowd in crowds))
    rows.add_row("  people singled out", *(f"{crowd['alone']:,}" for crowd in crowds))
