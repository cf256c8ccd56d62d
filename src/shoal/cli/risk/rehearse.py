"""`shoal risk rehearse`: a linkage attack on your own table, before any release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, grid, number, out, share
from shoal.cli.shared.method_options import chosen_method
from shoal.cli.shared.options import (
    File,
    Hierarchies,
    Json,
    K,
    names,
    seed_option,
    wanted_model,
)
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.sources import Form, Roles, grouped, load
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.risk import Linkage


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
    from shoal.anonymize import anonymize
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
    emit(json, results, lambda: _show(results, found["raw"]))


def _show(data: dict[str, Any], raw: Linkage) -> None:
    out.print(
        f"{counted(raw.people, 'person', 'people')} looked for among "
        f"{counted(raw.records, 'record')}, on "
        f"{', '.join(raw.columns)}\n",
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
