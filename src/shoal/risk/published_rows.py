"""The rows that an attacker compares: of a table, or of a release as they are published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.core.column import Column, Kind, Role
from shoal.core.publishing.writing import decoded
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.verification import published_table
from shoal.risk.population.frequencies import chosen_columns

_ENCODED = (Role.QUASI, Role.SENSITIVE)  # other columns keep their cells in row order


def rows_of(source: Release | Table, known: Sequence[str] | None = None) -> Table:
    """Return rows whose quasi-identifiers are the columns that others may know.

    Parameters:
        source: A table, or a release, of which the published rows and cells are taken.
        known: The columns, by default the quasi-identifiers.

    Raises:
        InputError: There are no columns to compare, or a column does not exist.
    """
    if isinstance(source, Release):
        return _published(source, known)
    columns = tuple(_as_quasi(source[name]) for name in chosen_columns(source, known))
    return replace(source, columns=columns)


def _published(release: Release, known: Sequence[str] | None) -> Table:
    original, rows = release.original, np.arange(len(release.original))
    if release.suppressed is not None:
        rows = np.flatnonzero(~release.suppressed)
    table = published_table(decoded(release.published_cells(rows)), original)
    kept = original.take(rows)
    return replace(
        table,
        columns=tuple(_as_quasi(table[name]) for name in chosen_columns(table, known)),
        counts=kept.counts,
        person=kept.person,
        household=kept.household,
        weights=kept.weights,
    )


def _as_quasi(column: Column) -> Column:
    if column.role in _ENCODED:
        return replace(column, role=Role.QUASI)
    return Column.encode(column.name, column.to_arrow(), Role.QUASI, Kind.NOMINAL)
