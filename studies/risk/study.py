"""Expected cracks Ψ and the heuristic H, on small attacks as published and on large ones.

Repeats figures 2.4, 4.1 and 4.2 of Malik, "Disclosure risk measurement of anonymized datasets after
probabilistic attacks", 2014, and adds attacks on up to 10,000 records, with the error of H at the
true mapping, which is the figure that an owner sees, beside NMAPE, its mean over all mappings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from studies.claims import Verdict
from studies.page import Drawn, Section, write_page
from studies.risk import claims
from studies.risk.charts import PICTURES
from studies.risk.large import DRAWN, KINDS, measure_large
from studies.risk.small import (
    FAMILIES,
    Q,
    all_graphs,
    all_mappings,
    mean_errors,
    random_matrices,
)
from studies.runs import Row, Task, measure_all

DRAWS = 5
MATRICES = 30_000  # of 5 × 5 and each family, over all draws
COMPARED, FULL_COMPARED = 200, 1000  # matrices of each size, family and draw
_SHOWN = 240  # points of a family and draw in a picture
_ABOUT = (
    "Ψ is the number of people that an attacker is expected to re-identify, H its quick "
    "estimate in the thesis: the sum of the true pairs' entries in the doubly stochastic "
    "matrix. NMAPE is the mean over all true mappings of the absolute error of H, as a share of "
    "n. In figure A it is exact for the crowd, estimated from 20,000 mappings otherwise, and "
    "left out where not all pairs could be solved exactly. Figure 4.2 shows the first 240 "
    "matrices of each family and draw, and the worst; the verdicts use all. Random matrices and "
    "attacks have five draws. "
)


def run(out: Path, *, full: bool, data: str) -> Path:
    """Measure, draw and judge; returns the page."""
    rows = measure_all(list(tasks(full=full)), measure, out / "runs")
    by = {figure: [row for row in rows if row["figure"] == figure] for figure in TITLES}
    drawn = [
        _section(out, "2.4", _points(by["2.4"][0]), claims.judge_graphs(by["2.4"][0])),
        _section(out, "4.1", _pairs(by["4.1"][0]), claims.judge_mappings(by["4.1"][0])),
        _section(out, "4.2", _shown(by["4.2"]), claims.judge_random(by["4.2"])),
        _section(out, "A", by["A"], claims.judge_large(by["A"])),
    ]
    sizes = "Sizes are as published." if full else "--full adds larger runs."
    return write_page(out, "Disclosure risk after attacks", _ABOUT + sizes, drawn)


TITLES = {
    "2.4": "Permanents and expected cracks of all 5 × 5 attack graphs",
    "4.1": "Ψ and H of the matrix Q for every true mapping",
    "4.2": "NMAPE of random doubly stochastic matrices",
    "A": "Beyond the thesis: H at the true mapping of large attacks",
}


def tasks(*, full: bool) -> Iterator[Task]:
    """Yield every run of the study."""
    yield {"figure": "2.4"}
    yield {"figure": "4.1"}
    compared = FULL_COMPARED if full else COMPARED
    for size in range(2, 9):
        for family in FAMILIES:
            for seed in range(DRAWS):
                labels = {"figure": "4.2", "family": family, "size": size, "seed": seed}
                matrices = MATRICES // DRAWS if size == 5 else compared
                yield {**labels, "draws": matrices, "compared": compared}
    for kind in KINDS:
        for size in (10, 100, 1000, 10_000):
            if full or kind != "no knowledge" or size < 10_000:
                for seed in range(DRAWS if kind in DRAWN else 1):
                    yield {"figure": "A", "kind": kind, "size": size, "seed": seed}


def measure(task: Task) -> Row:
    """Return the figures of one run."""
    if task["figure"] == "2.4":
        return all_graphs(5)
    if task["figure"] == "4.1":
        return all_mappings(Q)
    if task["figure"] == "A":
        return measure_large(task["kind"], task["size"], task["seed"])
    matrices = random_matrices(task["family"], task["size"], task["draws"], task["seed"])
    errors, permanents = mean_errors(matrices)
    shown = np.unique([errors.argmax(), *range(min(len(errors), _SHOWN))])
    return {
        "matrices": len(errors),
        "mean": float(errors.mean()),
        "most": float(errors.max()),
        "most_compared": float(errors[: task["compared"]].max()),
        "most_high": float(errors[permanents > 0.5].max(initial=0.0)),
        "nmape": errors[shown].tolist() if task["size"] == 5 else [],
        "permanent": permanents[shown].tolist() if task["size"] == 5 else [],
    }


def _section(out: Path, figure: str, rows: list[Row], verdicts: list[Verdict]) -> Drawn:
    """Draw a figure; of long ones the page lists some rows, from the first to the last."""
    heads = [name for name in rows[0] if name not in ("figure", "draws")]
    section = Section(figure, TITLES[figure], rows, PICTURES[figure](rows), heads)
    drawn = section.draw(out, verdicts, ".4g")
    step = 1 if figure == "A" else max(len(rows) // 60, 1)
    return replace(drawn, cells=drawn.cells[::step])


def _points(row: Row) -> list[Row]:
    listed = zip(row["permanent"], row["cracks"], row["number"], strict=True)
    return [{"permanent": p, "cracks": c, "graphs": n} for p, c, n in listed]


def _pairs(row: Row) -> list[Row]:
    listed = enumerate(zip(row["psi"], row["heuristic"], strict=True))
    return [{"mapping": place, "psi": psi, "heuristic": guess} for place, (psi, guess) in listed]


def _shown(rows: list[Row]) -> list[Row]:
    return [
        {"family": row["family"], "permanent": permanent, "nmape": error}
        for row in rows
        for permanent, error in zip(row["permanent"], row["nmape"], strict=True)
    ]
