"""Linkage attacks: `shoal risk link` on two files, `shoal risk rehearse` on parts of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import about, bars, emit, grid, number, out, share
from shoal.cli.shared.options import (
    File,
    Hierarchies,
    Json,
    K,
    Person,
    SchemaFile,
    names,
    seed_option,
    wanted_model,
)
from shoal.cli.shared.pairs import Released, check_order
from shoal.cli.shared.scaling import chosen_method, refuse_large
from shoal.cli.shared.tables import (
    Form,
    Roles,
    arrow_of,
    as_written,
    grouped,
    load,
    published_of,
    table_of,
)
from shoal.errors import InputError, did_you_mean
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.files.schema import Schema
    from shoal.release.fitting import Published
    from shoal.risk import Linkage


@grouped
def link(
    *,
    identified: Annotated[
        Path, typer.Argument(metavar="IDENTIFIED", help="A file that names people: a voter list.")
    ],
    released: Released,
    known: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="Columns of both files: a,b. Default: the schema's quasi ones."
        ),
    ] = "",
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The true identity: a column of both files, used only to check the links.",
        ),
    ] = None,
    person: Person = "",
    schema: SchemaFile = None,
    hierarchy: Hierarchies = None,
    seed: Annotated[int, seed_option("The random seed for breaking ties.")] = 0,
    form: Form,
    json: Json = False,
) -> None:
    """Attempt a linkage attack: find the people of IDENTIFIED among the records of RELEASED.

    A record matches a person if its cells cover all their values. The command links people to
    records one to one, the rarest matches first. With --key, it reports how many links are correct,
    compared with the baseline of guessing among the matching records.

    With --person, a column of IDENTIFIED, a person with several rows counts once, and is found if
    one of the rows is linked correctly. If RELEASED has the column too, no --key is needed.
    """
    from shoal.files.schema import Schema
    from shoal.release.row_matching import rows_by_key, rows_by_person
    from shoal.risk.linkage import link_published
    from shoal.support.files import check_readable

    for file in (identified, released):
        check_readable(file)
    declared = Schema() if schema is None else Schema.read(schema)
    stated = {**declared.file, **form.stated}
    who, owner = names(person), None
    wanted = [*names(known), *declared.columns]
    hidden = [*([] if key is None else [key]), *who]
    with bars():
        refuse_large(identified, released)
        people = arrow_of(identified, as_written(identified, stated), hidden, [*wanted, *hidden])
        with about(identified):
            columns = _chosen(known, declared, people)
        check_order("IDENTIFIED", identified, released, columns)
        table = table_of(people, declared, columns, hierarchy, identified, tuple(who))
        data = arrow_of(released, as_written(released, stated), [*columns, *hidden])
        with about(released):
            published = published_of(data, table, columns)
        truth = None if key is None else rows_by_key(people, data, key)
        if who and key is None and set(who) <= set(data.column_names):
            truth, owner = rows_by_person(people, data, who)
        found = link_published(published, table, truth, seed, owner)
    linked = {
        "released": str(released),
        "identified": str(identified),
        **found.to_dict(),
        "fit_nobody": _count_unmatched_cells(published),
    }
    emit(json, linked, lambda: _show_linkage(linked))


def _count_unmatched_cells(published: dict[str, Published]) -> dict[str, int]:
    """Return, by column, how many released cells cover no value of IDENTIFIED; none if zero."""
    import numpy as np

    counts = {
        name: int((np.diff(cells.subsets.indptr)[cells.codes] == 0).sum())
        for name, cells in published.items()
    }
    return {name: count for name, count in counts.items() if count}


def _chosen(known: str, declared: Schema, data: Any) -> list[str]:
    asked = names(known)
    for name in asked:
        if name not in data.column_names:
            near = did_you_mean(name, data.column_names)  # listing all could show a person's cells
            raise InputError(f"no column {name!r}{near}; `shoal inspect` lists the columns")
    quasi = [name for name, spec in declared.columns.items() if spec.get("role") == "quasi"]
    chosen = asked or [name for name in quasi if name in data.column_names]
    if not chosen:
        raise InputError("no column to link on; name columns of both files with --known")
    return chosen


def _show_linkage(data: dict[str, Any]) -> None:
    out.print(
        f"searched for {counted(data['people'], 'person', 'people')} among "
        f"{counted(data['records'], 'record')}, by {', '.join(data['columns'])}\n",
        soft_wrap=True,
    )
    rows = grid("", "", "what it means")
    rows.add_row("match one record", f"{data['certain']:,}", "people who can be found directly")
    rows.add_row("match none", f"{data['lost']:,}", "people who seem not to be in the release")
    for name, count in data["fit_nobody"].items():
        meaning = "no value of IDENTIFIED; give the hierarchy if these are labels"
        rows.add_row("cells that match no one", f"{count:,}", f"{name}: {meaning}")
    matching = data["pairs"] / max(data["people"], 1)
    rows.add_row("matching records", number(matching), "per person, on average")
    way = "one to one, the rarest first" if data["exact"] else "rarest first, possibly not optimal"
    rows.add_row("links", f"{data['links']:,}", way)
    out.print(rows)
    success = data["success"]
    if success is None:
        out.print("\nthe number of correct links is unknown; name a column to check with --key")
        return
    out.print("\ncompared with the truth:")
    rows = grid("", "", "95 % interval", "what it means")
    rows.add_row("people in the release", f"{success['present']:,}", "", "of those looked for")
    rows.add_row("people found", f"{success['hits']:,}", "", "ties broken at random")
    for name, meaning in (("precision", "links"), ("recall", "people in the release")):
        figure = success[name]
        between = f"{share(figure['low'])} to {share(figure['high'])}"
        rows.add_row(name, share(figure["value"]), between, f"correct share of the {meaning}")
    guess = success["guess"]
    between = f"{number(guess['low'])} to {number(guess['high'])}"
    rows.add_row("baseline", number(guess["value"]), between, "found by guessing a matching record")
    rows.add_row("blind baseline", number(success["blind"]), "", "found by guessing any record")
    out.print(rows)


@grouped
def rehearse(
    *,
    file: File,
    k: K = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A model, such as 'l-diversity(3, a)'. Repeatable."),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="The method; `shoal methods` lists all of them.")
    ] = "mondrian",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."
        ),
    ] = None,
    known: Annotated[
        str,
        typer.Option(metavar="COLUMNS", help="Columns the attacker knows. Default: all quasi."),
    ] = "",
    both: Annotated[
        float, typer.Option(metavar="X", help="Share of the people who are in both parts.")
    ] = 0.5,
    seed: Annotated[int, seed_option("The random seed of the split and of ties.")] = 0,
    roles: Roles,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Split FILE in two parts, release one, and try to find the people of the other in it.

    The parts share some people, as a hospital and a voter list do. The command attacks both the
    original part and its release, to show how much the release protects. Nothing is written.
    """
    from shoal.methods import anonymize
    from shoal.risk import link, split_for_linkage

    asked = wanted_model(k, model)
    algorithm, drawn = chosen_method(method, option, None)
    refuse_large(file)
    table = load(file, roles, hierarchy, form, quiet=True)
    columns = names(known) or list(table.quasi)
    with bars():
        split = split_for_linkage(table, both, seed)
        release = anonymize(split.released, asked, algorithm, seed=seed if drawn is None else drawn)
        found = {
            "raw": link(
                split.released, split.identified, known=columns, truth=split.truth, seed=seed
            ),
            "released": link(
                release, split.identified, known=columns, truth=split.truth, seed=seed
            ),
        }
    results = {
        "file": str(file),
        "model": str(asked),
        "method": release.run.method,
        **{name: each.to_dict() for name, each in found.items()},
    }
    emit(json, results, lambda: _show_rehearsal(results, found["raw"]))


