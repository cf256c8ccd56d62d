"""The people, households and rows that a release is about."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.release import Release
from shoal.core.tally import Tally
from shoal.report.masking import Mask
from shoal.support.wording import counted, people_in_rows


def records(release: Release, mask: Mask) -> dict[str, Any]:
    """Return how many rows and people were released and suppressed.

    Counts about fewer people than the mask allows are given in words, and totals that would reveal
    them are omitted.
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
    """Return how many people have a suppressed row."""
    table, hidden = release.original, release.suppressed
    if hidden is None:
        return 0
    if table.person is None:
        return release.classes.suppressed
    return len(np.unique(table.person.ids[hidden]))


def unit(kept: Release) -> dict[str, Any]:
    """Return the columns that identify people and households, and the counts that follow.

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
        statement = f"The release is about {people} in {rows} ({named})."
    elif table.rows_are_people:
        statement = "The data owner stated that every row is a different person."
    else:
        statement = "No person column was declared: each row counts as one person."
    if table.household is not None:
        named = f"household: {', '.join(table.household.columns)}"
        statement += f" They belong to {counted(table.household.count, 'household')} ({named})."
    return statement


def released_in_words(counts: dict[str, Any]) -> str:
    """Return what is released and what is suppressed, as the first clause of the verdict.

    counts: as `records` returns it.
    """
    rows, people = counts["released"], counts["released_people"]
    if rows == people:
        what = counted(rows, "record is", "records are")
    else:
        what = f"{people_in_rows(people, rows)} are"
    suppressed = counts["suppressed"]
    if suppressed == 0:
        return f"{what} released"
    if isinstance(suppressed, str):
        return f"{what} released, {suppressed} suppressed"
    several = " rows" if rows != people else ""
    return f"{what} released, {suppressed:,}{several} suppressed"
