"""Labels of subsets: their text, the bounds that it states, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Kind
from shoal.core.hierarchies.hierarchy import ROOT
from shoal.core.subsets import Subsets
from shoal.core.values.encoding import is_text
from shoal.support.arrays import Bools, Codes, Floats, frozen

# inside a range or set such a text cannot be parsed back as one value
_MISREAD = r'^$|^"|^missing$|,|^\s|\s$| or missing$'


def range_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return ranges as text: `7`, `[3, 7]`, `[3, 7] or missing`, `*` for all."""
    last = subsets.last_below(column.known)
    missing = np.zeros(len(subsets), dtype=np.bool_)
    if column.missing is not None:
        missing = subsets.last == column.missing
    inside = member_texts(column)
    return tuple(
        ROOT
        if whole and column.domain > 1
        else _range_text(column, inside, int(f), int(e), bool(m))
        for f, e, m, whole in zip(subsets.first, last, missing, subsets.whole, strict=True)
    )


def _range_text(
    column: Column, inside: Sequence[str | None], first: int, last: int, missing: bool
) -> str | None:
    if last < 0:
        return None
    if first == last and not missing:
        return column.labels[first]
    text = inside[first] if first == last else f"[{inside[first]}, {inside[last]}]"
    return f"{text} or missing" if missing else text


def set_labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return sets as text: `a`, `{a, b}`, `*` for all."""
    indptr, members = subsets.flat()
    shown = pa.array(member_texts(column), pa.string()).fill_null("missing")
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


def member_texts(column: Column) -> tuple[str | None, ...]:
    """Return each value as written in a range or set, quoted if needed: `{"a, b", c}`."""
    if not is_text(column.values.type):
        return column.labels
    plain = pa.array(column.labels, pa.string())
    misread = pc.fill_null(pc.match_substring_regex(plain, _MISREAD), False)
    if not pc.any(misread).as_py():
        return column.labels
    doubled = pc.replace_substring(plain, '"', '""')
    quoted = pc.binary_join_element_wise('"', doubled, '"', "")
    return tuple(pc.if_else(misread, quoted, plain).to_pylist())


def agree(
    column: Column, subsets: Subsets, texts: Sequence[str | None], levels: Codes | None
) -> Bools:
    """Return, for each entry, whether its text matches its subset.

    An entry with a hierarchy level is a group of that level with its label; any other entry is a
    range, a set or one of its members. The root may stand for the whole domain.
    """
    given = np.array(texts, dtype=object)
    matches: Bools = subsets.whole & (given == ROOT)
    heights = np.full(len(subsets), -1, dtype=np.int32) if levels is None else levels
    for height in np.unique(heights[~matches]).tolist():
        entries = np.flatnonzero(~matches & (heights == height))
        check = _are_plain if height < 0 else partial(_are_groups, height)
        matches[entries] = check(column, subsets.take(entries), given[entries])
    return matches


def _are_groups(height: int, column: Column, subsets: Subsets, texts: Any) -> Bools:
    if column.hierarchy is None or height > column.hierarchy.height:
        return np.zeros(len(subsets), dtype=np.bool_)
    level = column.hierarchy.levels[height]
    groups = level.groups[subsets.first]
    meant = Subsets.of_groups(level.groups, len(level)).take(groups)
    alike: Bools = np.array(level.labels, dtype=object)[groups] == texts
    return alike & subsets.equal(meant)


def _are_plain(column: Column, subsets: Subsets, texts: Any) -> Bools:
    place = {text: code for code, text in enumerate(column.labels)}
    codes = np.array([place.get(text, -1) for text in texts.tolist()], dtype=np.int32)
    matches = (codes >= 0) & subsets.hold(np.arange(len(subsets), dtype=np.int32), codes)
    if column.ordered:
        rest = np.flatnonzero(~matches & _without_gaps(column, subsets))
        matches[rest] = (
            np.array(range_labels(column, subsets.take(rest)), dtype=object) == texts[rest]
        )
    rest = np.flatnonzero(~matches)
    if len(rest):
        matches[rest] = (
            np.array(set_labels(column, subsets.take(rest)), dtype=object) == texts[rest]
        )
    return matches


def _without_gaps(column: Column, subsets: Subsets) -> Bools:
    """Return which subsets are runs of known values, with or without the missing value."""
    known = subsets.sizes
    if column.missing is not None:
        known = known - (subsets.last == column.missing)
    gapless: Bools = subsets.last_below(column.known) - subsets.first + 1 == known
    return gapless


def member_bounds(column: Column, subsets: Subsets) -> tuple[Floats, Floats]:
    """Return least and greatest member as positions; NaN if an entry is only missing."""
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
    """Return the published bounds of hierarchy groups, clipped to the column's extent."""
    if not column.ordered:
        return None, None
    low, high = member_bounds(column, subsets)
    if published is None or column.kind is Kind.ORDINAL:
        return low, high
    least, greatest = column.extent
    wide_low = np.maximum(np.fmin(published[:, 0], low), least)
    wide_high = np.minimum(np.fmax(published[:, 1], high), greatest)
    return frozen(wide_low), frozen(wide_high)
