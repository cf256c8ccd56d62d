"""The short account of a release that a person reads first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from shoal.cli.console import grid, number, share, verdict
from shoal.core.column import Role
from shoal.core.release import Release
from shoal.metrics import METRICS, evaluate

_MEANING = {
    "ncp": "normalized certainty penalty, weighted by attribute",
    "class": "spread of values inside a class",
    "pub": "what a published cell leaves open",
}


def summarize(release: Release, output: Path | None) -> dict[str, Any]:
    """Return what happened, as plain data."""
    table, checked = release.original, release.verify()
    return {
        "records": table.records,
        "released": table.records - release.classes.suppressed,
        "suppressed": release.classes.suppressed,
        "classes": checked.classes,
        "smallest_class": checked.smallest,
        "model": checked.model,
        "promise": release.model.describe(),
        "verified": checked.holds,
        "levels": checked.levels,
        "loss": evaluate(release, METRICS),
        "method": release.run.method,
        "options": dict(release.run.options),
        "seed": release.run.seed,
        "seconds": dict(release.run.seconds),
        "versions": dict(release.run.versions),
        "notes": list(release.run.notes),
        "quasi": list(table.quasi),
        "sensitive": list(table.sensitive),
        "insensitive": list(table.names(Role.INSENSITIVE)),
        "dropped_identifiers": list(table.names(Role.IDENTIFIER)),
        "dropped_without_role": list(table.unassigned),
        "output": None if output is None else str(output),
    }


def show_summary(data: dict[str, Any], console: Console) -> None:
    """Draw the account."""
    told = "verified on the released values" if data["verified"] else "NOT KEPT"
    console.print(verdict(data["model"], data["verified"], told), soft_wrap=True)
    console.print(f"  {data['promise']}")
    console.print()
    rows = grid("", "")
    rows.add_row("records", f"{data['released']:,} of {data['records']:,} released")
    rows.add_row("classes", f"{data['classes']:,}, the smallest of {data['smallest_class']:,}")
    for model, level in data["levels"].items():
        rows.add_row("reached", f"{model}: {number(level)}")
    seconds = sum(data["seconds"].values())
    rows.add_row("method", f"{data['method']}, {seconds:.2f} s")
    for heading, key in (
        ("coarsened", "quasi"),
        ("kept", "sensitive"),
        ("passed through", "insensitive"),
        ("left out, identifying", "dropped_identifiers"),
        ("left out, no role", "dropped_without_role"),
    ):
        if data[key]:
            rows.add_row(heading, ", ".join(data[key]))
    console.print(rows)
    console.print()
    losses = grid("what it cost", "0 = nothing, 1 = everything", "")
    for name, value in data["loss"].items():
        losses.add_row(name, share(value), _MEANING.get(name, ""))
    console.print(losses)
    if data["output"]:
        console.print(f"\nwritten to {data['output']}", soft_wrap=True)
