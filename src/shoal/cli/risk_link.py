"""`shoal risk link`: whom a file with names finds in a release."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import about, bars, emit, grid, notes, number, out, share
from shoal.cli.options import Hierarchies, Json, Person, SchemaFile, names, seed_option
from shoal.cli.pairs import Released, check_order
from shoal.cli.sources import Form, as_written, grouped, hierarchies_of
from shoal.core.wording import counted
from shoal.errors import InputError, meant

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.reading import Schema
    from shoal.risk.fitting import Published


@grouped
def link(
    *,
    identified: Annotated[
        Path, typer.Argument(metavar="IDENTIFIED", help="A file that names people: a voter list.")
    ],
    released: Released,
    on: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="What both files know: a,b. Default: the schema's quasi ones."
        ),
    ] = "",
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Who is whom: a column of both files, for the owner's eyes. It is not linked on.",
        ),
    ] = None,
    person: Person = "",
    schema: SchemaFile = None,
    hierarchy: Hierarchies = None,
    seed: Annotated[int, seed_option("Of ties, broken by chance.")] = 0,
    form: Form,
    json: Json = False,
) -> None:
    """Try to find the people of IDENTIFIED among the records of RELEASED.

    A person fits a record whose cells admit all their values. People are then linked to records,
    one to one, the rarest matches first. With --key it is told how many links are right, beside
    what mere guessing among the records that fit would find.

    With --person, a column of IDENTIFIED, a person with several rows counts once, and is found when
    one of them is linked rightly. If RELEASED has the column too, no --key is needed.
    """
    from shoal.core.files import check_readable
    from shoal.reading.linked import rows_by_key, rows_by_person
    from shoal.risk.linkage import link_published

    for file in (identified, released):
        check_readable(file)
    known = schema_of(schema)
    stated = {**known.file, **form.stated}
    who, owner = names(person), None
    wanted = [*names(on), *known.columns]
    hidden = [*([] if key is None else [key]), *who]
    with bars():
        people = arrow_of(identified, as_written(identified, stated), hidden, [*wanted, *hidden])
        with about(identified):
            columns = _chosen(on, known, people)
        check_order("IDENTIFIED", identified, released, columns)
        table = table_of(people, known, columns, hierarchy, identified, tuple(who))
        data = arrow_of(released, as_written(released, stated), [*columns, *hidden])
        with about(released):
            published = published_of(data, table, columns)
        truth = None if key is None else rows_by_key(people, data, key)
        if who and key is None and set(who) <= set(data.column_names):
            truth, owner = rows_by_person(people, data, who)
        found = link_published(published, table, truth, seed, owner)
    told = {
        "released": str(released),
        "identified": str(identified),
        **found.to_dict(),
        "fit_nobody": _fit_nobody(published),
    }
    emit(json, told, lambda: _show(told))


def _fit_nobody(published: dict[str, Published]) -> dict[str, int]:
    """Return, for each column with such, how many released cells are no value of IDENTIFIED."""
    import numpy as np

    counts = {
        name: int((np.diff(cells.subsets.indptr)[cells.codes] == 0).sum())
        for name, cells in published.items()
    }
    return {name: count for name, count in counts.items() if count}


def schema_of(path: Path | None) -> Schema:
    """Return the schema; an empty one where none is named."""
    from shoal.reading import Schema

    return Schema() if path is None else Schema.read(path)


def arrow_of(
    file: Path, stated: dict[str, Any], as_text: list[str], expected: Collection[str] = ()
) -> Any:
    """Return a file as Arrow, some of its columns as bare text.

    expected: the columns that it should have; by default those.
    """
    from shoal.reading import Format, read_arrow

    with notes():
        return read_arrow(file, Format(**stated), as_text, expected=expected or as_text)


def _chosen(on: str, known: Schema, data: Any) -> list[str]:
    asked = names(on)
    for name in asked:
        if name not in data.column_names:
            near = meant(name, data.column_names)  # all of them may be a person's cells
            raise InputError(f"no column {name!r}{near}; `shoal inspect` shows what it has")
    quasi = [name for name, spec in known.columns.items() if spec.get("role") == "quasi"]
    chosen = asked or [name for name in quasi if name in data.column_names]
    if not chosen:
        raise InputError("name with --on the columns that both files know")
    return chosen


def table_of(
    data: Any,
    known: Schema,
    columns: list[str],
    hierarchy: Hierarchies,
    file: Path,
    person: tuple[str, ...] = (),
) -> Table:
    """Return the columns of a file that are compared, as the schema says they are to be read.

    person: the columns that identify the person behind a row.
    """
    from shoal.reading import Schema, UnassignedColumns, read

    kept = {name: {**known.columns.get(name, {}), "role": "quasi"} for name in columns}
    trees = {name: tree for name, tree in hierarchies_of(hierarchy).items() if name in kept}
    with about(file), notes(unless=UnassignedColumns):
        for name in person:
            if name not in data.column_names:
                raise InputError(f"no column {name!r} that identifies a person")
        return read(data, Schema(kept), hierarchies=trees, person=person)


def published_of(data: Any, table: Table, columns: list[str]) -> dict[str, Published]:
    """Return released cells as the values of another table that they admit.

    Cells that cannot be read are refused: they would seem to fit nobody.
    """
    from shoal.reading.linked import read_published
    from shoal.risk.fitting import Published

    found = read_published(data, table, columns, refuse_unread=True)
    return {name: Published(*cells) for name, cells in found.items()}


def _show(data: dict[str, Any]) -> None:
    out.print(
        f"{counted(data['people'], 'person', 'people')} looked for among "
        f"{counted(data['records'], 'record')}, on "
        f"{', '.join(data['columns'])}\n",
        soft_wrap=True,
    )
    rows = grid("", "", "what it means")
    rows.add_row("fit one record", f"{data['certain']:,}", "people who can be looked up at once")
    rows.add_row("fit none", f"{data['lost']:,}", "people who are not in the release, it seems")
    for name, count in data["fit_nobody"].items():
        meaning = "no value of IDENTIFIED; state the hierarchy if these are labels"
        rows.add_row("cells that fit nobody", f"{count:,}", f"{name}: {meaning}")
    fitting = data["pairs"] / max(data["people"], 1)
    rows.add_row("records that fit", number(fitting), "for a person, on average")
    way = "one to one, the rarest first" if data["exact"] else "rarest first, not the best of all"
    rows.add_row("links", f"{data['links']:,}", way)
    out.print(rows)
    success = data["success"]
    if success is None:
        out.print("\nhow many links are right is not known; name with --key who is whom")
        return
    out.print("\nwho knows the truth sees:")
    rows = grid("", "", "95 % interval", "what it means")
    rows.add_row("people in the release", f"{success['present']:,}", "", "of those looked for")
    rows.add_row("people found", f"{success['hits']:,}", "", "ties broken by chance")
    for name, meaning in (("precision", "of the links"), ("recall", "of the people in it")):
        told = success[name]
        between = f"{share(told['low'])} to {share(told['high'])}"
        rows.add_row(name, share(told["value"]), between, f"right {meaning}")
    guess = success["guess"]
    between = f"{number(guess['low'])} to {number(guess['high'])}"
    rows.add_row("by guessing", number(guess["value"]), between, "right, any record that fits")
    rows.add_row("blindly", number(success["blind"]), "", "right, any record at all")
    out.print(rows)
