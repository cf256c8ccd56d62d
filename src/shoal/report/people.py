"""Whom a release is about: people, households and rows, as a report states them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.release import Release
from shoal.core.tally import Tally
from shoal.core.wording import counted, people_in_rows
from shoal.report.masking import Mask


def records(release: Release, mask: Mask) -> dict[str, Any]:
    """Return how many rows and people were released and left out.

    What would be about fewer than the least count of people is told in words, and totals that
    would give it away are not told.
    """
    tally = Tally.of(release.classes)
    touched = _touched(release)
    rows = mask.rows(tally.suppressed, touched)
    people = mask.count(tally.suppressed_people)
    exact = isinstance(rows, int)
    share = mask.share(tally.suppressed, tally.records) if exact else None
    return {
        "released": tally.released,
        "suppressed": rows,
        "suppressed_share": share,
        "total": tally.records if exact else None,
        "released_people": tally.released_people,
        "suppressed_people": people,
        "total_people": tally.people if exact and isinstance(people, int) else None,
    }


def _touched(release: Release) -> int:
    """Return how many people have a row that is left out."""
    table, hidden = release.original, release.suppressed
    if hidden is None:
        return 0
    if table.person is None:
        return release.classes.suppressed
    return len(np.unique(table.person.ids[hidden]))


def unit(kept: Release) -> dict[str, Any]:
    """Return what identifies people and households, and what that says of the rows.

    kept: the released rows alone.
    """
    table = kept.original
    return {
        "person": [] if table.person is None else list(table.person.columns),
        "household": [] if table.household is None else list(table.household.columns),
        "rows_are_people": table.rows_are_people,
        "people": table.people,
        "rows": table.records,
        "households": None if table.household is None else table.household.count,
        "several_rows": table.people != table.records,
        "statement": _statement(kept),
    }


def _statement(kept: Release) -> str:
    table = kept.original
    if table.person is not None:
        named = f"person: {', '.join(table.person.columns)}"
        rows = counted(table.records, "row")
        people = counted(table.people, "person", "people")
        told = f"The release is about {people} in {rows} ({named})."
    elif table.rows_are_people:
        told = "The data owner stated that every row is a different person."
    else:
        told = "No person column was declared: each row counts as one person."
    if table.household is not None:
        named = f"household: {', '.join(table.household.columns)}"
        told += f" They belong to {counted(table.household.count, 'household')} ({named})."
    return told


def released_in_words(told: dict[str, Any]) -> str:
    """Return what is released and what is left out, as the first clause of the verdict.

    told: as `records` returns it.
    """
    rows, people = told["released"], told["released_people"]
    if rows == people:
        what = counted(rows, "record is", "records are")
    else:
        what = f"{people_in_rows(people, rows)} are"
    left = told["suppressed"]
    if left == 0:
        return f"{what} released"
    if isinstance(left, str):
        return f"{what} released, {left} left out"
    several = " rows" if rows != people else ""
    return f"{what} released, {left:,}{several} left out"
