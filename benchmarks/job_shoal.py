"""Job: anonymize the shared table with Shoal; report cost, cells and Shoal's own losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import shoal
from jobs import answer, receive
from meter import medians, metered
from shoal.table.column import Role
from shoal.table.hierarchy import Hierarchy

REPEATS = 3


def load(job: dict[str, Any]) -> shoal.Table:
    specs: dict[str, Any] = {job["sensitive"]: {"role": Role.SENSITIVE, "kind": "nominal"}}
    for name in job["quasi"]:
        kind = "numeric" if name in job["numbers"] else "nominal"
        tree = Hierarchy.read(job["hierarchies"][name])
        specs[name] = {"role": Role.QUASI, "kind": kind, "hierarchy": tree}
    texts = [name for name in specs if name not in job["numbers"]]
    as_text = csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    return shoal.Table.from_arrow(csv.read_csv(job["table"], convert_options=as_text), specs)


def published(release: shoal.Release) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return, column by column, the label of each row and the values that each label admits."""
    cells, entries = {}, {}
    for name, recoding in release.recodings.items():
        admitted: dict[str | None, set[Any]] = {}
        for entry, label in enumerate(recoding.labels):
            members = recoding.subsets.members(entry)
            values = recoding.column.values.take(members).to_pylist()
            admitted.setdefault(label, set()).update(values)
        place = {label: i for i, label in enumerate(admitted)}
        by_entry = np.array([place[label] for label in recoding.labels])
        cells[name] = by_entry[recoding.codes]
        if release.suppressed is not None:
            cells[name][release.suppressed] = -1
        entries[name] = [sorted(values) for values in admitted.values()]
    return cells, entries


def main() -> None:
    folder, job = receive()
    table, model = load(job), shoal.KAnonymity(job["k"])
    shoal.anonymize(table.take(np.arange(500)), model, **job["options"])  # loads the kernels
    costs = []
    for _ in range(REPEATS):
        fresh = table.take(slice(None))  # a table remembers its distinct tuples
        with metered() as cost:
            release = shoal.anonymize(fresh, model, **job["options"])
        costs.append(cost)
    cells, entries = published(release)
    np.savez(folder / "cells.npz", **cells)
    release.write(folder / "release.csv", force=True)
    own = {**shoal.metrics.evaluate(release), "classes": len(release.classes)}
    answer(folder, {"cost": medians(costs), "entries": entries, "own": own})


main()
