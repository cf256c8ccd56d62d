"""Job: the expected number of people found in a release, once it is made and kernels are loaded."""

from __future__ import annotations

from typing import Any

from jobs import answer, receive
from meter import metered

FOLDER, JOB = receive()

import numpy as np  # noqa: E402

import shoal  # noqa: E402
from shoal.risk import cracks  # noqa: E402

HALVINGS = 12


def main() -> None:
    if JOB["table"] == "adult":
        table = shoal.datasets.load("adult")
    else:
        table = shoal.datasets.patients(JOB["rows"], seed=1)
    release = _release(table)
    _load_kernels()
    with metered() as cost:
        found = shoal.risk.assess(release, JOB.get("known"), half_width=JOB["target"], seed=1)
    figures = {"value": found.value, "low": found.low, "high": found.high, "way": found.method}
    naive = float((found.counts / np.maximum(found.candidates, 1)).sum())
    answer(FOLDER, {**cost, **figures, "classes": len(release.classes), "naive": naive})


def _release(table: Any) -> Any:
    model = shoal.KAnonymity(JOB["k"])
    if JOB["method"] != "halves":
        return shoal.anonymize(table, model, JOB["method"], seed=1)
    ids = np.zeros(len(table), dtype=np.int32)
    codes = np.stack([column.codes for column in table.quasi_columns], axis=1)
    domains = np.array([column.domain for column in table.quasi_columns])
    for _ in range(HALVINGS):
        ids = 2 * ids
        for group in np.unique(ids):
            rows = np.flatnonzero(ids == group)
            spread = (codes[rows].max(axis=0) - codes[rows].min(axis=0)) / domains
            order = np.argsort(codes[rows, spread.argmax()], kind="stable")
            ids[rows[order[len(rows) // 2 :]]] += 1
    return shoal.Release.of_groups(table, ids, 1 << HALVINGS, model, use_hierarchies=False)


def _load_kernels() -> None:
    """Assess a small table exactly, and by a walk."""
    small = shoal.anonymize(shoal.datasets.patients(300, seed=1), shoal.KAnonymity(5), "greedy")
    shoal.risk.assess(small, seed=1)
    cheap, cracks._MAX_SECONDS = cracks._MAX_SECONDS, -1.0  # nothing is solved exactly
    shoal.risk.assess(small, ["birth_date", "sex"], half_width=0.1, seed=1)
    cracks._MAX_SECONDS = cheap


main()
