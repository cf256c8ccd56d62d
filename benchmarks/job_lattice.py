"""Job: one measurement of the lattice methods; reading the table is not counted."""

from __future__ import annotations

import os
import statistics
import sys
from dataclasses import replace
from typing import Any

from jobs import answer, receive
from meter import metered

FOLDER, JOB = receive()
if "kernels" in JOB:
    os.environ["NUMBA_CACHE_DIR"] = JOB["kernels"]
if JOB.get("threads", 1) == 1 and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, whatever is asked for

import numpy as np  # noqa: E402

import shoal  # noqa: E402
from shoal.anonymize.lattice.lattice import Lattice  # noqa: E402
from tables import lattice_table  # noqa: E402


def main() -> None:
    table = lattice_table(JOB["table"])
    measured = {
        "nodes": every_node,
        "threads": two_threads,
        "method": method,
        "groupby": groupby,
        "unique": unique,
    }
    answer(FOLDER, measured[JOB["kind"]](table))


def every_node(table: shoal.Table) -> dict[str, Any]:
    """Measure all nodes, the table new each time, so that its distinct tuples are found again."""
    return {
        **repeated(lambda: Lattice.of(replace(table)).measure(JOB["k"], threads=JOB["threads"])),
        "nodes": Lattice.of(table).nodes,
    }


def two_threads(table: shoal.Table) -> dict[str, Any]:
    """Measure all nodes with one thread and with two, in turn; the best of each is compared."""
    costs: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    Lattice.of(table).measure(JOB["k"])
    for _ in range(JOB["times"]):
        for threads, runs in costs.items():
            with metered() as cost:
                Lattice.of(replace(table)).measure(JOB["k"], threads=threads)
            runs.append(cost)
    alone, both = (min(runs, key=lambda cost: cost["wall"]) for runs in costs.values())
    return {**both, "gain": alone["wall"] / both["wall"], "nodes": Lattice.of(table).nodes}


def method(table: shoal.Table) -> dict[str, Any]:
    """Run a method through the front door, verification included."""
    releases = []

    def run() -> None:
        model = shoal.KAnonymity(JOB["k"])
        releases.append(shoal.anonymize(replace(table), model, JOB["method"], **JOB["options"]))

    cost = repeated(run)
    release = releases[-1]
    return {
        **cost,
        "nodes": Lattice.of(table).nodes if release.node else None,
        "rows": len(table),
        "loss": shoal.metrics.class_loss(release),
        "pub": shoal.metrics.published_loss(release),
        "classes": len(release.classes),
        "suppressed": release.classes.suppressed,
        "evaluated": release.evaluated,
    }


def repeated(call: Any) -> dict[str, float]:
    """Return the median cost of some calls after a first one, and the first one's wall seconds."""
    with metered() as first:
        call()
    costs = [first] if JOB["times"] == 0 else []
    for _ in range(JOB["times"]):
        with metered() as cost:
            call()
        costs.append(cost)
    told = {
        name: statistics.median(cost[name] for cost in costs)
        for name in ("cpu", "wall", "added_mb")
    }
    return {**told, "peak_mb": max(c["peak_mb"] for c in [first, *costs]), "first": first["wall"]}


def sample(lattice: Lattice) -> list[tuple[int, ...]]:
    """Draw nodes at random, the same ones each time."""
    picked = np.random.default_rng(0).choice(lattice.nodes, JOB["sample"], replace=False)
    return [tuple(int(i) for i in np.unravel_index(n, lattice.shape)) for n in picked]


def groupby(table: shoal.Table) -> dict[str, Any]:
    """Count the classes of some nodes with pandas, from columns of labels as people have them."""
    import pandas

    lattice = Lattice.of(table)
    columns = {  # every level of every attribute, ready to be grouped by
        (c.name, level): pandas.Series(np.array(tree.labels)[tree.groups[c.codes]])
        for c in lattice.columns
        if c.hierarchy is not None
        for level, tree in enumerate(c.hierarchy.levels)
    }
    nodes = sample(lattice)
    with metered() as cost:
        found = []
        for node in nodes:
            keys = [columns[name, level] for name, level in lattice.named(node).items()]
            sizes = keys[0].groupby(keys, sort=False, observed=True).size()
            found.append(int(sizes[sizes < JOB["k"]].sum()))
    return extrapolated(lattice, nodes, found, cost)


def unique(table: shoal.Table) -> dict[str, Any]:
    """Count the classes of some nodes with numpy: codes packed into one number, then unique."""
    lattice = Lattice.of(table)
    distinct = table.distinct().table
    nodes = sample(lattice)
    with metered() as cost:
        found = []
        for node in nodes:
            packed = np.zeros(len(distinct), dtype=np.int64)
            for codes, domain in zip(
                lattice.codes(node, distinct), lattice.domains(node), strict=True
            ):
                packed = packed * domain + codes
            _, ids = np.unique(packed, return_inverse=True)
            sizes = np.bincount(ids, weights=distinct.counts)
            found.append(int(sizes[sizes < JOB["k"]].sum()))
    return extrapolated(lattice, nodes, found, cost)


def extrapolated(
    lattice: Lattice, nodes: list[tuple[int, ...]], found: list[int], cost: dict[str, float]
) -> dict[str, Any]:
    """Scale a sample's cost to the whole lattice, once its counts agree with Shoal's."""
    suppressed = lattice.measure(JOB["k"], threads=1).suppressed
    if [int(suppressed[node]) for node in nodes] != found:
        sys.exit("the counts of the sample differ from Shoal's")
    grown = lattice.nodes / len(nodes)
    return {
        "cpu": grown * cost["cpu"],
        "wall": grown * cost["wall"],
        "peak_mb": cost["peak_mb"],
        "added_mb": cost["added_mb"],
        "nodes": lattice.nodes,
        "sample": len(nodes),
    }


main()
