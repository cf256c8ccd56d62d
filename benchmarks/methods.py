"""Section methods: every method on the same census rows, with default options, on one core.

The documentation shows what is found here: `python docs/_costs.py` puts it into its pages.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from grids import load_note
from jobs import run_job, scratch
from shoal import METHODS
from tables import have_adult

K = 5
LIMIT = 600
SIZES = (100, 2_000, 30_162)
MAX_ROWS = {
    "optimal": 100,
    "doka-hungarian": 2_000,
}  # rows that a method can process in some minutes
RANGES = "mondrian, hierarchies=false"


def measure(*, full: bool) -> dict[str, Any]:
    """Run each method on each size, in a fresh process."""
    if not have_adult():
        return {"runs": {}}
    runs: dict[str, dict[str, Any]] = {}
    with scratch() as named:
        for line in (*METHODS, RANGES):
            runs[line] = {
                str(rows): _run(line, rows, Path(named))
                for rows in (SIZES if full else SIZES[:2])
                if rows <= MAX_ROWS.get(line, rows)
            }
    return {"runs": runs}


def _run(line: str, rows: int, scratched: Path) -> dict[str, Any]:
    name = line.split(",", maxsplit=1)[0]
    family = METHODS[name].__module__.split(".")[-2]
    options: dict[str, Any] = {"hierarchies": False} if line == RANGES else {}
    if any(field.name == "max_suppression" for field in fields(METHODS[name])):
        options["max_suppression"] = 0.05
    if name == "safe-la":
        options["allow_large_delta"] = True  # the same k as the others: compares loss, not privacy
    promise = "freeform-anonymity" if family == "freeform" else "k-anonymity"
    job = {
        "kind": "method",
        "table": "adult",
        "rows": rows,
        "k": K,
        "times": 3 if rows < SIZES[-1] and name != "optimal" else 1,
        "method": name,
        "model": f"{promise}({K})",
        "options": options,
    }
    return run_job("job_partition.py", job, scratched / f"{line}-{rows}", limit=LIMIT)


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(
        title=f"methods: adult, eight attributes, k = {K}, on one core",
        caption=(
            "Loss: ncp of a cell, 0 to 1, a suppressed record counted as lost. CPU seconds, "
            "verification included, after a small run that loads the kernels. MB above what the "
            f"process held before. {load_note(result)}"
        ),
    )
    grid.add_column("method", no_wrap=True)
    for head in ("rows", "loss", "CPU s", "MB", "left out"):
        grid.add_column(head, justify="right")
    for name, sizes in result["runs"].items():
        for rows, row in sizes.items():
            grid.add_row(name, f"{int(rows):,}", *_cells(row))
    return [grid]


def _cells(row: dict[str, Any]) -> list[str]:
    if "note" in row:
        return [row["note"], "", "", ""]
    figures = (row["ncp"], row["cpu"], row["added_mb"], row["suppressed"])
    return [
        form.format(x)
        for form, x in zip(("{:.4f}", "{:.2f}", "{:,.0f}", "{:,}"), figures, strict=True)
    ]
