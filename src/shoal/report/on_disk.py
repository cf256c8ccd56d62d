"""Releases whose rows stay on disk, as a report needs them: weighted rows in memory, and counts."""

from __future__ import annotations

from shoal.core.column import Column
from shoal.core.release import Release
from shoal.report.kept import released_only
from shoal.support.arrays import Counts


def is_coarser(column: Column) -> bool:
    """Return whether the rows of a column have one value for each group of a coarser level."""
    return column.floor > 0


def sizes_before(release: Release, rows: Release) -> tuple[Counts, Counts] | None:
    """Return the sizes of the original tuples, and how many have each; None if the rows show them.

    rows: the release in memory.
    """
    if not rows.knows("tuple"):
        return released_only(rows).original_sizes()
    if any(is_coarser(column) for column in rows.original.quasi_columns):
        found: tuple[Counts, Counts] = release.sizes_before  # type: ignore[attr-defined]
        return found
    return None
