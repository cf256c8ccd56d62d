"""Section several: what two releases of UCI Adult reveal together, by `shoal.risk.intersect`.

Seven quasi-identifiers, the occupation is sensitive, k = 5, Mondrian without hierarchies. Each
pair of releases is a mistake that data owners make: another k, another choice of columns, another
sample of the same people. Every single release verifies.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table as Grid

import shoal
from shoal.table.column import Role
from tables import have_adult

K = 5
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
SAMPLE = 0.9  # of the people in each of two deliveries, which share .81 of them


def measure(*, full: bool) -> dict[str, Any]:
    """Measure all pairs; they take seconds."""
    del full
    if not have_adult():
        return {"pairs": {}}
    table = _with_roles(shoal.datasets.load("adult"), COLUMNS)
    once = _anonymize(table, K)
    return {
        "pairs": {
            "again with k = 10": _together(once, _anonymize(table, 2 * K)),
            "other columns": _together(
                *(_all_columns(table, part) for part in (COLUMNS[:4], COLUMNS[1:2] + COLUMNS[4:]))
            ),
            "deliveries that share 81 % of the people": _together(*_deliveries(table)),
        }
    }


def _with_roles(table: shoal.Table, quasi: list[str]) -> shoal.Table:
    for column in table:
        role = Role.QUASI if column.name in quasi else Role.INSENSITIVE
        role = Role.SENSITIVE if column.name == "occupation" else role
        table = table.with_column(replace(column, role=role))
    return table


def _anonymize(table: shoal.Table, k: int) -> shoal.Release:
    return shoal.anonymize(table, shoal.KAnonymity(k), "mondrian", hierarchies=False)


def _all_columns(table: shoal.Table, quasi: list[str]) -> shoal.Release:
    """Release some of the quasi-identifiers; the others are suppressed in every row."""
    released = _anonymize(_with_roles(table, quasi), K).to_arrow()
    hidden = pa.array(["*"] * len(table))
    for name in set(COLUMNS) - set(quasi):
        released = released.set_column(released.column_names.index(name), name, hidden)
    return shoal.read_released(released, table, model=shoal.KAnonymity(K))


def _deliveries(table: shoal.Table) -> list[shoal.Release]:
    """Release two samples of the people, drawn independently."""
    rows = np.arange(len(table))
    named = table.to_arrow().append_column("row", pa.array(rows))
    roles: dict[str, Any] = {c.name: {"role": c.role} for c in table}
    original = shoal.Table.from_arrow(named, {**roles, "row": "insensitive"})
    releases = []
    for seed in range(2):
        taken = np.flatnonzero(np.random.default_rng(seed).random(len(rows)) < SAMPLE)
        release = _anonymize(original.take(taken), K)
        released = release.to_arrow()
        releases.append(shoal.read_released(released, original, key="row", model=release.model))
    return releases


def _together(*releases: shoal.Release) -> dict[str, float]:
    start = time.process_time()
    found = shoal.risk.intersect(*releases, k=K)
    people = found.together.people
    (occupation,) = [each for each in found.sensitive if each.column == "occupation"]
    return {
        "below": found.together.alike.below / people,
        "alone": found.together.alike.alone / people,
        "certain": occupation.linked / people,
        "certain before": max(occupation.alone) / people,
        "cpu": time.process_time() - start,
    }


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(
        title="two releases of adult, each with k = 5",
        caption="Share of the people in either release, for a reader who links their rows.",
    )
    grid.add_column("second release", no_wrap=True)
    for heading in ("below k", "alone", "occupation certain", "with one release", "CPU s"):
        grid.add_column(heading, justify="right")
    for name, row in result["pairs"].items():
        shares = [f"{row[key]:.1%}" for key in ("below", "alone", "certain", "certain before")]
        grid.add_row(name, *shares, f"{row['cpu']:.2f}")
    return [grid]
