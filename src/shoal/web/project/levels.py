"""Levels chosen by hand: what each level of a column shows, and where to begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.anonymize import anonymize
from shoal.core.column import Column
from shoal.core.table import Table
from shoal.errors import ShoalError
from shoal.privacy.expressions import parse
from shoal.web.project.desk import Desk, TableRequest
from shoal.web.project.guarantee import Guarantee

METHOD = "flash"  # it publishes stated levels instead of searching
_MAX_SEARCH_ROWS = 20_000  # of the search for levels to begin with


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of one column.

    Parameters:
        column: The column.
        examples: For each level, what is published for a common value; the last hides it.
    """

    column: str
    examples: tuple[str, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.examples) - 1


@dataclass(frozen=True)
class Offer:
    """The levels that can be chosen.

    Parameters:
        columns: The levels of each quasi-identifier.
        start: Levels that keep the guarantee, or nearly so.
    """

    columns: tuple[ColumnLevels, ...]
    start: Mapping[str, int]


def stated_levels(guarantee: Guarantee) -> dict[str, int] | None:
    """Return the levels that are chosen by hand, None if the method chooses.

    Parameters:
        guarantee: The guarantee with its method.

    >>> stated_levels(Guarantee(method="flash", options={"levels": {"age": 1}}))
    {'age': 1}
    """
    levels = guarantee.options.get("levels") if guarantee.method == METHOD else None
    return None if levels is None else dict(levels)


def offer_levels(desk: Desk, request: TableRequest, model: str, share: float) -> Offer:
    """Return what can be chosen, and levels that `flash` finds: a question to the analyst.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        model: The guarantee as text.
        share: Share of the rows that may be left out.
    """
    table = desk.table(request)
    columns = tuple(_levels(column) for column in table.quasi_columns)
    return Offer(columns, _start(table, model, share))


def _levels(column: Column) -> ColumnLevels:
    common = int(np.bincount(column.codes, minlength=column.domain).argmax())
    value = column.labels[common] or ""
    if column.hierarchy is None:
        return ColumnLevels(column.name, (value, "*"))
    shown = [level.labels[int(level.groups[common])] or "" for level in column.hierarchy.levels]
    return ColumnLevels(column.name, tuple(shown))


def _start(table: Table, model: str, share: float) -> dict[str, int]:
    """Return the levels that lose the least, found on at most 20,000 rows."""
    if len(table) > _MAX_SEARCH_ROWS:
        rows = np.random.default_rng(0).choice(len(table), _MAX_SEARCH_ROWS, replace=False)
        table = table.take(np.sort(rows))
    try:
        release = anonymize(table, parse(model), METHOD, max_suppression=share)
    except ShoalError:
        return dict.fromkeys(table.quasi, 0)
    return dict(release.node or {})


def with_level(options: Mapping[str, Any], column: str, level: int) -> dict[str, Any]:
    """Return the options of the method with another level of a column.

    Parameters:
        options: The options.
        column: The column.
        level: Its level.

    >>> with_level({"levels": {"age": 1}}, "sex", 1)
    {'levels': {'age': 1, 'sex': 1}}
    """
    return {**options, "levels": {**(options.get("levels") or {}), column: int(level)}}
