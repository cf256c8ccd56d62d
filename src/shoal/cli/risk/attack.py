"""`shoal risk attack`: four attacks on any release, beyond a control group, and listed members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.risk.link import arrow_of
from shoal.cli.shared.console import bars, emit, grid, note, notes, number, out, share
from shoal.cli.shared.options import Hierarchies, Json, seed_option
from shoal.cli.shared.pairs import Original, Released, check_order
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.sources import EveryRole, Form, Roles, as_written, grouped, load, of_release
from shoal.errors import InputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.risk import AttackRisk, ReleaseAttacks

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
    emit(json, data, lambda: _show(found))


def load_control(file: Path, roles: Roles | EveryRole, form: Form) -> Table:
    """Read the control group, which may be written in another format than the original."""
    from shoal.reading import UnassignedColumns, read

    stated = as_written(file, {**roles.known.file, **form.stated})
    with notes(unless=UnassignedColumns):
        return read(file, replace(roles.known, file=stated), roles=roles.stated, **roles.units)


def _show(found: ReleaseAttacks) -> None:
    from shoal.risk.release_attacks.attack import ATTACKS

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
