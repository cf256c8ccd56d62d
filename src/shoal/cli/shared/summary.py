"""The summary that `shoal anonymize` prints, and the command line that a report repeats."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid

from shoal._compat.typer import is_path, options_given, path_of
from shoal.cli.shared.console import grid, listed, number, share, show_warnings, verdict
from shoal.metrics import METRICS, evaluate
from shoal.metrics.registry import cell_shares_by_attribute
from shoal.release.provenance import Tally, released_of
from shoal.release.release import Release
from shoal.release.verification import Verification
from shoal.risk.caveats import Caveats, caveats, to_dict
from shoal.support.wording import counted, percent_of, without_secrets
from shoal.table.column import Role

if TYPE_CHECKING:
    from shoal.release.large_release import LargeRelease


_LOSSES = ("ncp", "class", "pub")
_WITHHELD: dict[str, Any] = {  # figures that depend on records that are not released
    "records": None,
    "people": None,
    "households": None,
    "suppressed": None,
    "suppressed_people": None,
    "released_people": None,  # published rows do not show which of them belong to one person
    "released_households": None,
    "average_class_people": None,
    "seconds": {},
    "unprotected": {},
    "singling_out": None,
    "linked_rows": None,
    "warnings": [],
}
_ADVICE = "round columns that single people out, leave them out, or make them quasi-identifiers"
_COLUMNS = {
    "quasi-identifiers": "quasi",
    "sensitive, unchanged": "sensitive",
    "insensitive, unchanged": "insensitive",
    "left out, identifying": "dropped_identifiers",
    "left out, sampling weight": "dropped_weight",
    "left out, no role": "dropped_without_role",
}


def is_large(release: Release) -> TypeGuard[LargeRelease]:
    """Return whether the figures of a release are counted on disk."""
    if type(release) is Release:
        return False
    from shoal.release.large_release import LargeRelease

    return isinstance(release, LargeRelease)


def summarize(release: Release, checked: Verification, output: Path | None) -> dict[str, Any]:
    """Return the summary as plain data.

    The summary of a release with differential privacy claims contains nothing that depends on
    records that are not released.
    """
    table = release.original
    names = release.source.names if is_large(release) else table.names
    replaced = release.replaced
    summary = {
        **_tally(release).to_dict(),
        **_unit_columns(release),
        "rows_are_people": (
            release.source.units["rows_are_people"] if is_large(release) else table.rows_are_people
        ),
        "released_households": checked.households,
        "classes": checked.classes,
        "smallest_class": checked.smallest,
        "model": checked.model,
        "promise": release.model.describe(),
        "verified": checked.holds,
        "levels": checked.levels,
        "claims": [claim.to_dict() for claim in release.claims],
        "loss": {} if release.withheld else _losses(release),
        "cells": {} if release.withheld else _cells(release),
        "method": release.run.method,
        "options": dict(release.run.options),
        "seed": release.run.seed,
        "seconds": dict(release.run.seconds),
        "versions": dict(release.run.versions),
        "notes": list(release.run.notes),
        "proof": None if release.proof is None else release.proof.to_dict(),
        "node": None if release.node is None else dict(release.node),
        "evaluated": release.evaluated,
        "quasi": list(table.quasi),
        "sensitive": list(names(Role.SENSITIVE)),
        "insensitive": list(names(Role.INSENSITIVE)),
        "replaced_identifiers": {n: dict(each.record) for n, each in replaced.items()},
        "dropped_identifiers": [name for name in names(Role.IDENTIFIER) if name not in replaced],
        "dropped_weight": _dropped_weight(release),
        "dropped_without_role": list(table.unassigned),
        "output": None if output is None else str(output),
    }
    return summary | (_WITHHELD if release.withheld else _not_covered(release))


def _unit_columns(release: Release) -> dict[str, list[str]]:
    """Return the columns that identify people and households."""
    if is_large(release):
        units = release.source.units
        return {f"{unit}_columns": list(units[unit]) for unit in ("person", "household")}
    table = release.original
    return {
        "person_columns": list(table.person.columns if table.person else ()),
        "household_columns": list(table.household.columns if table.household else ()),
    }


def _dropped_weight(release: Release) -> list[str]:
    """Return the column of a sampling weight that is not published."""
    if is_large(release):
        return list(release.source.names(Role.WEIGHT))
    weights = release.original.weights
    return [] if weights is None or weights.column in release.original else [weights.column]


def _tally(release: Release) -> Tally:
    return release.tally if is_large(release) else Tally.of(release.shown.classes)


def _losses(release: Release) -> dict[str, float]:
    return dict(release.losses) if is_large(release) else evaluate(release, _LOSSES)


def _caveats(release: Release) -> Caveats:
    if not is_large(release):
        return caveats(release)
    from shoal.risk.caveats import caveats_of

    return caveats_of(release)


def _cells(release: Release) -> dict[str, Any]:
    """Return the shares of cells kept, generalized and hidden; suppressed records are hidden."""
    by_column = (
        dict(release.cells_by_column)
        if is_large(release)
        else {name: shares.to_dict() for name, shares in cell_shares_by_attribute(release).items()}
    )
    kinds = ("kept", "generalized", "hidden")
    mean = {kind: sum(s[kind] for s in by_column.values()) / len(by_column) for kind in kinds}
    return {**mean, "columns": by_column}


def _not_covered(release: Release) -> dict[str, Any]:
    """Return the risks that the guarantee does not cover.

    unprotected: the sensitive columns that no model covers, with the classes that share one value.
    """
    found, guarded = _caveats(release), getattr(release.model, "columns", ())
    return {
        "unprotected": {
            each.column: to_dict(each) for each in found.same_value if each.column not in guarded
        },
        "singling_out": found.singling_out.to_dict(),
        "linked_rows": None if found.linked is None else found.linked.to_dict(),
        "warnings": found.sentences(),
    }


def show_summary(data: dict[str, Any], console: Console) -> None:
    """Print the summary."""
    outcome = "verified on the released values" if data["verified"] else "DOES NOT HOLD"
    warnings = data["warnings"]
    console.print(verdict(data["model"], data["verified"], outcome, warnings), soft_wrap=True)
    console.print(Padding(data["promise"], (0, 0, 0, 2)))
    show_warnings(warnings, console)
    if data["singling_out"] and data["singling_out"]["notable"]:
        console.print(Padding(_ADVICE, (0, 0, 0, 2)))
    console.print()
    rows = grid("", "")
    _add_counts(rows, data)
    for model, level in data["levels"].items():
        rows.add_row("achieved", f"{model}: {number(level)}")
    seconds = f", {sum(data['seconds'].values()):.2f} s" if data["seconds"] else ""
    rows.add_row("method", f"{data['method']}{seconds}")
    for claim in data["claims"]:
        rows.add_row("claim", claim["claim"])
        for line in claim["arithmetic"]:
            rows.add_row("", line)
        rows.add_row("withheld", "all figures that depend on records that are not released")
        if not data["released"]:
            rows.add_row("empty", "no class was large enough; release fewer or coarser columns")
    if data["node"]:
        levels = ", ".join(f"{name} {level}" for name, level in data["node"].items())
        rows.add_row("levels", levels)
    if data["proof"]:
        rows.add_row("loss", data["proof"]["statement"])
    for note in data["notes"]:
        rows.add_row("note", note)
    for name, record in data["replaced_identifiers"].items():
        rows.add_row("replaced", f"{name}: {_replacement(record)}")
    for heading, key in _COLUMNS.items():
        if data[key]:
            rows.add_row(heading, listed(data[key]))
    _add_unprotected(rows, data["unprotected"])
    console.print(rows)
    console.print()
    if data["cells"]:
        console.print(_cells_in_words(data["cells"]))
        console.print()
    if data["loss"]:
        losses = grid("information loss", "0 = none, 1 = all", "")
        for name, value in data["loss"].items():
            losses.add_row(name, share(value), METRICS[name].meaning)
        console.print(losses)
    if data.get("advice"):
        console.print()
        _show_advice(data["advice"], console)
    if data["output"]:
        console.print(f"\nwritten to {data['output']}", soft_wrap=True)


def _show_advice(advice: dict[str, Any], console: Console) -> None:
    """Print which changes of the command would keep more."""
    now, better = advice["now"], advice["alternatives"]
    people = counted(advice["people"], "person", "people")
    if not better:
        console.print(f"no alternative tried on a sample of {people} keeps clearly more")
        return
    rows = grid("would keep", "hidden", "change", "add to the command")
    rows.add_row(f"{now['kept']:.0%}", f"{now['hidden']:.0%}", "none", "")
    for each in better:
        command = shlex.join(each["options"])
        rows.add_row(f"{each['kept']:.0%}", f"{each['hidden']:.0%}", each["change"], command)
    console.print(f"share of the information kept, on a sample of {people}:")
    console.print(rows)


def _replacement(record: dict[str, Any]) -> str:
    """Return how an identifier was replaced, in words."""
    facts = [f"{name.replace('_', ' ')} {_fact(value)}" for name, value in record.items()]
    return ", ".join([record["replace"], *facts[1:]])


def _fact(value: Any) -> str:
    return f"{value:.1g}" if isinstance(value, float) else str(value)


def _cells_in_words(cells: dict[str, Any]) -> Grid:
    """Return how the cells of each quasi-identifier are released."""
    rows = grid("cells", "kept exactly", "generalized", "hidden")
    for name, shares in (*cells["columns"].items(), ("all columns", cells)):
        if shares["hidden"] > 1 - 1e-9:
            rows.add_row(name, "", "", "everywhere")
        else:
            percents = (f"{100 * shares[key]:.1f} %" for key in ("kept", "generalized", "hidden"))
            rows.add_row(name, *percents)
    return rows


def _add_counts(rows: Grid, data: dict[str, Any]) -> None:
    """Add how many rows and people are released, and in how many classes."""
    withheld = data["records"] is None
    rows.add_row("released", counted(data["released"], "record") if withheld else released_of(data))
    if data["suppressed_people"] and data["people"] != data["records"]:
        lost = counted(data["suppressed_people"], "person", "people")
        rows.add_row("suppressed", f"{counted(data['suppressed'], 'row')}; {lost} lost all rows")
    households = data["released_households"]
    if households is not None:
        rows.add_row("households", f"{households:,} of {data['households']:,} released")
    if data["household_columns"]:
        rows.add_row("household", listed(data["household_columns"]))
    if data["person_columns"]:
        rows.add_row("person", listed(data["person_columns"]))
    elif data["rows_are_people"]:
        rows.add_row("person", "you stated that every row is a different person")
    smallest = counted(data["smallest_class"], "person", "people")
    if withheld and data["options"].get("max_rows_per_person", 1) > 1:
        smallest = f"at least {smallest}"
    if data["household_columns"]:
        smallest += f" from at least {counted(data['smallest_class'], 'household')}"
    rows.add_row("classes", f"{data['classes']:,}, the smallest with {smallest}")


def _add_unprotected(rows: Grid, columns: dict[str, Any]) -> None:
    for name, found in columns.items():
        # how many classes share one value; if none does, what the worst class reaches
        some, classes = found["same_value_classes"], counted(found["classes"], "class")
        people = percent_of(found["same_value_people"], found["people"])
        percent = min(round(100 * found["largest_share"]), 99)
        finding = (
            f"in {some:,} of {classes} ({people} of the people) everyone has the same value"
            if some
            else f"in the worst class {percent} % of the people share one value"
        )
        rows.add_row("not protected", f"{name}: {finding}")
    if columns:
        rows.add_row("", "add l-diversity or t-closeness with --model")


_PASSING = ("force", "json")  # they do not change the release


def typed(context: typer.Context) -> str:
    """Return the command line, without options that do not change the release."""
    words = ["shoal", *path_of(context)]
    for option in options_given(context):
        if option.name not in _PASSING:
            words += _words(option, context.params[option.name or ""])
    return shlex.join(words)


def _words(option: Any, value: Any) -> Iterator[str]:
    for each in value if isinstance(value, (list, tuple)) else (value,):
        names = option.secondary_opts if each is False else option.opts
        if option.opts[0].startswith("-"):
            yield names[0]
        if not getattr(option, "is_flag", False):
            yield without_secrets(_short(option, each))


def _short(option: Any, value: Any) -> str:
    """Return a value as it was given, without folders."""
    if is_path(option, value):
        return Path(value).name
    if option.name == "key_command":  # its arguments may hold secrets
        return "…"
    if option.name == "hierarchy":
        column, mark, source = str(value).partition("=")
        return f"{column}{mark}{source if ':' in source else Path(source).name}"
    return str(value)
