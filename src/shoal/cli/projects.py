"""`shoal anonymize project.yaml` and `shoal verify DIR`: several tables at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.keys import Secrets
from shoal.cli.shared.console import (
    announce_compilation,
    bars,
    emit,
    grid,
    note,
    out,
    show_warnings,
    verdict,
)
from shoal.cli.shared.scaling import Scale
from shoal.errors import InputError, OutputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.privacy.model import Model
    from shoal.projects import SetCheck

_ENDINGS = (".yaml", ".yml")


def is_project(file: Path) -> bool:
    """Return whether a path is that of a project file."""
    return file.suffix.lower() in _ENDINGS


def anonymize_project(
    file: Path,
    output: Path | None,
    model: Model,
    method: Any,
    secrets: Secrets,
    scale: Scale,
    *,
    domain: str,
    people: int | None,
    max_left_out: float,
    seed: int | None,
    json: bool,
) -> None:
    """Release all tables of a project and print the outcome."""
    from shoal.projects import Project, release_project
    from shoal.projects.origins import choose_place

    if output is None:
        raise OutputError("a project needs a folder to write to; name a new one with -o")
    refuse_options({"--master": scale.master})
    project = Project.read(file)
    choice = choose_place(project, scale.memory, scale.engine, method)
    if choice.reason:
        note(choice.reason)
    with bars(), announce_compilation(quiet=json):
        checked = release_project(
            project,
            output,
            model,
            method,
            key=secrets.key,
            domain=domain,
            lookup=secrets.lookup,
            people=people,
            max_left_out=max_left_out,
            seed=seed,
            memory=scale.memory,
            engine=scale.engine,
        )
    data = checked.to_dict() | {"output": str(output)}
    emit(json, data, lambda: _show(checked, "verified on the released files", output))


def verify_set(folder: Path, model: Model | None, scale: Scale, *, json: bool) -> bool:
    """Check a released folder, print the outcome, and return whether it holds."""
    from shoal.projects import check_set

    refuse_options({"--engine": scale.engine, "--master": scale.master}, "a single file")
    with bars():
        checked = check_set(folder, model, memory=scale.memory)
    outcome = "holds" if checked else "does not hold"
    emit(json, checked.to_dict(), lambda: _show(checked, outcome, None))
    return checked.holds


def refuse_options(stated: dict[str, Any], what: str = "a single table") -> None:
    """Reject options that are for something else: a single table, or a project."""
    for option, value in stated.items():
        if value:
            raise InputError(f"{option} applies only to {what}; leave it out")


def _show(checked: SetCheck, outcome: str, output: Path | None) -> None:
    warnings = checked.warnings()
    out.print(verdict(checked.model, checked.holds, outcome, warnings), soft_wrap=True)
    if checked.problem:
        out.print(f"  {checked.problem}", soft_wrap=True)
    people = counted(checked.people, "person", "people")
    smallest = counted(checked.smallest, "person", "people")
    out.print(f"  {people} in {counted(checked.classes, 'class')}, the smallest with {smallest}")
    show_warnings(warnings)
    out.print()
    rows = grid("table", "rows", "foreign keys that join")
    for name, table in checked.tables.items():
        joined = ", ".join(f"{column} {count:,}" for column, count in table["joined"].items())
        rows.add_row(name, f"{table['rows']:,}", joined)
    out.print(rows)
    for name, table in checked.tables.items():
        if table.get("left_out"):
            out.print(
                f"{counted(table['left_out'], 'row')} of {name} left out, because too few people "
                "have as many rows like these, or to keep other rows detailed"
            )
    if output is not None:
        out.print(f"\nwritten to {output}", soft_wrap=True)
