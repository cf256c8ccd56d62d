"""Section peers: Shoal and alternative Python tools, on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table as Grid

from jobs import HERE, OWN_PYTHON, bench_python, installed, run_job, scratch
from loss import OUT, Released, class_loss, published_loss, untrue_cells
from shared_table import SharedTable, shared_table
from targets import verdict

NORMAL = "shoal mondrian, normal"
OURS: dict[str, dict[str, Any]] = {
    "shoal mondrian, low": {"hierarchies": False, "effort": "low"},
    NORMAL: {"hierarchies": False, "effort": "normal"},
    "shoal mondrian, high": {"hierarchies": False, "effort": "high"},
    "shoal mondrian, hierarchies": {"hierarchies": True},
}
PEERS = {
    "anonypy Mondrian": ("job_anonypy.py", {}),
    "anjana, hierarchies, 5 % out": ("job_anjana.py", {"max_suppression": 0.05}),
}
SKIPPED = {("anonypy Mondrian", 10)}  # a minute or more: only with --full
LIMIT = 300


def measure(*, full: bool) -> dict[str, Any]:
    """Run every tool at k = 5 and 10, and both checkers on our release."""
    python = bench_python(HERE.parent)
    with scratch() as named:
        folder = Path(named)
        table = shared_table(folder)
        rows = [
            _judged(table, name, k, folder / f"{number}-{k}", python, full)
            for k in (5, 10)
            for number, name in enumerate((*OURS, *PEERS))
        ]
        for row in rows:
            _compare(row, next(r for r in rows if r["tool"] == NORMAL and r["k"] == row["k"]))
        number = list(OURS).index(NORMAL)
        checks = _check(table, folder / f"{number}-5" / "release.csv", folder, python)
    versions = installed(python, "anonypy", "anjana", "pycanon")
    return {"table": table.about, "releases": rows, "checks": checks, "versions": versions}


def _judged(
    table: SharedTable, name: str, k: int, folder: Path, python: Path, full: bool
) -> dict[str, Any]:
    row: dict[str, Any] = {"tool": name, "k": k}
    if (name, k) in SKIPPED and not full:
        return {**row, "note": "skipped: needs --full"}
    job = {**table.job(), "k": k}
    if name in OURS:
        done = run_job("job_shoal.py", {**job, "options": OURS[name]}, folder, limit=LIMIT)
    else:
        script, more = PEERS[name]
        done = run_job(script, {**job, **more}, folder, limit=LIMIT, python=python)
    if "note" in done:
        return {**row, **done}
    with np.load(folder / "cells.npz") as stored:
        cells = {column: stored[column].astype(np.int64) for column in table.columns}
    released = Released(cells, done["entries"])
    classes = released.classes()
    sizes = np.bincount(classes[classes != OUT])
    row |= {
        **done["cost"],
        "classes": len(sizes),
        "out": int((classes == OUT).sum()),
        "loss": class_loss(classes, table.columns),
        "pub": published_loss(released, table.columns),
    }
    row["note"] = "; ".join(_faults(row, sizes, untrue_cells(released, table.columns), done))
    return row


def _faults(row: dict[str, Any], sizes: Any, untrue: int, done: dict[str, Any]) -> list[str]:
    """Return the faults of a release, and where Shoal's own figures differ from these."""
    faults = []
    if sizes.min() < row["k"]:
        faults.append(f"{int((sizes < row['k']).sum())} classes below k")
    if untrue:
        faults.append(f"{untrue} untrue cells")
    own = done.get("own")
    if own is not None:
        pairs = {"class": row["loss"], "pub": row["pub"], "classes": row["classes"]}
        faults += [
            f"{name}: shoal.metrics says {own[name]:.6f}"
            for name, value in pairs.items()
            if abs(own[name] - value) > 1e-9
        ]
    return faults


def _compare(row: dict[str, Any], ours: dict[str, Any]) -> None:
    if "cpu" in row and "cpu" in ours:
        row["cpu_ratio"] = row["cpu"] / ours["cpu"]
        row["loss_ratio"] = row["loss"] / ours["loss"]


