"""Job: one measurement of the lattice methods; reading the table is not counted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jobs import answer, receive
from meter import best_in_turn, medians, metered, on_one_core, repeated

FOLDER, JOB = receive()
if JOB.get("cold", False):
    os.environ["NUMBA_CACHE_DIR"] = str(FOLDER / "kernels")
if JOB.get("threads", 1) == 1:
    on_one_core()

import numpy as np  # noqa: E402

import shoal  # noqa: E402
from shoal.methods.lattice.lattice import Lattice  # noqa: E402
from tables import lattice_table  # noqa: E402


def main() -> None:
    table = lattice_table(JOB["table"])
    measured = {
        "nodes": every_node,
        "threads": two_threads,
        "method": method,
        "against sweep": against_sweep,
        "groupby": groupby,
        "unique": unique,
    }
    answer(FOLDER, measured[JOB["kind"]](table))


def every_node(table: shoal.Table) -> dict[str, Any]:
    """Measure all nodes, with a new table each time whose distinct tuples are computed again."""
    return {
        **after_a_first(
            lambda: Lattice.of(replace(table)).measure(JOB["k"], threads=JOB["threads"])
        ),
        "nodes": Lattice.of(table).nodes,
    }


def two_threads(table: shoal.Table) -> dict[str, Any]:
    """Measure all nodes with one thread and with two."""
    Lattice.of(table).measure(JOB["k"])
    cost = best_in_turn(
        lambda threads: Lattice.of(replace(table)).measure(JOB["k"], threads=threads), JOB["times"]
    )
    return {**cost, "nodes": Lattice.of(table).nodes}


def method(table: shoal.Table) -> dict[str, Any]:
    """Run a method with `shoal.anonymize`, verification included."""
    latest: list[Any] = [None]

    def run() -> None:
        latest[0] = None  # a release of an earlier run is not part of the cost
        model = shoal.KAnonymity(JOB["k"])
        latest[0] = shoal.anonymize(replace(table), model, JOB["method"], **JOB["options"])

    cost = after_a_first(run)
    release = latest[0]
    return {
        **cost,
        "nodes": Lattice.of(table).nodes if release.node else None,
        "rows": len(table),
        "loss": shoal.metrics.class_loss(release),
        "pub": shoal.metrics.published_loss(release),
        "granularity": 1 - shoal.metrics.evaluate(release, ["granularity"])["granularity"],
        "classes": len(release.classes),
        "suppressed": release.classes.suppressed,
        "evaluated": release.evaluated,
    }


def against_sweep(table: shoal.Table) -> dict[str, Any]:
    """Run flash by branch and bound, and with the sweep of all nodes instead."""
    from unittest import mock

    from shoal.methods.lattice.objectives import Costs

    boxes = method(table)
    with mock.patch.object(Costs, "rises", new=False):
        swept = method(table)
    if (swept["loss"], swept["suppressed"]) != (boxes["loss"], boxes["suppressed"]):
        sys.exit("branch and bound and the sweep choose different nodes")
    return {**boxes, "peak_mb": swept["peak_mb"], "swept": swept["cpu"]}


def after_a_first(call: Callable[[], object]) -> dict[str, float]:
    """Return the median cost of some calls after a first one, and the first one's wall seconds."""
    first, *costs = repeated(call, 1 + JOB["times"])
    peak = max(cost["peak_mb"] for cost in (first, *costs))
    return {**medians(costs), "peak_mb": peak, "first": first["wall"]}


def sample(lattice: Lattice) -> list[tuple[int, ...]]:
    """Draw nodes at random, the same ones each time."""
    picked = np.random.default_rng(0).choice(lattice.nodes, JOB["sample"], replace=False)
    return [tuple(int(i) for i in np.unravel_index(n, lattice.shape)) for n in picked]


def groupby(table: shoal.Table) -> dict[str, Any]:
    """Count the classes of some nodes with pandas, from columns of labels."""
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
