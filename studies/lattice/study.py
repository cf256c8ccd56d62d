"""What differential privacy costs those who learn: releases, private regression, and both.

Repeats chapter 5 of Li, "Improving a de-identification algorithm that achieves both k-anonymity and
differential privacy", 2019, with its mechanism and with the sound one, on adult and, in place of
the Brazilian census, on census-income; holds each published figure against what was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.lattice.budget import in_a_row
from studies.lattice.methods import METHODS, run_once
from studies.lattice.nodes import best_node, good_nodes, interpolated, timed
from studies.lattice.sections import sections_of
from studies.lattice.tables import load
from studies.page import write_page
from studies.runs import Row, Task, measure_all

ALL = ("adult", "census-income")
RUNS, FULL_RUNS = 10, 50
SAMPLES = 10  # that the published mechanism is averaged over, on small lattices


def run(out: Path, *, full: bool, data: str) -> Path:
    """Measure, draw and judge; returns the page."""
    tables = ALL if data == "all" else (data,)
    rows = measure_all(list(tasks_for(tables, full=full)), measure, out / "runs")
    about = (
        f"Tables {', '.join(tables)}; total ε = 1.704 wherever it is spent, k and β as published. "
        "Fresh split and fresh draws in each run; intervals are 95 % of the mean over runs; time "
        "is CPU seconds, without reading the table. Draws have seeds, so that they can be "
        "repeated, and are for testing. Domains are those that the public tables happen to have, "
        "which a private table would have to declare. The few attributes, their hierarchies and "
        "settings are the outcome of a search over some 65 settings (18 of the regression) on "
        "the rows of adult, which no ε here pays for: there, take their figures as upper "
        "bounds; nothing was chosen by census-income. Lines as published read its penalties as "
        "percent, which is a guess, as are its ten attributes and its hierarchies. ola counts "
        "classes over quasi-identifiers alone, safe-la over the target too."
    )
    return write_page(out, "What privacy costs those who learn", about, sections_of(out, rows))


def tasks_for(tables: tuple[str, ...], *, full: bool) -> Iterator[dict[str, Any]]:
    """Yield every run of the study."""
    runs = FULL_RUNS if full else RUNS
    for table in tables:
        study = load(table)
        widths = sorted({*study.named, len(study.wide.quasi)})
        for attributes in widths:
            yield {"part": "time", "table": table, "attributes": attributes}
            for score in ("published", "expected"):
                told = {"table": table, "attributes": attributes, "score": score}
                yield {"part": "good", **told}
                yield {"part": "interpolation", **told}
        for lattice in ("reference", "wide") if table == "adult" else ("wide",):
            for score in ("published", "kept", "expected"):
                yield {"part": "best", "table": table, "lattice": lattice, "score": score}
        for seed in range(runs):
            for method in METHODS:
                yield {"part": "learning", "table": table, "method": method, "seed": seed}
            yield {"part": "row", "table": table, "seed": seed}


def measure(task: Task) -> Row:
    """Run one task."""
    study = load(task["table"])
    part = task["part"]
    if part == "learning":
        return run_once(study, task["method"], task["seed"])
    if part == "row":
        return in_a_row(study, task["seed"])
    if part == "best":
        return best_node(study, task["lattice"], task["score"])
    attributes = task["attributes"]
    if part == "time":
        return timed(study, attributes)
    if part == "interpolation":
        return interpolated(study, attributes, task["score"])
    few = len(study.named.get(attributes, study.wide.quasi)) <= 6
    return good_nodes(study, attributes, task["score"], SAMPLES if few else 1)
