"""One run of the benchmark of tables larger than memory, in a process of its own.

`python benchmarks/scale_runs.py JSON` prints what it cost as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shoal
from meter import memory_together
from shoal.methods.lattice.lattice import Lattice, release_at


@dataclass(frozen=True)
class GivenNode:
    """Full-domain generalization at stated levels, without a search."""

    levels: Mapping[str, int]
    name = "given-node"
    by_tuple = True

    def search(self, table: Any, model: Any) -> Any:
        """Return the release at the node; classes that break the model are suppressed."""
        lattice = Lattice.of(table)
        node = [self.levels.get(column.name, 0) for column in lattice.columns]
        return release_at(lattice, node, model, evaluated=1)


def method_of(name: str, given: Mapping[str, Any]) -> Any:
    """Return the method that a name stands for."""
    return GivenNode(given["node"]) if name == "given-node" else name


def run(given: Mapping[str, Any]) -> dict[str, Any]:
    """Anonymize and write the table, and return the costs."""
    begun = time.perf_counter()
    settings = {"roles": given["roles"], "hierarchies": given["trees"]}
    table: Any
    if given["in_memory"]:
        table = shoal.read(given["source"], **settings)
    else:
        rows = given["partition_rows"]
        table = shoal.open(given["source"], **settings, memory=given["memory"], partition_rows=rows)
    method = method_of(given["method"], given)
    release = shoal.anonymize(table, k=given["k"], method=method, **given["options"])
    checked = release.write(given["output"], force=True)
    assert checked.holds
    if given["report"]:
        shoal.report.write_report(release, Path(given["output"]).with_suffix(".html"), force=True)
    losses = getattr(release, "losses", None) or shoal.metrics.evaluate(release, ["ncp"])
    own = resource.getrusage(resource.RUSAGE_SELF)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - begun,
        "cpu": own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime,
        "peak": own.ru_maxrss * 1024,
        "ncp": losses["ncp"],
        "classes": checked.classes,
        "released": checked.records,
        "notes": list(release.run.notes),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with memory_together() as together:
        costs = run(json.loads(sys.argv[1]))
    print(json.dumps({**costs, "together": together["peak"]}))
