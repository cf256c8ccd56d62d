"""The published cells of a release, and the check of its model on them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.core.column import Column, Role
from shoal.core.coverage import Coverage
from shoal.core.linked_rows import link_rows
from shoal.core.population_fit import PopulationFit
from shoal.core.values.spelled import fitted
from shoal.core.verification import Verification, bound_people, recount
from shoal.support.arrays import Counts

if TYPE_CHECKING:
    from shoal.core.release import Release


def published_cells(release: Release, rows: Any, *, spelled: bool) -> Any:
    """Return the published cells of some rows of the original, as dictionaries.

    Parameters: as for `Release.published_cells`.
    """
    cells = {}
    for column in release.original.columns:
        if column.name in release.replaced:
            cells[column.name] = release.replaced[column.name].take(rows)
        if column.role is Role.IDENTIFIER:
            continue
        kept = column.spelling is not None
        cells[column.name] = _cells_of(release, column, rows, as_text=spelled and kept)
        if kept and not spelled:
            texts = _cells_of(release, column, rows, as_text=True)
            cells[column.name] = fitted(cells[column.name], texts)
    return pa.table(cells)


def _cells_of(release: Release, column: Column, rows: Any, *, as_text: bool) -> Any:
    """Return the published cells of one column."""
    if column.role is not Role.QUASI:
        return column.take(rows).to_arrow(as_text=as_text)
    coarse = release.withheld and release.node is not None and release.node[column.name] > 0
    return release.recodings[column.name].published(rows, as_text=coarse or as_text)


def check_published(
    release: Release, published: Any, rows: Counts, counts: Counts | None = None
) -> Verification:
    """Check the model of a release on published rows.

    Parameters:
        published: The rows.
        rows: Their positions in the original.
        counts: How often each row is published, None if once.
    """

    @cache
    def coverage() -> Coverage:
        return release.coverage.take(rows)

    links = [name for name, each in release.replaced.items() if each.links]
    fit = partial(PopulationFit.of, release, rows)
    model = release.model
    origin = link_rows(
        release.original, [release.replaced[name].cells for name in links], as_profiles=False
    )
    found = recount(published, release.original, model, rows, coverage, links, counts, fit, origin)
    if found.holds and release.shown is not release:
        by_row = recount(published, release.shown.original, model, rows, counts=counts)
        found = bound_people(by_row, model, release.rows_per_person)
    truthful = all(
        each.column.has_same_cells(release.original[name]) and each.truthful()
        for name, each in release.recodings.items()
    )
    return replace(found, truthful=truthful and found.records == release.released_records)