def _check(table: SharedTable, release: Path, folder: Path, python: Path) -> list[dict[str, Any]]:
    if not release.is_file():
        return [{"tool": "both", "note": "no release to check"}]
    job = {**table.job(), "release": str(release)}
    rows = []
    for tool, runner in (("shoal", OWN_PYTHON), ("pycanon", python)):
        asked = {**job, "by": tool}
        done = run_job("job_check.py", asked, folder / tool, limit=LIMIT, python=runner)
        rows.append({"tool": tool, **(done if "note" in done else _checked(done))})
    ours, theirs = rows
    if "k" in ours and "k" in theirs:
        differ = [letter for letter in "klt" if abs(ours[letter] - theirs[letter]) > 1e-9]
        theirs["note"] = "differs in " + ", ".join(differ) if differ else "agrees in k, l, t"
        theirs["cpu_ratio"] = theirs["cpu"] / ours["cpu"]
        ours["cpu_ratio"] = 1.0
    return rows


def _checked(done: dict[str, Any]) -> dict[str, Any]:
    costs = done["costs"]
    return {
        **done["values"],
        "cpu": sum(cost["cpu"] for cost in costs.values()),
        "cpu_by": {letter: cost["cpu"] for letter, cost in costs.items()},
        "peak_mb": max(cost["peak_mb"] for cost in costs.values()),
    }


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's tables."""
    return [_releases(result), _checks(result)]


def _releases(result: dict[str, Any]) -> Grid:
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    grid = Grid(
        title=f"peers: {result['table']}",
        caption=(
            "Each in its own process; the anonymizing call only, kernels loaded. Ours: median "
            "of 3; it publishes and verifies inside the call. MB: peak of the process, and what "
            f"the call added. ×: against {NORMAL} at the same k. Suppressed rows lose 1.\n"
            f"{versions}"
        ),
    )
    heads = ("CPU s", "×", "peak MB", "added", "classes", "out", "loss class", "×", "loss pub")
    grid.add_column("k", justify="right")
    grid.add_column("tool", no_wrap=True)
    for head in heads:
        grid.add_column(head, justify="right")
    grid.add_column("target, remarks")
    for row in result["releases"]:
        if "cpu" not in row:
            grid.add_row(str(row["k"]), row["tool"], *[""] * len(heads), row["note"])
            continue
        aim = ""
        if row["tool"] == NORMAL and result["table"].startswith("adult"):
            aim = verdict(f"adult k={row['k']}", row)
        grid.add_row(
            str(row["k"]),
            row["tool"],
            f"{row['cpu']:.2f}",
            f"{row.get('cpu_ratio', float('nan')):.1f}",
            f"{row['peak_mb']:.0f}",
            f"{row['added_mb']:.0f}",
            f"{row['classes']:,}",
            f"{row['out']:,}",
            f"{row['loss']:.4f}",
            f"{row.get('loss_ratio', float('nan')):.2f}",
            f"{row['pub']:.4f}",
            "\n".join(text for text in (aim, row["note"]) if text),
            end_section=row["tool"] == list(PEERS)[-1],
        )
    return grid


def _checks(result: dict[str, Any]) -> Grid:
    grid = Grid(
        title=f"checkers: our k=5 release ({NORMAL})",
        caption=(
            "Definitions agree on k, distinct l and t by equal distance, the sensitive column is "
            "text. Not compared: t along a hierarchy or a missing quasi-identifier, which pycanon "
            "does not know (it drops such rows). Ours in one go, median of 5: grouping, k, l, "
            "entropy l, t, α, δ, β; pycanon's k, l and t are one call each."
        ),
    )
    for head in ("checker", "CPU s", "×", "k", "l", "t", "peak MB", "remarks"):
        grid.add_column(head, justify="left" if head in ("checker", "remarks") else "right")
    for row in result["checks"]:
        if "cpu" not in row:
            grid.add_row(row["tool"], *[""] * 6, row["note"])
            continue
        split = " ".join(f"{letter} {cpu:.2f}" for letter, cpu in row["cpu_by"].items())
        grid.add_row(
            row["tool"],
            f"{row['cpu']:.3f}",
            f"{row.get('cpu_ratio', float('nan')):.0f}",
            f"{row['k']:g}",
            f"{row['l']:g}",
            f"{row['t']:.6f}",
            f"{row['peak_mb']:.0f}",
            "; ".join(text for text in (row.get("note", ""), f"CPU s: {split}") if text),
        )
    return grid
