"""Attackers who know people: `shoal risk assess`, `shoal risk attack` and `shoal risk linked`.

`assess` matches everyone with the records at once, `attack` runs four attacks and compares them
with a control group, and `linked` counts the people who fit some known rows of a person.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import (
    about,
    announce_compilation,
    bars,
    emit,
    grid,
    note,
    notes,
    number,
    out,
    share,
    verdict,
)
from shoal.cli.shared.options import File, Hierarchies, Json, Key, names, seed_option
from shoal.cli.shared.pairs import Original, Released, check_order, load_pair
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.tables import (
    EveryRole,
    Form,
    Roles,
    arrow_of,
    as_written,
    grouped,
    load,
    of_release,
)
from shoal.errors import InputError
from shoal.support.wording import count_of, counted

if TYPE_CHECKING:
    from shoal.risk import AttackRisk, ReleaseAttacks
    from shoal.table.table import Table


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
        # a risk above 1/k breaks what classes of k people promise
        least = k or int(release.classes.sizes.min(initial=release.original.records))
        options: dict[str, Any] = {"method": method, "present": not absent, "seed": seed}
        with announce_compilation(quiet=json):
            found = attack(
                release, asked, prior or None, half_width=half_width, k=max(least, 1), **options
            )
            data = found.to_dict()
            if search:
                data["exposure"] = exposure(release, asked, most=search, **options).to_dict()
    emit(json, data, lambda: _show_assessment(data))


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


def _show_assessment(data: dict[str, Any]) -> None:
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


ControlFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="People of the same population who are not released."),
]


@grouped
def attack(
    *,
    original: Original,
    released: Released,
    control: ControlFile = None,
    attacks: Annotated[
        int, typer.Option(metavar="N", help="The maximum number of attacks of each kind.")
    ] = 2000,
    seed: Annotated[int, seed_option("The random seed of drawn people and predicates.")] = 0,
    roles: Roles,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Attack RELEASED, made by any tool, in four ways.

    Singling out tries predicates from the release that exactly one person fits. Linkability looks
    for two halves of a person's quasi-identifiers that lead to the same released row. Inference
    guesses sensitive values from the nearest released rows. Membership claims that people near a
    released row are in the release. Released cells may be generalized, suppressed, perturbed or
    synthetic.

    Each attack is also tried on the people of --control, who must not be released. If all of
    them are in ORIGINAL, they are left out of it. The risk is the success beyond that, from 0 to 1,
    with a 95 % interval.

    The command also counts, by column, the people whose own value, which nobody else has, released
    cells list alone or in a set: anyone who knows the value learns that they are in the release.
    """
    from shoal.risk import attack as attack_release
    from shoal.support.files import check_readable

    files = [original, released, *([] if control is None else [control])]
    for file in files:
        check_readable(file)
    if roles.household:
        raise InputError("attacks count people, not households; use --person")
    with bars():
        refuse_large(original, released)
        people = load(original, roles, hierarchy, form, quiet=True)
        check_order("ORIGINAL", original, released, list(people.quasi))
        others = None if control is None else load_control(control, roles, form)
        columns = [*people.quasi, *people.sensitive]
        stated = of_release(released, {**roles.known.file, **form.stated})
        found = attack_release(
            people,
            arrow_of(released, stated, columns),
            control=others,
            attacks=attacks,
            seed=seed,
        )
    for text in found.notes:
        note(text)
    data = {
        "original": str(original),
        "released": str(released),
        **found.to_dict(),
    }
    emit(json, data, lambda: _show_attacks(found))


def load_control(file: Path, roles: Roles | EveryRole, form: Form) -> Table:
    """Read the control group, which may be written in another format than the original."""
    from shoal.files.reading import read
    from shoal.table.roles import UnassignedColumns

    stated = as_written(file, {**roles.known.file, **form.stated})
    with notes(unless=UnassignedColumns):
        return read(file, replace(roles.known, file=stated), roles=roles.stated, **roles.units)


def _show_attacks(found: ReleaseAttacks) -> None:
    from shoal.risk.release_attacks.four_attacks import ATTACKS

    others = "no control group"
    if found.control is not None:
        others = f"{counted(found.control, 'person', 'people')} in the control group"
    out.print(
        f"{counted(found.people, 'person', 'people')} in the original, {others}; the attacker "
        f"knows {', '.join(found.quasi)}\n",
        soft_wrap=True,
    )
    rows = grid("attack", "risk", "95 % interval", "success", "control", "baseline", "attacks")
    for name in ATTACKS:
        title = name.replace("_", " ")
        risk: AttackRisk = getattr(found, name)
        if not risk.attacks:
            rows.add_row(title, "", "", "", "", "", "0")
            continue
        rows.add_row(title, *_figures(risk))
        for way in risk.ways if len(risk.ways) > 1 or name == "inference" else ():
            rows.add_row(f"  {way.name}", *_figures(way))
    out.print(rows)
    out.print()
    if found.listing:
        listed = grid("cells list", "people alone in it", "listed", "in small sets", "by chance")
        for each in found.listed_members:
            chance = "" if each.chance is None else number(each.chance)
            if each.discloses:
                listed.add_row(each.column, f"{each.alone:,}", f"{each.listed:,}",
                               f"{each.in_small_sets:,}", chance)  # fmt: skip
        out.print(listed)
        out.print()
    for sentence in found.sentences():
        out.print(sentence, soft_wrap=True)


def _figures(risk: AttackRisk) -> tuple[Any, ...]:
    control = "" if risk.control is None else share(risk.control)
    between = f"{share(risk.low)} to {share(risk.high)}"
    return (
        share(risk.risk),
        between,
        share(risk.success),
        control,
        share(risk.baseline),
        f"{risk.attacks:,}",
    )


@grouped
def linked(
    *,
    file: File,
    person: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="The columns that link the rows of a person: a pseudonym."
        ),
    ],
    known: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="What an attacker knows of a row. Default: all other columns."
        ),
    ] = "",
    events: Annotated[
        int, typer.Option(metavar="M", help="How many rows of a person the attacker knows.")
    ] = 2,
    k: Annotated[
        int, typer.Option("-k", metavar="N", help="How many people each combination should fit.")
    ] = 5,
    form: Form,
    json: Json = False,
) -> None:
    """Check k^m-anonymity: whether any M rows of a person in FILE match at least k people.

    The rows of a person are those with the same value in the --person column. A person matches if
    they have each known row at least as often: two equal known rows need two. The count is exact.

    The exit status is 1 if some combination matches fewer than k people.
    """
    from shoal.risk import linked_events

    linking = names(person)
    with bars():
        refuse_large(file)
        data = arrow_of(file, as_written(file, form.stated), linking)
        with about(file):
            found = linked_events(data, linking, names(known), events=events, k=k)
    emit(json, found.to_dict(), lambda: _show_linked(found))
    if not found.holds:
        raise typer.Exit(1)


def _show_linked(found: Any) -> None:
    name = f"k^m-anonymity(k={found.k}, m={found.events})"
    outcome = "holds" if found.holds else "does not hold"
    out.print(verdict(name, found.holds, outcome, []), soft_wrap=True)
    out.print()
    rows = grid("", "")
    rows.add_row("people", f"{found.people:,}")
    rows.add_row("fewest matches", counted(found.fewest, "person", "people"))
    rows.add_row(f"fewer than {found.k} matches", count_of(found.below, found.people))
    rows.add_row("singled out", count_of(found.alone, found.people))
    out.print(rows)
