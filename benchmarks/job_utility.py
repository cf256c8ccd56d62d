"""Job: what learning from a release of adult costs, or making the releases of a study."""

from __future__ import annotations

from itertools import islice
from typing import Any

from jobs import answer, receive
from meter import medians, metered

FOLDER, JOB = receive()

import shoal  # noqa: E402
from studies.metrics.releases import released  # noqa: E402
from studies.metrics.study import tasks_for  # noqa: E402

TIMES = 5


def main() -> None:
    measured = {"learning": learning, "predictive": predictive, "releases": releases}
    answer(FOLDER, measured[JOB["kind"]]())


def release() -> Any:
    """Return the census by Mondrian."""
    return shoal.anonymize(shoal.datasets.load("adult"), shoal.KAnonymity(5), "mondrian")


def small() -> Any:
    """Return a release of few patients, to load kernels and libraries by."""
    return shoal.anonymize(shoal.datasets.patients(500, seed=1), shoal.KAnonymity(5), "mondrian")


def learning() -> dict[str, Any]:
    """Train all models on the release, and on raw rows where asked; test them on raw ones."""
    shoal.utility.evaluate(small(), "diagnosis", folds=2, raw=False)
    made = release()
    with metered() as cost:
        found = shoal.utility.evaluate(made, "salary-class", raw=JOB["raw"])
    best = found["gradient-boosting", "auroc"]
    return {**cost, "auroc": best.value, "raw": best.raw}


def predictive() -> dict[str, Any]:
    """Estimate without training."""
    shoal.utility.predictive(small(), "diagnosis")
    made, costs, loss = release(), [], 0.0
    for _ in range(TIMES):
        with metered() as cost:
            loss = shoal.utility.predictive(made, JOB["target"])
        costs.append(cost)
    peak = max(cost["peak_mb"] for cost in costs)
    return {**medians(costs), "peak_mb": peak, "loss": loss}


def releases() -> dict[str, Any]:
    """Make releases as the study does, after a first one; fewer than it makes are scaled up."""
    tasks = tasks_for(["adult"], JOB["releases"], full=True)
    ours = (task for task in tasks if task["algorithm"] == JOB["algorithm"])
    chosen = list(islice(ours, JOB["count"]))
    released(chosen[0])
    with metered() as cost:
        for task in chosen:
            released(task)
    scale = JOB["releases"] / len(chosen)
    ks = [task["k"] for task in chosen]
    return {
        **cost,
        **{name: cost[name] * scale for name in ("cpu", "wall")},
        "releases": JOB["releases"],
        "count": len(chosen),
        "least": min(ks),
        "greatest": max(ks),
    }


main()
