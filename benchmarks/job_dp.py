"""Job: one measurement of differential privacy: a release, the choice of its node, the planner."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from jobs import answer, receive
from meter import medians, metered, on_one_core

FOLDER, JOB = receive()
on_one_core()

import shoal  # noqa: E402
from shoal.datasets.public import take_domains_as_public  # noqa: E402
from shoal.dp import least_k, sampling_delta  # noqa: E402
from shoal.methods.lattice.node_choice import NodeChoice  # noqa: E402
from tables import lattice_table  # noqa: E402


def main() -> None:
    answer(FOLDER, {"release": release, "node": node, "planner": planner}[JOB["kind"]]())


def release() -> dict[str, Any]:
    """Draw releases with `shoal.anonymize`, verification included, by a secure generator."""
    table, costs, rows = take_domains_as_public(lattice_table(JOB["table"])), [], 0
    method = shoal.METHODS["safe-la"](**JOB["options"])
    for _ in range(JOB["times"] + 1):
        with metered() as cost:
            made = shoal.anonymize(replace(table), shoal.KAnonymity(JOB["k"]), method)
        costs.append(cost)
        rows = made.to_arrow().num_rows
    peak = max(cost["peak_mb"] for cost in costs)
    return {**medians(costs[1:]), "peak_mb": peak, "rows": rows}


def node() -> dict[str, Any]:
    """Return the computed probability of the most likely node."""
    table = lattice_table(JOB["table"])
    with metered() as cost:
        choice = NodeChoice.of(
            table,
            k=JOB["k"],
            beta=0.7,
            epsilon=0.1,
            n0=30_000,
            score=JOB["score"],
        )
        chance = float(choice.probabilities.max())
    return {**cost, "chance": chance, "nodes": choice.lattice.nodes}


def planner() -> dict[str, Any]:
    """Return the slowest of many planner calls, none of them repeated."""
    sampling_delta(20, 0.5)
    took = []
    with metered() as cost:
        for k in (5, 20, 75, 150, 300):
            for beta in (0.1, 0.3, 0.5, 0.7, 0.9):
                begun = time.process_time()
                sampling_delta(k, beta)
                took.append(time.process_time() - begun)
        for epsilon, delta in ((0.7, 1e-6), (1.0, 1e-5), (2.0, 1e-8)):
            for beta in (0.1, 0.3, 0.5):
                begun = time.process_time()
                least_k(epsilon, delta, beta, form="tight")
                took.append(time.process_time() - begun)
    return {**cost, "slowest_ms": 1000 * max(took), "questions": len(took)}


if __name__ == "__main__":
    main()