def _show_rehearsal(data: dict[str, Any], raw: Linkage) -> None:
    out.print(
        f"searched for {counted(raw.people, 'person', 'people')} among "
        f"{counted(raw.records, 'record')}, by {', '.join(raw.columns)}\n",
        soft_wrap=True,
    )
    rows = grid("", "original", "released", "what it means")
    parts = [data["raw"], data["released"]]
    won = [part["success"] for part in parts]
    rows.add_row("records", *(f"{part['records']:,}" for part in parts), "to link to")
    rows.add_row("present", *(f"{each['present']:,}" for each in won), "people in the part")
    rows.add_row("match one record", *(f"{part['certain']:,}" for part in parts), "people")
    rows.add_row("links", *(f"{part['links']:,}" for part in parts), "made, one to one")
    rows.add_row("found", *(f"{each['hits']:,}" for each in won), "people with a correct link")
    for name in ("precision", "recall"):
        meaning = "correct share of links" if name == "precision" else "share of people found"
        rows.add_row(name, *(share(each[name]["value"]) for each in won), meaning)
        ends = (f"{share(each[name]['low'])} to {share(each[name]['high'])}" for each in won)
        rows.add_row("  95 % interval", *ends, "")
    guesses = (number(each["guess"]["value"]) for each in won)
    rows.add_row("baseline", *guesses, "people found by guessing a matching record")
    out.print(rows)
    out.print(f"\nreleased by {data['method']}, {data['model']}", soft_wrap=True)
