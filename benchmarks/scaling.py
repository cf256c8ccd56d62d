"""Section scaling: the cost of a hundred times the rows."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from jobs import run_job, scratch
from targets import verdict

LIMIT = 600
SIZES = (30_000, 300_000, 3_000_000)


def measure(*, full: bool) -> dict[str, Any]:
    """Anonymize generated tables, each in a fresh process."""
    sizes = (*SIZES, 10_000_000) if full else SIZES
    asked = [("patients", size) for size in sizes] + [("1M x 8", 1_000_000)]
    rows = []
    with scratch() as named:
        for place, (table, size) in enumerate(asked):
            job = {"table": table, "rows": size, "seed": 1}
            found = run_job("job_scaling.py", job, Path(named) / str(place), limit=LIMIT)
            rows.append({"table": table, "rows": size, **found})
    grown = [row for row in rows if row["table"] == "patients" and "cpu" in row]
    steps = [slope(list(pair)) for pair in pairwise(grown)]
    return {"runs": rows, "exponent": slope(grown) if steps else None, "steps": steps}


def slope(rows: list[dict[str, Any]]) -> float:
    """Return the least-squares slope of log CPU on log rows."""
    xs, ys = ([math.log(row[name]) for row in rows] for name in ("rows", "cpu"))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grown = ""
    if result["steps"]:
        steps = ", then ".join(f"{step:.2f}" for step in result["steps"])
        grown = (
            f"CPU on patients grows as rows to the {result['exponent']:.2f}, size by size {steps}; "
            "effort normal looks less far ahead on large tables, which favours the last step. "
        )
    grid = Grid(
        title="scaling: mondrian, k=5, hierarchies=False, effort normal",
        caption=(
            f"{grown}Table in memory, kernels loaded; search and verify are CPU s. Patients have "
            "names, numbers and costs beside 6 quasi-identifiers; 1M x 8 is skewed and correlated, "
            "domains of 75, 2, 7, 6, 17, 83, 47 and 1000 values. MB: peak of the process, and what "
            "the call added."
        ),
    )
    grid.add_column("table", no_wrap=True)
    heads = "rows;distinct;CPU s;search;verify;µs/row;peak MB;added;classes;loss class".split(";")
    for head in heads:
        grid.add_column(head, justify="right")
    grid.add_column("target, remarks")
    for row in result["runs"]:
        if "cpu" not in row:
            blank = [""] * (len(heads) - 1)
            grid.add_row(row["table"], f"{row['rows']:,}", *blank, row["note"])
            continue
        grid.add_row(
            row["table"],
            f"{row['rows']:,}",
            f"{row['distinct']:,}",
            f"{row['cpu']:.2f}",
            f"{row['search']:.2f}",
            f"{row['verify']:.2f}",
            f"{1e6 * row['cpu'] / row['rows']:.1f}",
            f"{row['peak_mb']:,.0f}",
            f"{row['added_mb']:,.0f}",
            f"{row['classes']:,}",
            f"{row['loss']:.4f}",
            verdict(row["table"], row),
        )
    return [grid]
