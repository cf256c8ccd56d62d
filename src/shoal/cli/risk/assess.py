"""`shoal risk assess`: how many people an attacker is expected to find in a release."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli.shared.console import announce_compilation, bars, emit, grid, number, out, share
from shoal.cli.shared.options import Hierarchies, Json, Key, names, seed_option
from shoal.cli.shared.pairs import Original, Released, load_pair
from shoal.cli.shared.sources import EveryRole, Form, grouped
from shoal.errors import InputError
from shoal.support.wording import counted


@grouped
def assess(
    *,
    original: Original,
    released: Released,
    known: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="Columns the attacker knows: a,b. Default: all quasi."
        ),
    ] = "",
    wrong: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=X",
            help="The chance that the attacker's value is wrong: age=0.1. Repeatable.",
        ),
    ] = None,
    absent: Annotated[
        bool,
        typer.Option(
            "--absent", help="The attacker does not know which people are in the release."
        ),
    ] = False,
    search: Annotated[
        int,
        typer.Option(
            metavar="N", help="Also find the sets of up to N columns that expose the most people."
        ),
    ] = 0,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="auto, exact, or fast: an estimate without interval."),
    ] = "auto",
    half_width: Annotated[
        float,
        typer.Option(metavar="X", help="Half the width of the confidence interval, as a share."),
    ] = 0.01,
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="N", help="Count risks above 1/N. Default: the smallest class."),
    ] = None,
    seed: Annotated[int, seed_option("The random seed of sampled matchings.")] = 0,
    key: Key = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Estimate how many people of ORIGINAL an attacker is expected to find in RELEASED.

    The attacker knows some columns of everyone and matches people with records one to one; all
    possible matchings are equally likely. The command reports how many people are matched with
    their own record, with a confidence interval if the figure is estimated, and how many matches
    are certain.

    With --person, rows are matched, and a person is found if one of their rows is matched with one
    of their records. The command then also reports the risk if the attacker knows 1, 2 or 3 rows of
    a person and, with --household, the risk of households.

    Rows are matched by --key, by position or by their values. People without a released row count
    as suppressed.
    """
    from shoal.risk import assess as attack
    from shoal.risk import exposure

    prior = _rates(wrong)
    with bars():
        release = load_pair(original, released, roles, hierarchy, form, key=key)
        asked = names(known) or None
        least = k or int(release.classes.sizes.min(initial=release.original.records))
        options: dict[str, Any] = {"method": method, "present": not absent, "seed": seed}
        with announce_compilation(quiet=json):
            found = attack(
                release, asked, prior or None, half_width=half_width, k=max(least, 1), **options
            )
            data = found.to_dict()
            if search:
                data["exposure"] = exposure(release, asked, most=search, **options).to_dict()
    emit(json, data, lambda: _show(data))


def _rates(stated: list[str] | None) -> dict[str, float]:
    """Read `column=chance` pairs."""
    found = {}
    for text in stated or []:
        name, _, chance = text.rpartition("=")
        try:
            found[name.strip()] = float(chance)
        except ValueError:
            raise InputError(f"--wrong {text!r} must have the form column=0.1") from None
    return found


def _show(data: dict[str, Any]) -> None:
    repeated = data["records"] > data["people"]
    out.print(_headline(data))
    out.print()
    rows = grid("", "")
    rows.add_row("share of people", share(data["share"]))
    if repeated:
        rows.add_row("records released", f"{data['records']:,}")
        rows.add_row("records linked to their person", _people(data["links"]))
    rows.add_row("people whose match is certain", f"{data['forced']:,}")
    rows.add_row("highest risk of a person", share(data["highest_risk"]))
    rows.add_row(f"people with a risk above 1/{data['k']:,}", f"{data['above']:,}")
    matching = "people whose records match a person" if repeated else "records that match a person"
    rows.add_row(f"{matching}, on average", number(data["mean_candidates"]))
    rows.add_row("  possible after matching everyone", number(data["mean_feasible"]))
    if data["household"] is not None:
        add_household(rows, data["household"])
    out.print(rows)
    if data["known_rows"]:
        _show_known_rows(data["known_rows"])
    out.print(f"\n{data['guarantee']}")
    for line in data["assumptions"]:
        out.print(f"- {line}")
    if "exposure" in data:
        _show_exposure(data["exposure"])


def add_household(rows: Any, household: dict[str, Any]) -> None:
    """Add the risk of households to a table of two columns."""
    rows.add_row("households released", f"{household['households']:,}")
    rows.add_row("  fewest in a class", f"{household['k']:,}")
    rows.add_row("  expected to be found", _people(household["expected"]))
    rows.add_row("  people in these households", _people(household["people"]))
    rows.add_row("  highest risk of a household", share(household["highest"]))
    rows.add_row("  average risk of a household", share(household["average"]))


def _show_known_rows(found: list[dict[str, Any]]) -> None:
    out.print("\nrisk if the attacker knows the classes of several rows of one person:")
    rows = grid("rows known", "people", "average", "rows at random", "highest", "singled out")
    for each in found:
        mark = "" if each["complete"] else "~"
        figures = (f"{mark}{share(each[name])}" for name in ("average", "random", "highest"))
        singled_out = f"{mark}{each['singled_out']:,}"
        rows.add_row(f"{each['rows']}", f"{each['people']:,}", *figures, singled_out)
    out.print(rows)
    if not all(each["complete"] for each in found):
        out.print("~: measured on a sample of rows; the true figure may be higher")


def _headline(data: dict[str, Any]) -> str:
    people = f"of {counted(data['people'], 'person', 'people')} released are expected to be found"
    value = _people(data["value"])
    if data["low"] is None:
        return f"about {value} {people}"
    if data["method"] == "exact":
        return f"{value} {people}"
    interval = f"{_people(data['low'])} to {_people(data['high'])}"
    return f"{value} (95 % confidence interval {interval}) {people}"


def _people(value: float) -> str:
    """Return an expected number of people, rounded to a whole number if it is large."""
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.2f}"


def _show_exposure(found: dict[str, Any]) -> None:
    out.print()
    rows = grid("known columns that expose the most", "people found", "certain")
    for each in found["exposed"]:
        rows.add_row(", ".join(each["known"]), _people(each["value"]), f"{each['forced']:,}")
    out.print(rows)
    if not found["complete"]:
        out.print(
            f"\nonly {found['assessed']:,} of {counted(found['sets'], 'set')} could be assessed"
        )
