"""Section attacks: attacks on releases, by Shoal and by anonymeter, on the same files.

anonymeter has an environment of its own, since it needs an older numpy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv
from rich.table import Table as Grid

import shoal
from grids import load_note
from jobs import HERE, bench_python, installed, run_job, scratch

QUASI = ["age", "region", "sex", "job", "weight"]
SENSITIVE = "ill"
NAMES = ("singling_out", "linkability", "inference")
ROWS = 2_000
COST_ROWS, FULL_ROWS = (20_000, 200_000), 1_000_000
ATTACKS = 500
LIMIT = 1800


def draw(count: int, seed: int) -> pa.Table:
    """People whose illness depends on their age and region, as a population has it."""
    rng = np.random.default_rng(seed)
    age, region = rng.integers(20, 80, count), rng.integers(0, 40, count)
    ill = np.where(rng.random(count) < 0.4, age // 20 + region % 3, rng.integers(0, 7, count))
    return pa.table(
        {
            "age": age,
            "region": [f"region {r}" for r in region],
            "sex": [("f", "m")[s] for s in rng.integers(0, 2, count)],
            "job": [f"job {j}" for j in rng.integers(0, 30, count)],
            "weight": rng.normal(75, 12, count).round(1),
            "ill": [f"illness {i}" for i in ill],
        }
    )


def _files() -> dict[str, pa.Table]:
    """Return releases of the people of seed 0."""
    people = draw(ROWS, 0)
    roles = {**dict.fromkeys(QUASI, "quasi"), SENSITIVE: "sensitive"}
    table = shoal.read(people, roles=roles, rows_are_people=True)
    release = shoal.anonymize(table, k=5, method="mondrian", summary="representative").to_arrow()
    return {
        "other people (clean)": draw(ROWS, 2),
        "1 % of rows raw": pa.concat_tables([draw(ROWS - 20, 2), people.slice(0, 20)]),
        "10 % of rows raw": pa.concat_tables([draw(ROWS - 200, 2), people.slice(0, 200)]),
        "the original": people,
        "shoal, k = 5, typical values": release.select([*QUASI, SENSITIVE]),
    }


def measure(*, full: bool) -> dict[str, Any]:
    """Attack each file with both tools, and a larger one for the cost."""
    root = HERE.parent
    python = bench_python(root, ".venv-bench-attacks", ("anonymeter",))
    runs = []
    with scratch() as named:
        folder = Path(named)
        for number, (name, released) in enumerate(_files().items()):
            runs.append(_both(name, released, ROWS, folder / str(number), python))
        costs = []
        for size in (*COST_ROWS, FULL_ROWS):  # with `full` the other tool attacks all of them
            other = python if full or size != FULL_ROWS else None
            costs.append(_both("cost", draw(size, 2), size, folder / f"cost {size}", other))
    return {"agreement": runs, "costs": costs, "versions": installed(python, "anonymeter")}


def _both(
    name: str, released: pa.Table, rows: int, folder: Path, python: Path | None
) -> dict[str, Any]:
    folder.mkdir(parents=True)
    files = {"original": draw(rows, 0), "control": draw(rows, 1), "released": released}
    for part, data in files.items():
        csv.write_csv(data, folder / f"{part}.csv")
    job = {
        **{part: str(folder / f"{part}.csv") for part in files},
        "quasi": QUASI,
        "sensitive": SENSITIVE,
        "attacks": ATTACKS,
    }
    run: dict[str, Any] = {"file": name, "rows": rows}
    run["shoal"] = run_job("job_attacks.py", {**job, "by": "shoal"}, folder / "s", limit=LIMIT)
    if python is not None:
        theirs = {**job, "by": "anonymeter"}
        run["anonymeter"] = run_job(
            "job_attacks.py", theirs, folder / "a", limit=LIMIT, python=python
        )
    return run


def _verdict(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Return whether the risk is below the other tool's interval, above it, or inside."""
    if ours["high"] < theirs["low"]:
        return "[red]below[/]"
    return "above" if ours["low"] > theirs["high"] else "[green]agrees[/]"


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's tables: agreement, then cost."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    agreement = Grid(
        title=f"attacks: risk beyond a control group, {ROWS:,} people",
        caption=f"95 % intervals; agrees: the intervals overlap. {versions}. {load_note(result)}",
    )
    for heading in ("released file", "attack", "shoal", "anonymeter", ""):
        agreement.add_column(heading, no_wrap=True)
    for run in result["agreement"]:
        for name in NAMES:
            agreement.add_row(run["file"], name, *_cells(run, name))
    cost = Grid(
        title="attacks: CPU seconds",
        caption=f"Rows in memory, {ATTACKS} attacks of each kind; Shoal with membership too.",
    )
    for heading in ("rows", "shoal", "anonymeter", "ratio"):
        cost.add_column(heading, justify="right")
    for run in result["costs"]:
        both = [run[tool] for tool in ("shoal", "anonymeter") if tool in run]
        seconds = [part.get("cpu") for part in both]
        texts = [part.get("note", f"{part.get('cpu', 0):.2f}") for part in both]
        ratio = f"{seconds[1] / seconds[0]:.1f}" if len(seconds) == 2 and all(seconds) else ""
        cost.add_row(f"{run['rows']:,}", *texts, *[""] * (2 - len(texts)), ratio)
    return [agreement, cost]


def _cells(run: dict[str, Any], name: str) -> tuple[str, ...]:
    if "note" in run["shoal"] or "note" in run["anonymeter"]:
        return run["shoal"].get("note", ""), run["anonymeter"].get("note", ""), ""
    ours, theirs = run["shoal"]["risks"][name], run["anonymeter"]["risks"][name]
    texts = (f"{r['risk']:.3f} ({r['low']:.3f} to {r['high']:.3f})" for r in (ours, theirs))
    return (*texts, _verdict(ours, theirs))
