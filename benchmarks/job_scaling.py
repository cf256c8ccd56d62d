"""Job: anonymize a generated table of a given size; generating it is not counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from jobs import answer, receive
from meter import cpu_seconds, metered
from shoal.support.progress import Progress, listening
from tables import wide


def load(job: dict[str, Any]) -> shoal.Table:
    if job["table"] == "patients":
        return shoal.datasets.patients(job["rows"], seed=job["seed"])
    columns = {name: pa.array(codes) for name, codes in wide(job["rows"], job["seed"]).items()}
    roles = {
        name: {"role": "quasi", "kind": "numeric" if name == "age" else "nominal"}
        for name in columns
    }
    return shoal.Table.from_arrow(pa.table(columns), roles)


def main() -> None:
    folder, job = receive()
    table, model = load(job), shoal.KAnonymity(5)
    options: dict[str, Any] = {"hierarchies": False, "effort": "normal"}
    shoal.anonymize(table.take(np.arange(500)), model, **options)  # loads the kernels
    begun: dict[str, float] = {}

    def note(progress: Progress) -> None:
        begun.setdefault(progress.stage, cpu_seconds())

    with metered() as cost, listening(note):
        release = shoal.anonymize(table, model, **options)
    cost["verify"] = cost["cpu"] - (begun["verify"] - begun["search"])
    cost["search"] = cost["cpu"] - cost["verify"]
    result = {
        **cost,
        "rows": len(table),
        "distinct": len(table.distinct()),
        "classes": len(release.classes),
        "loss": shoal.metrics.class_loss(release),
        "seconds": dict(release.run.seconds),
    }
    answer(folder, result)


main()
