"""Published cells as numbers: the two ends of a range, for analysis.

The ends follow from the label only: a cell that shows an interval of a hierarchy has the ends of
the interval, not those of its original values, and a hidden cell has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Kind
from shoal.core.hierarchies.hierarchy import ROOT
from shoal.core.labels import member_bounds
from shoal.core.recoding import Recoding
from shoal.errors import InputError, unknown
from shoal.support.arrays import Codes, Floats

Cells = Literal["text", "bounds", "interval"]
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def check_cells(cells: str) -> None:
    """Reject an unknown form of cells."""
    if cells not in get_args(Cells):
        raise unknown("no form of cells", cells, get_args(Cells))


def published_bounds(recoding: Recoding) -> tuple[Floats, Floats]:
    """(entries,) least and greatest number that each label allows, NaN if it states none."""
    low, high = (recoding.column.to_numbers(ends) for ends in _bound_positions(recoding))
    return low, high


def _bound_positions(recoding: Recoding) -> tuple[Floats, Floats]:
    """(entries,) the same as positions on the column's ruler."""
    column, subsets = recoding.column, recoding.subsets
    low, high = (ends.copy() for ends in member_bounds(column, subsets))
    heights = np.zeros(len(subsets), np.int32) if recoding.levels is None else recoding.levels
    for height in np.unique(heights[heights > 0]).tolist():
        entries = np.flatnonzero(heights == height)
        level = column.hierarchy.levels[height] if column.hierarchy else None
        if level is None or level.bounds is None:
            low[entries] = high[entries] = np.nan  # a name states no numbers
            continue
        groups = level.groups[subsets.first[entries]]
        low[entries], high[entries] = level.bounds[groups, 0], level.bounds[groups, 1]
    hidden = subsets.whole & np.array([text == ROOT for text in recoding.labels])
    low[hidden] = high[hidden] = np.nan
    return low, high


def with_bounds(data: Any, recodings: Mapping[str, Recoding], rows: Any) -> Any:
    """Return published rows with two columns, NAME_low and NAME_high, for each numeric one.

    Parameters:
        rows: The positions of the published rows in the original.
    """
    columns: dict[str, Any] = {}
    for name in data.column_names:
        recoding = recodings.get(name)
        if recoding is None or recoding.column.kind is not Kind.NUMERIC:
            columns[name] = data.column(name)
            continue
        codes = pa.array(recoding.codes[rows])
        for ending, ends in zip(("low", "high"), _typed_bounds(recoding), strict=True):
            if f"{name}_{ending}" in data.column_names:
                raise InputError(
                    f"column {name!r} cannot be split into bounds because column "
                    f"'{name}_{ending}' exists; rename that column"
                )
            columns[f"{name}_{ending}"] = ends.take(codes)
    return pa.table(columns)


def with_intervals(frame: Any, recodings: Mapping[str, Recoding], rows: Any) -> Any:
    """Return a pandas frame of published rows whose numeric columns hold intervals.

    Both ends belong to an interval; a hidden or missing cell is missing.
    """
    import pandas as pd

    for name, recoding in recodings.items():
        if recoding.column.kind is Kind.NUMERIC and name in frame.columns:
            low, high = (ends.to_pandas() for ends in _typed_bounds(recoding))
            if pa.types.is_date(recoding.column.values.type):
                low, high = pd.to_datetime(low), pd.to_datetime(high)
            made = pd.arrays.IntervalArray.from_arrays(low, high, closed="both")
            frame[name] = made.take(recoding.codes[rows])
    return frame


def _typed_bounds(recoding: Recoding) -> tuple[Any, Any]:
    """Return the ends of each entry as values: exactly where they occur, decimals as floats."""
    column, subsets = recoding.column, recoding.subsets
    codes = (subsets.first, subsets.last_below(column.known))
    low, high = (
        _typed(column, bounds, ends)
        for bounds, ends in zip(_bound_positions(recoding), codes, strict=True)
    )
    return low, high


def _typed(column: Column, bounds: Floats, codes: Codes) -> Any:
    """Return positions as values; those of the given codes are taken from the column."""
    kind = column.values.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return pa.array(column.to_numbers(bounds), pa.float64(), from_pandas=True)
    ticks = _TICKS[kind.unit] if hasattr(kind, "unit") and not pa.types.is_date(kind) else 1
    number = column.ruler.number
    whole = [None if np.isnan(end) else round(number(end) * ticks) for end in bounds.tolist()]
    if pa.types.is_date(kind):
        return pa.array(whole, pa.int32()).cast(pa.date32())
    narrow = pa.types.is_time32(kind)
    made = pa.array(whole, pa.int32() if narrow else pa.int64()).cast(kind)
    if not column.known:
        return made
    held = (codes >= 0) & (column.positions[np.maximum(codes, 0)] == bounds)
    return pc.if_else(pa.array(held), column.values.take(pa.array(codes, mask=~held)), made)
