"""`shoal risk rehearse`: the linkage attack on a table of one's own, before any release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import bars, emit, grid, number, out, share
from shoal.cli.method_options import chosen_method
from shoal.cli.options import (
    File,
    Hierarchies,
    Json,
    K,
    names,
    seed_option,
    wanted_model,
)
from shoal.cli.sources import Form, Roles, grouped, load
from shoal.core.wording import counted

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
        str, typer.Option(metavar="NAME", help="`shoal methods` lists them.")
    ] = "mondrian",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-O", metavar="NAME=VALUE", help="An option of the method. Repeatable."
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(metavar="COLUMNS", help="What the voter list knows. Default: all quasi ones."),
    ] = "",
    both: Annotated[
        float, typer.Option(metavar="X", help="Share of people who are in both parts.")
    ] = 0.5,
    seed: Annotated[int, seed_option("Of the split and of ties.")] = 0,
    roles: Roles,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Part FILE in two, release one part, and try to find the people of the other in it.

    The parts share some people, as a hospital and a voter list do. The attack is tried on the part
    as it is and on its release, so that it is seen what the release is worth. Nothing is written.
    """
    from shoal.anonymize import anonymize
    from shoal.risk import link, split_for_linkage

    asked = wanted_model(k, model)
    algorithm, drawn = chosen_method(method, option, None)
    table = load(file, roles, hierarchy, form, quiet=True)
    known = names(on) or list(table.quasi)
    with bars():
        split = split_for_linkage(table, both, seed)
        release = anonymize(split.released, asked, algorithm, seed=seed if drawn is None else drawn)
        found = {
            "raw": link(split.released, split.identified, on=known, truth=split.truth, seed=seed),
            "released": link(release, split.identified, on=known, truth=split.truth, seed=seed),
        }
    told = {
        "file": str(file),
        "model": str(asked),
        "method": release.run.method,
        **{name: each.to_dict() for name, each in found.items()},
    }
    emit(json, told, lambda: _show(told, found["raw"]))


def _show(data: dict[str, Any], raw: Linkage) -> None:
    out.print(
        f"{counted(raw.people, 'person', 'people')} looked for among "
        f"{counted(raw.records, 'record')}, on "
        f"{', '.join(raw.columns)}\n",
        soft_wrap=True,
    )
    rows = grid("", "as it is", "released", "what it means")
    parts = [data["raw"], data["released"]]
    won = [part["success"] for part in parts]
    rows.add_row("records", *(f"{part['records']:,}" for part in parts), "to be found in")
    rows.add_row("present", *(f"{each['present']:,}" for each in won), "people who are in it")
    rows.add_row("fit one record", *(f"{part['certain']:,}" for part in parts), "people")
    rows.add_row("links", *(f"{part['links']:,}" for part in parts), "made, one to one")
    rows.add_row("found", *(f"{each['hits']:,}" for each in won), "people with a right link")
    for name in ("precision", "recall"):
        meaning = "links that are right" if name == "precision" else "people found"
        rows.add_row(name, *(share(each[name]["value"]) for each in won), meaning)
        ends = (f"{share(each[name]['low'])} to {share(each[name]['high'])}" for each in won)
        rows.add_row("  95 % interval", *ends, "")
    rows.add_row("by guessing", *(number(each["guess"]["value"]) for each in won), "people found")
    out.print(rows)
    out.print(f"\nreleased by {data['method']}, {data['model']}", soft_wrap=True)
