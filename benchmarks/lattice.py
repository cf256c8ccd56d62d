"""Section lattice: whole lattices and the methods on them, on one core."""

from __future__ import annotations

from typing import Any

from grids import COST, Row, figure, runs_grid
from jobs import run_each
from tables import PATIENTS_INSTEAD, have_adult

LIMIT = 900
SAMPLE = 60
TIMES = 5


def measure(*, full: bool) -> dict[str, Any]:
    """Measure each line in a fresh process; with `full`, peers on a larger sample."""
    rows = run_each("job_lattice.py", dict(_jobs(full)), limit=LIMIT)
    cold = rows.get("adult 9, no kernels in store", {})
    if "first" in cold:
        cold["extra"] = cold["first"] - cold["wall"]
    return {"runs": rows, "times": TIMES}


def _jobs(full: bool) -> list[tuple[str, dict[str, Any]]]:
    if not have_adult():
        patients = {"table": "patients", "k": 5, "times": TIMES}
        every = {**patients, "kind": "nodes", "threads": 1}
        method = {**patients, "kind": "method", "options": {"max_suppression": 0.05}}
        return [
            ("patients, every node, k=5", every),
            *(
                (f"{name} patients k=5 5 %", {**method, "method": name})
                for name in ("ola", "flash")
            ),
        ]
    nine: dict[str, Any] = {"table": "adult 9", "kind": "nodes", "k": 75, "times": TIMES}
    ten = {**nine, "table": "adult 10"}
    peers = {"sample": 5 * SAMPLE if full else SAMPLE}
    return [
        ("adult 9, every node, k=75", {**nine, "threads": 1}),
        ("adult 10, every node, k=75", {**ten, "threads": 1, "times": 3}),
        ("adult 10, two threads", {**ten, "kind": "threads", "threads": 2}),
        ("adult 9, no kernels in store", {**nine, "threads": 1, "cold": True, "times": 1}),
        *(_method(name, "adult 9", k, out) for name, k, out in METHODS_ON_ADULT),
        (
            "flash adult 9 k=5 5 %, local",
            _run("flash", "adult 9", 5, {"max_suppression": 0.05, "local": True}),
        ),
        ("mondrian adult 9 k=5", _run("mondrian", "adult 9", 5, {})),
        ("mondrian adult 9 k=5, ranges", _run("mondrian", "adult 9", 5, {"hierarchies": False})),
        _method("flash", "census-income", 5, 0.05),
        *(_against_sweep("adult 9", k, out) for k, out in ((5, 0.05), (5, 0.15), (75, 0.15))),
        *_drawn_jobs(full),
        ("pandas groupby, adult 9", {**nine, **peers, "kind": "groupby"}),
        ("numpy unique, adult 9", {**nine, **peers, "kind": "unique"}),
        ("pandas groupby, adult 10", {**ten, **peers, "kind": "groupby"}),
        ("numpy unique, adult 10", {**ten, **peers, "kind": "unique"}),
    ]


METHODS_ON_ADULT = (
    ("ola", 5, 0.0),
    ("ola", 5, 0.05),
    ("ola", 75, 0.15),
    ("flash", 5, 0.0),
    ("flash", 5, 0.05),
    ("flash", 5, 0.15),
    ("flash", 75, 0.15),
    ("datafly", 5, 0.05),
    ("samarati", 5, 0.05),
    ("mingen", 5, 0.05),
    ("incognito", 5, 0.05),
)


def _method(name: str, table: str, k: int, out: float) -> tuple[str, dict[str, Any]]:
    title = f"{name} {table} k={k} {100 * out:g} %"
    return title, _run(name, table, k, {"max_suppression": out})


def _drawn_jobs(full: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return the lines of generated tables; the sweep of the larger ones takes minutes."""
    title, job = _against_sweep("60k x 8", 5, 0.05)
    lines = [
        (title, {**job, "times": 1}),
        _method("ola", "60k x 8", 5, 0.05),
        _method("flash", "30k x 11", 5, 0.05),
    ]
    large = (_method("flash", name, 5, 0.05) for name in ("1.2M x 9", "survey"))
    return [*lines, *large] if full else lines


def _against_sweep(table: str, k: int, out: float) -> tuple[str, dict[str, Any]]:
    options = {"max_suppression": out, "objective": "geometric-loss"}
    title = f"flash {table} k={k} {100 * out:g} %, geometric"
    return title, {**_run("flash", table, k, options), "kind": "against sweep"}


def _run(name: str, table: str, k: int, options: dict[str, Any]) -> dict[str, Any]:
    job = {"table": table, "kind": "method", "method": name, "options": options}
    return {**job, "k": k, "times": TIMES}


FIGURES = {
    "nodes": lambda row: f"{row['nodes']:,}" if row["nodes"] else "",
    "CPU s": lambda row: (
        f"{row['cpu']:.3f}" if row["cpu"] < 1 else f"{_about(row)}{row['cpu']:.2f}"
    ),
    "wall s": lambda row: "" if _about(row) else f"{row['wall']:.2f}",
    "peak MB": COST["peak MB"],
    "added": figure("added_mb", ",.0f"),
    "loss": figure("loss", ".4f"),
    "classes": figure("classes", ","),
}


def _about(row: Row) -> str:
    return "~" if "sample" in row else ""


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    title = "lattice: k-anonymity on one core" + ("" if have_adult() else PATIENTS_INSTEAD)
    caption = (
        f"Medians of {result['times']} runs (three for adult 10) after a first run, tables in "
        "memory, distinct tuples computed again; methods with verification. adult 9: 30,162 rows, "
        "all nine attributes; adult 10: hours-per-week too, age in 6 levels, hours in 4. "
        "~ extrapolated from a sample of nodes, whose counts agree with Shoal's; pandas groups "
        "ready columns of labels, numpy packs codes of distinct tuples. Two threads: best of "
        "runs in turn with one. 60k x 8 and 30k x 11: correlated numbers with intervals, 54,000 "
        "and 2,073,600 nodes; survey: 1.2 million rows, 25,920 nodes. Loss is `class`. MB: peak of "
        "the process, and what the call added; "
        "census-income holds 42 columns."
    )
    return [runs_grid(title, caption, result, FIGURES, _remark)]


def _remark(row: Row) -> str:
    if "gain" in row:
        return f"{row['gain']:.2f} x one thread in wall time"
    if "swept" in row:
        return f"{row['swept']:.2f} CPU s by the sweep"
    if "extra" in row:
        return f"{row['extra']:.1f} s more the first time"
    return f"sample of {row['sample']}" if "sample" in row else ""
