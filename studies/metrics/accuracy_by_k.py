"""Figure 3.4: the accuracy of one model by k, which decides the range of k in the study.

de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, 3.3.3:
nearest neighbours, trained on releases of one table by Mondrian.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from shoal.report.charts import SOFT
from shoal.utility import evaluate
from studies.claims import Answer
from studies.metrics.analysis import Analysis
from studies.metrics.releases import FOLDS, MODELS, MONDRIANS, TABLES, released
from studies.page import Picture, Section
from studies.runs import Row, Task, groups
from studies.verdicts import Range, at_most, below, decide, estimate_mean, near

TABLE = "cmc"
SMALL_K, FLAT_K = 2, 20  # accuracy is said to fall from the one to the other, and not beyond
K_VALUES = (2, 3, 5, 10, 15, 20, 30, 40, 60, 80, 100)
DRAWS, FULL_DRAWS = 10, 20
NOISE = 0.02  # a change of accuracy up to which it is the same
LITTLE = 0.05  # accuracy above the most frequent class that counts as little
_APART = 10_000_000  # seeds that no release of the other figures has


def tasks_for(*, full: bool) -> Iterator[Task]:
    """Yield the releases of the figure: the orders of a draw are the same for every k."""
    for k in K_VALUES:
        for draw in range(FULL_DRAWS if full else DRAWS):
            yield {
                "table": TABLE,
                "algorithm": "mondrian",
                "options": MONDRIANS["mondrian"],
                "k": k,
                "draw": draw,
                "seed": _APART + draw,
                "rows": None,
                "folds": FOLDS,
            }


def measure(task: Task) -> Row:
    """Return the accuracy of nearest neighbours, and the share of the most frequent class."""
    release, target, model = released(task), TABLES[task["table"]], MODELS["knn"]
    found = evaluate(release, target, models=[model], folds=task["folds"], raw=False)
    shares = np.bincount(release.original[target].codes)
    baseline = float(shares.max() / shares.sum())
    return {"accuracy": found[model, "accuracy"].value, "baseline": baseline}


def section_of(rows: Sequence[Row]) -> Section:
    """Return the mean accuracy by k, with its interval over draws."""
    found = []
    for (k,), part in groups(rows, "k"):
        each = estimate_mean([row["accuracy"] for row in part])
        ends = {"accuracy": each.value, "low": each.low, "high": each.high}
        found.append({"k": k, **ends, "baseline": part[0]["baseline"]})
    title = "Accuracy of nearest neighbours by k, Mondrian on cmc"
    pictures = [Picture(_chart(found), title)] if found else []
    return Section("3.4", title, found, pictures, ["k", "accuracy", "low", "high", "baseline"])


def _chart(rows: Sequence[Row]) -> Any:
    import altair as alt

    base_chart = alt.Chart(alt.Data(values=list(rows))).encode(x="k:Q")
    zoomed = alt.Scale(zero=False)
    return (
        base_chart.mark_line(point=True, strokeWidth=2).encode(y=alt.Y("accuracy:Q", scale=zoomed))
        + base_chart.mark_rule().encode(y="low:Q", y2="high:Q")
        + base_chart.mark_line(color=SOFT, strokeDash=[4, 4]).encode(y="baseline:Q")
    ).properties(width=460, height=220)


def falls(found: Analysis) -> Answer:
    """Test whether accuracy falls from the smallest k to that from which it is flat."""
    return _change(found, SMALL_K, FLAT_K, below(0))


def flat(found: Analysis) -> Answer:
    """Test whether accuracy is the same from there on."""
    return _change(found, FLAT_K, max(K_VALUES), near(0, NOISE))


def _change(found: Analysis, one: int, other: int, claimed: Range) -> Answer:
    by_draw = {(row["k"], row["draw"]): row["accuracy"] for row in found.by_k}
    draws = sorted({draw for _, draw in by_draw})
    change = estimate_mean([by_draw[other, draw] - by_draw[one, draw] for draw in draws])
    return decide(change, claimed), (
        f"accuracy at k = {other} less that at k = {one}: {change.text('+.3f')}"
    )


def little_left(found: Analysis) -> Answer:
    """Test how far accuracy beyond that k exceeds the most frequent class."""
    gains = [
        fmean(row["accuracy"] - row["baseline"] for row in part if row["k"] > FLAT_K)
        for _, part in groups(found.by_k, "draw")
    ]
    gain = estimate_mean(gains)
    return decide(gain, at_most(LITTLE)), (
        f"mean accuracy beyond k = {FLAT_K} less the share of the most frequent class: "
        f"{gain.text('+.3f')}"
    )
