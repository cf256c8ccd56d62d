"""How a subset is published: its text, and the bounds that the text gives away."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Floats, frozen
from shoal.core.column import Column, Kind
from shoal.core.hierarchy import ROOT
from shoal.core.subsets import Subsets


def range_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return ranges as text: `7`, `[3, 7]`, `[3, 7] or missing`, `*` for all."""
    last = subsets.last_below(column.known)
    missing = np.zeros(len(subsets), dtype=np.bool_)
    if column.missing is not None:
        missing = subsets.last == column.missing
    return tuple(
        ROOT if whole and column.domain > 1 else _range_text(column.labels, int(f), int(e), bool(m))
        for f, e, m, whole in zip(subsets.first, last, missing, subsets.whole, strict=True)
    )


def _range_text(texts: tuple[str | None, ...], first: int, last: int, missing: bool) -> str | None:
    if last < 0:
        return None
    text = texts[first] if first == last else f"[{texts[first]}, {texts[last]}]"
    return f"{text} or missing" if missing else text


def set_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return sets as text: `a`, `{a, b}`, `*` for all."""
    indptr, members = subsets.flat()
    shown = pa.array(column.labels, pa.string()).fill_null("missing")
    listed = pa.ListArray.from_arrays(pa.array(indptr, pa.int32()), shown.take(pa.array(members)))
    joined = pc.binary_join(listed, ", ")
    braced = pc.binary_join_element_wise("{", joined, "}", "").to_pylist()
    single = [column.labels[first] for first in subsets.first.tolist()]
    return tuple(
        ROOT if whole and column.domain > 1 else one if size == 1 else many
        for whole, size, one, many in zip(
            subsets.whole.tolist(), subsets.sizes.tolist(), single, braced, strict=True
        )
    )


def member_bounds(column: Column, subsets: Subsets) -> tuple[Floats, Floats]:
    """Return least and greatest member as positions; NaN where an entry is only missing."""
    if not column.known:
        nowhere = frozen(np.full(len(subsets), np.nan))
        return nowhere, nowhere
    last = subsets.last_below(column.known)
    only_missing = last < 0
    low = np.where(only_missing, np.nan, column.positions[subsets.first])
    high = np.where(only_missing, np.nan, column.positions[np.maximum(last, 0)])
    whole = subsets.whole
    if column.domain > 1 and whole.any():
        low[whole], high[whole] = column.extent
    return frozen(low), frozen(high)


def hierarchy_bounds(
    column: Column, subsets: Subsets, published: Floats | None
) -> tuple[Floats | None, Floats | None]:
    """Return the published bounds of hierarchy groups, inside the column's extent."""
    if not column.ordered:
        return None, None
    low, high = member_bounds(column, subsets)
    if published is None or column.kind is Kind.ORDINAL:
        return low, high
    least, greatest = column.extent
    wide_low = np.maximum(np.fmin(published[:, 0], low), least)
    wide_high = np.minimum(np.fmax(published[:, 1], high), greatest)
    return frozen(wide_low), frozen(wide_high)
