"""What differential privacy costs a learner: releases, private regression, and both.

Repeats chapter 5 of Li, "Improving a de-identification algorithm that achieves both k-anonymity and
differential privacy", 2019, with its mechanism and with the sound one, on adult and, in place of
the Brazilian census, on census-income.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from studies.lattice import published, six
from studies.lattice.budget import in_a_row
from studies.lattice.deltas import measure_deltas
from studies.lattice.methods import METHODS, run_once
from studies.lattice.nodes import best_node, good_nodes, interpolated, timed
from studies.lattice.sections import sections_of
from studies.lattice.tables import load
from studies.page import write_page
from studies.runs import Row, Task, measure_all

ALL = ("adult", "census-income")
RUNS, FULL_RUNS = 10, 50
DRAWS, FULL_DRAWS = 5, 10  # of rows, for the probabilities of nodes


def run(out: Path, *, full: bool, data: str) -> Path:
    """Measure, draw and judge; returns the page."""
    tables = ALL if data == "all" else (data,)
    rows = measure_all(list(tasks_for(tables, full=full)), measure, out / "runs")
    about = (
        f"Tables {', '.join(tables)}; total ε = 1.704 wherever it is spent, k and β as published. "
        "Each run has its own split and draws; intervals are 95 % of the mean over runs. Time is "
        "CPU seconds, without reading the table. Draws have seeds, so that they can be repeated, "
        "which is for testing only. Domains are those of the public tables; a private table would "
        "have to declare them. The few attributes, their hierarchies and settings are the result "
        "of a search over some 65 settings (18 of the regression) on the rows of adult, which no "
        "ε here pays for: on adult, read their figures as upper bounds; nothing was chosen on "
        "census-income. Lines as published read the published penalties as percent, which is a "
        "guess, as are the ten attributes and the hierarchies. ola counts classes over "
        "quasi-identifiers alone, safe-la over the target too. "
        f"{len({row['seed'] for row in rows if row['part'] == 'learning'})} runs of each method, "
        f"{len({row['seed'] for row in rows if row['part'] == 'good'})} draws of rows for the "
        "probabilities of nodes; --full has "
        f"{FULL_RUNS} and {FULL_DRAWS}."
    )
    return write_page(
        out, "What differential privacy costs a learner", about, sections_of(out, rows)
    )


def tasks_for(tables: tuple[str, ...], *, full: bool) -> Iterator[dict[str, Any]]:
    """Yield every run of the study."""
    runs, draws = (FULL_RUNS, FULL_DRAWS) if full else (RUNS, DRAWS)
    for table in tables:
        study = load(table)
        widths = sorted({*study.named, len(study.wide.quasi)})
        for attributes, seed in product(widths, range(draws)):
            labels = {"table": table, "attributes": attributes, "seed": seed}
            yield {"part": "time", **labels}
            for score in ("published", "expected"):
                yield {"part": "good", **labels, "score": score}
                yield {"part": "interpolation", **labels, "score": score}
        for lattice in ("reference", "wide") if table == "adult" else ("wide",):
            for score in ("published", "kept", "expected"):
                exact = lattice == "reference" and score != "published"  # all rows, no sample
                for seed in range(1 if exact else draws):
                    labels = {"table": table, "lattice": lattice, "seed": seed}
                    yield {"part": "best", **labels, "score": score}
        for seed in range(runs):
            for method in METHODS:
                yield {"part": "learning", "table": table, "method": method, "seed": seed}
            yield {"part": "row", "table": table, "seed": seed}
        if six.ATTRIBUTES in study.named:
            for seed, method in product(range(runs), six.METHODS):
                yield {"part": "six", "table": table, "method": method, "seed": seed}
    for printed in published.DELTAS:
        yield {"part": "delta", "printed": printed}


def measure(task: Task) -> Row:
    """Run one task."""
    part = task["part"]
    if part == "delta":
        return measure_deltas(task["printed"])
    study = load(task["table"])
    if part == "six":
        return six.learn_from_six(study, task["method"], task["seed"])
    if part == "learning":
        return run_once(study, task["method"], task["seed"])
    if part == "row":
        return in_a_row(study, task["seed"])
    if part == "best":
        return best_node(study, task["lattice"], task["score"], task["seed"])
    attributes, seed = task["attributes"], task["seed"]
    if part == "time":
        return timed(study, attributes, seed)
    if part == "interpolation":
        return interpolated(study, attributes, task["score"], seed)
    return good_nodes(study, attributes, task["score"], seed)
