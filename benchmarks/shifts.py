"""Section shifts: what an attacker rules out about shifted dates of people.

People visit on working days of a known period. The attacker sees the shifted dates only, and counts
the shifts that are still possible for each person.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table as Grid

from shoal.identifiers import Context, Key, Shift

PEOPLE, VISITS, DAYS = 888, 4_000, 365
FIRST, LAST = np.datetime64("2023-01-01"), np.datetime64("2024-12-31")
FEW = 30  # shifts
KEY = Key(bytes(range(32)))


def measure(*, full: bool) -> dict[str, Any]:
    """Return what is left of shifts by days and by whole weeks, over the same visits."""
    rng = np.random.default_rng(0)
    people = np.concatenate([np.arange(PEOPLE), rng.integers(0, PEOPLE, VISITS - PEOPLE)])
    calendar = np.arange(FIRST, LAST + 1)
    days = rng.choice(calendar[np.is_busday(calendar)], VISITS)
    context = Context(KEY, "benchmark", pa.array(people.astype("U4")))
    found = {}
    for name, shift in {
        "days": Shift(days=DAYS),
        "whole weeks": Shift(days=DAYS, whole_weeks=True),
    }.items():
        cells = shift.publish("visit", pa.array(days), context).cells
        published = cells.to_numpy(zero_copy_only=False).astype("datetime64[D]")
        step = 7 if shift.whole_weeks else 1
        shifts = np.array([d for d in range(-(DAYS // step) * step, DAYS + 1, step) if d])
        found[name] = _attacked(people, published, shifts)
    return {"shifts": found}


def _attacked(people: Any, published: Any, shifts: Any) -> dict[str, Any]:
    """Return what the period, working days and intervals show about the people.

    shifts: all shifts that are drawn.
    """
    by_period, by_both, residues, intervals = [], [], [], []
    for person in range(PEOPLE):
        own = np.sort(published[people == person])
        originals = own[None, :] - shifts[:, None].astype("timedelta64[D]")
        inside = ((originals >= FIRST) & (originals <= LAST)).all(axis=1)
        working = np.is_busday(originals).all(axis=1)
        by_period.append(int(inside.sum()))
        by_both.append(int((inside & working).sum()))
        residues.append(len(np.unique(shifts[working] % 7)))
        if len(own) > 1:
            intervals.append(tuple(np.diff(own).astype(int)))
    counts: dict[Any, int] = {}
    for each in intervals:
        counts[each] = counts.get(each, 0) + 1
    return {
        "drawn": len(shifts),
        "period": float(np.median(by_period)),
        "period_few": sum(left < FEW for left in by_period),
        "working_known": sum(count == 1 for count in residues),
        "both": float(np.median(by_both)),
        "both_few": sum(left < FEW for left in by_both),
        "several": len(intervals),
        "unique": sum(count == 1 for count in counts.values()),
    }


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(
        title=f"shifts: {PEOPLE} people, {VISITS:,} visits on working days of two years",
        caption="Shifts that are possible, given the shifted dates of a person.",
    )
    columns = ("shift", "drawn from", "period known: median", f"people under {FEW}",
               "shift modulo 7 known", "period and working days: median", f"people under {FEW}",
               "unique by intervals")  # fmt: skip
    for column in columns:
        grid.add_column(column, justify="left" if column == "shift" else "right")
    for name, row in result["shifts"].items():
        unique = f"{row['unique']} of {row['several']}"
        cells = (row["drawn"], row["period"], row["period_few"], row["working_known"],
                 row["both"], row["both_few"], unique)  # fmt: skip
        grid.add_row(
            name, *(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells)
        )
    return [grid]
