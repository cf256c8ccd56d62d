"""The table of a section: one line per run, with its figures, its targets and a remark."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from rich.table import Table as Grid

from targets import verdict

Row = Mapping[str, Any]
Figures = Mapping[str, Callable[[Row], str]]  # by heading, how to format a figure of a run

COST: Figures = {
    "CPU s": lambda row: f"{row['cpu']:.2f}",
    "wall s": lambda row: f"{row['wall']:.2f}",
    "peak MB": lambda row: f"{row['peak_mb']:,.0f}",
}


def figure(name: str, form: str) -> Callable[[Row], str]:
    """Return a formatter of a figure that not every run has."""
    return lambda row: format(row[name], form) if name in row else ""


def load_note(result: Mapping[str, Any]) -> str:
    """Return the load of the machine: wall seconds mean little on busy cores."""
    return f"Load {result['load']:.1f} on {os.cpu_count()} cores at the end."


def runs_grid(
    title: str,
    caption: str,
    result: Mapping[str, Any],
    figures: Figures,
    remark: Callable[[Row], str] = lambda _: "",
) -> Grid:
    """Return the table of a section's runs; a failed run shows only its note."""
    grid = Grid(title=title, caption=f"{caption} {load_note(result)}")
    grid.add_column("what", no_wrap=True)
    for heading in figures:
        grid.add_column(heading, justify="right")
    grid.add_column("target, remarks")
    for name, row in result["runs"].items():
        if "note" in row:
            grid.add_row(name, *[""] * len(figures), row["note"])
            continue
        remarks = (remark(row), verdict(name, row))
        remarks_text = "\n".join(text for text in remarks if text)
        grid.add_row(name, *(text(row) for text in figures.values()), remarks_text)
    return grid
