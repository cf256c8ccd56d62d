"""A release column: codes into a small dictionary of subsets of the domain.

Every method produces this form, and metrics, checks and exporters read only this form.

    column   31 33 47 48          the original values
    codes     0  0  1  1          (rows,) the dictionary entry of each row
    subsets  {31, 33} {47, 48}    (entries,) the values that each may stand for
    labels   [30, 40[ [40, 50[    (entries,) the published text

Four summaries of a group of rows make such cells (`ranges`, `sets`, `ancestors`,
`representatives`), all from the value counts of each group, so rows are read only once. Published
cells as numbers, for analysis: `with_bounds`, `with_intervals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, unknown
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen, narrowest
from shoal.table.classes import Histogram
from shoal.table.column import Column, Kind
from shoal.table.hierarchy import ROOT
from shoal.table.subsets import (
    Subsets,
    agree,
    hierarchy_bounds,
    member_bounds,
    range_labels,
    set_labels,
)

Summary = Literal["range", "set", "representative"]
Cells = Literal["text", "bounds", "interval"]
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
NO_LEVEL = -1
_BITS = 62  # a set over at most this many values fits in one integer


@dataclass(frozen=True, eq=False)
class Recoding:
    """The published form of one column; `Release.recodings` has one for each quasi-identifier.

    Attributes:
        column: The original.
        codes: (rows,) the dictionary entry of each row.
        subsets: The values that each entry may stand for.
        labels: (entries,) the published text, None for missing.
        low: (entries,) published lower bounds of an ordered column, at most the least member.
        high: (entries,) published upper bounds of an ordered column, at least the greatest member.
        levels: (entries,) hierarchy level, −1 if an entry has none.
    """

    column: Column
    codes: Codes
    subsets: Subsets
    labels: tuple[str | None, ...]
    low: Floats | None = None
    high: Floats | None = None
    levels: Codes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes))
        if self.low is None and self.column.ordered:
            low, high = member_bounds(self.column, self.subsets)
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)

    def __repr__(self) -> str:
        return f"Recoding({self.column.name!r}, entries={len(self.labels)})"

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    def usage(self, counts: Counts | None = None) -> Counts:
        """(entries,) the number of records at each entry."""
        weights = None if counts is None else counts.astype(np.float64)
        return np.bincount(self.codes, weights, minlength=len(self.labels)).astype(np.int64)

    def widths(self) -> Floats:
        """(entries,) width of an ordered column's published range divided by its extent, 0 to 1.

        An entry that may be missing or some other value has lost everything.
        """
        assert self.low is not None
        assert self.high is not None
        width = self.column.share_of_extent(self.high - self.low)
        if self.column.missing is not None:
            mixed = (self.subsets.last == self.column.missing) & (self.subsets.sizes > 1)
            width[mixed] = 1.0
        return width

    def covers(self) -> bool:
        """Return whether every original value is a member of its published subset."""
        return bool(self.subsets.hold(self.codes, self.column.codes).all())

    def labelled(self) -> bool:
        """Return whether every label matches the subset of its entry."""
        return bool(agree(self.column, self.subsets, self.labels, self.levels).all())

    def truthful(self) -> bool:
        """Return whether every cell covers its original value, and its text matches the cell."""
        return self.labelled() and self.covers()

    def published(self, rows: Any = slice(None), *, as_text: bool = False) -> Any:
        """Return the published cells as an Arrow dictionary of codes and labels.

        The type is the original one if all cells are single values, otherwise text.

        Parameters:
            as_text: Always use text, so that the type reveals nothing about other cells.
        """
        codes = self.codes[rows]
        code_of = {text: code for code, text in enumerate(self.column.labels)}
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.labels)))
        dense = np.zeros(len(self.labels), dtype=narrowest(len(used)))
        dense[used] = np.arange(len(used))
        texts = [self.labels[entry] for entry in used.tolist()]
        ground = [code_of.get(text, -1) for text in texts]
        # all cells are single values: keep their type
        if min(ground, default=0) >= 0 and not as_text:
            cells = self.column.values.take(pa.array(ground, pa.int32()))
        else:
            cells = pa.array(texts, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(dense[codes]), cells)

    def to_arrow(self, rows: Any = slice(None)) -> Any:
        """Return the published cells as a plain array."""
        return self.published(rows).dictionary_decode()

    def at_entries(self, column: Column, entries: Counts, codes: Codes) -> Recoding:
        """Return the recoding of other rows, with some of its entries.

        Parameters:
            column: The original of these rows, with the same values.
            entries: The entries to keep, in order.
            codes: (rows,) the place of each row's entry among them.
        """
        return Recoding(
            column,
            codes,
            self.subsets.take(entries),
            tuple(self.labels[entry] for entry in entries.tolist()),
            None if self.low is None else self.low[entries],
            None if self.high is None else self.high[entries],
            None if self.levels is None else self.levels[entries],
        )

    def of_owners(self, codes: Codes, owners: Codes) -> Recoding:
        """Return the recoding of other rows, each with the entry of its owner.

        The column stays that of the owners, with the hierarchy that the entries refer to.

        Parameters:
            codes: (rows,) the original values of the rows, in the same dictionary.
            owners: (rows,) the row of this recoding that owns each row.
        """
        column = replace(self.column, codes=codes)
        return replace(self, column=column, codes=self.codes[owners])

    def suppress(self, rows: Bools) -> Recoding:
        """Return the recoding with the whole domain in these rows."""
        if not rows.any():
            return self
        roots = np.flatnonzero(self.subsets.whole & [text == ROOT for text in self.labels])
        entry = int(roots[0]) if len(roots) else len(self.labels)
        codes = np.where(rows, np.int32(entry), self.codes)
        if len(roots):
            return replace(self, codes=codes)
        whole = Recoding.suppressed(self.column)
        levels = self.levels
        if levels is not None and whole.levels is not None:
            levels = np.append(levels, whole.levels)
        return Recoding(
            self.column,
            codes,
            Subsets.joined([self.subsets, whole.subsets]),
            (*self.labels, ROOT),
            _append(self.low, whole.low),
            _append(self.high, whole.high),
            levels,
        )

    @classmethod
    def identity(cls, column: Column) -> Recoding:
        """Publish the column unchanged."""
        levels = np.zeros(column.domain, dtype=np.int32) if column.hierarchy else None
        singles = Subsets.singletons(column.domain)
        return cls(column, column.codes, singles, column.labels, levels=levels)

    @classmethod
    def at_level(cls, column: Column, level: int) -> Recoding:
        """Publish every value at one level of the column's hierarchy."""
        if column.hierarchy is None:
            raise ValueError(f"column {column.name!r} has no hierarchy")
        chosen = column.hierarchy.levels[level]
        subsets = Subsets.of_groups(chosen.groups, len(chosen))
        levels = np.full(len(chosen), level, dtype=np.int32)
        low, high = hierarchy_bounds(column, subsets, chosen.bounds)
        codes = chosen.groups[column.codes]
        return cls(column, codes, subsets, chosen.labels, low, high, levels)

    @classmethod
    def suppressed(cls, column: Column) -> Recoding:
        """Suppress every cell of the column."""
        codes = np.zeros(len(column), dtype=np.int32)
        whole = Subsets.ranges(
            column.domain, np.zeros(1, np.int32), np.full(1, column.domain - 1, np.int32)
        )
        top = NO_LEVEL if column.hierarchy is None else column.hierarchy.height
        return cls(column, codes, whole, (ROOT,), levels=np.full(1, top, np.int32))

    @classmethod
    def of_groups(
        cls,
        column: Column,
        ids: Codes,
        groups: int,
        summary: Summary = "range",
        *,
        use_hierarchy: bool = True,
        counts: Counts | None = None,
    ) -> Recoding:
        """Publish, for the rows of each group, the smallest cell that covers their values.

        This is the lowest common ancestor if the column has a hierarchy and it may be used, else
        the range of an ordered column (summary "range"), else a set. "representative" publishes
        the median of each group (ordered) or its most frequent value, weighted by `counts`.
        """
        from shoal.table.classes import count_values

        if not groups:
            return cls.suppressed(column)
        pairs = count_values(column, ids, groups, counts)
        if summary == "representative":
            made = representatives(column, ids, pairs)
        elif use_hierarchy and column.hierarchy is not None:
            made = ancestors(column, ids, pairs)
        elif column.ordered and summary == "range":
            made = ranges(column, ids, pairs)
        else:
            made = sets(column, ids, pairs)
        return made.suppress(ids < 0)


def _append(values: Floats | None, more: Floats | None) -> Floats | None:
    return None if values is None or more is None else np.append(values, more)


def ranges(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish `[least, greatest]` of each group, with a note if some values are missing."""
    first = pairs.codes[pairs.indptr[:-1]]
    last = pairs.codes[pairs.indptr[1:] - 1]
    with_missing = np.zeros(len(first), dtype=np.bool_)
    if column.missing is not None:
        with_missing = last == column.missing
        before = pairs.codes[np.maximum(pairs.indptr[1:] - 2, 0)]
        last = np.where(with_missing & (first < column.missing), before, last)
    keys = (first.astype(np.int64) * column.domain + last) * 2 + with_missing
    _, sample, entry = np.unique(keys, return_index=True, return_inverse=True)
    subsets = _with_missing(column, first[sample], last[sample], with_missing[sample])
    return Recoding(column, _per_row(entry, ids), subsets, range_labels(column, subsets))


def _with_missing(column: Column, first: Codes, last: Codes, missing: Bools) -> Subsets:
    """Return the ranges first … last, with the missing code added where `missing` is set."""
    if column.missing is None or not missing.any():
        return Subsets.ranges(column.domain, first, last)
    # the missing code follows the greatest known one, so a range may touch it
    extra = missing & (last < column.missing - 1)
    stops = np.where(missing & ~extra, column.missing, last)
    indptr = np.concatenate(([0], np.cumsum(1 + extra)))
    starts = np.insert(first, np.flatnonzero(extra) + 1, column.missing)
    ends = np.insert(stops, np.flatnonzero(extra) + 1, column.missing)
    return Subsets(column.domain, indptr, starts.astype(np.int32), (ends + 1).astype(np.int32))


def sets(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish the set of values of each group."""
    sample, entry = _distinct_sets(column, pairs)
    lengths = np.diff(pairs.indptr)[sample]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    starts = np.repeat(pairs.indptr[sample] - indptr[:-1], lengths)
    members = pairs.codes[starts + np.arange(int(indptr[-1]))]
    subsets = Subsets.of_members(column.domain, indptr, members)
    return Recoding(column, _per_row(entry, ids), subsets, set_labels(column, subsets))


def _distinct_sets(column: Column, pairs: Histogram) -> tuple[Counts, Counts]:
    """Return one group for each distinct set, and the distinct set of each group."""
    if column.domain <= _BITS:
        bits = np.left_shift(np.int64(1), pairs.codes.astype(np.int64))
        masks = np.bitwise_or.reduceat(bits, pairs.indptr[:-1])
        _, sample, entry = np.unique(masks, return_index=True, return_inverse=True)
        return sample, entry
    # sums of random numbers distinguish sets; the check of the release would detect a collision,
    # and the seed is fixed so that the order of entries is the same in every run
    signs = np.random.default_rng(0).integers(0, 2**63, (2, column.domain), dtype=np.uint64)
    sums = [np.add.reduceat(sign[pairs.codes], pairs.indptr[:-1]) for sign in signs]
    order = np.lexsort(sums)
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any([np.diff(total[order]) != 0 for total in sums], axis=0)
    entry = np.empty(len(order), dtype=np.int64)
    entry[order] = np.cumsum(fresh) - 1
    return order[fresh], entry


def ancestors(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish the lowest common ancestor of each group's values."""
    assert column.hierarchy is not None
    levels = column.hierarchy.levels
    # number the groups of all levels through, so that an entry is a single number
    offsets = np.concatenate(([0], np.cumsum([len(level) for level in levels])))
    chosen = np.full(len(pairs.indptr) - 1, -1, dtype=np.int64)
    for height, level in enumerate(levels):
        groups = level.groups[pairs.codes]
        least = np.minimum.reduceat(groups, pairs.indptr[:-1])
        most = np.maximum.reduceat(groups, pairs.indptr[:-1])
        settled = (chosen < 0) & (least == most)  # the lowest level with one group for all values
        chosen[settled] = offsets[height] + least[settled]
    used, entry = np.unique(chosen, return_inverse=True)
    at = np.searchsorted(offsets, used, side="right") - 1
    places = list(zip(at.tolist(), (used - offsets[at]).tolist(), strict=True))
    by_level = [Subsets.of_groups(level.groups, len(level)) for level in levels]
    subsets = Subsets.joined(by_level).take(used)
    texts = tuple(levels[h].labels[g] for h, g in places)
    bounds = None
    if all(level.bounds is not None for level in levels):
        bounds = np.concatenate([level.bounds for level in levels if level.bounds is not None])
        bounds = bounds[used]
    low, high = hierarchy_bounds(column, subsets, bounds)
    codes = _per_row(entry, ids)
    return Recoding(column, codes, subsets, texts, low, high, at.astype(np.int32))


def representatives(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish one value for each group: its median if ordered, else its most frequent value.

    Its subset is still the range or set of the group, so that losses are not underestimated.
    """
    cover = ranges(column, ids, pairs) if column.ordered else sets(column, ids, pairs)
    owners = np.repeat(np.arange(len(pairs.indptr) - 1), np.diff(pairs.indptr))
    if column.ordered:
        # lay the rows of all groups end to end, sorted: the median is at the middle of its stretch
        upto = np.cumsum(pairs.counts)
        before = np.concatenate(([0], upto))[pairs.indptr]
        half = (np.diff(before) + 1) // 2 + before[:-1]
        chosen = np.searchsorted(upto, half, side="left")
    else:
        order = np.lexsort((pairs.codes, -pairs.counts, owners))
        chosen = order[pairs.indptr[:-1]]
    middle = pairs.codes[chosen]
    by_group = np.zeros(len(middle), dtype=np.int64)
    by_group[ids[ids >= 0]] = cover.codes[ids >= 0]
    keys = by_group * column.domain + middle
    used, entry = np.unique(keys, return_inverse=True)
    subsets = cover.subsets.take(used // column.domain)
    texts = tuple(column.labels[int(code)] for code in used % column.domain)
    levels = np.full(len(used), NO_LEVEL, dtype=np.int32)
    return Recoding(column, _per_row(entry, ids), subsets, texts, levels=levels)


def _per_row(entry: Counts, ids: Codes) -> Codes:
    """Return the entry of each row's group; rows without a group are suppressed afterwards."""
    return entry.astype(np.int32)[np.maximum(ids, 0)]


def check_cells(cells: str) -> None:
    """Reject an unknown form of cells."""
    if cells not in get_args(Cells):
        raise unknown("no form of cells", cells, get_args(Cells))


def published_bounds(recoding: Recoding) -> tuple[Floats, Floats]:
    """(entries,) least and greatest number that each label allows, NaN if it states none.

    They follow from the label only: a cell that shows an interval of a hierarchy has the ends of
    the interval, not those of its original values, and a hidden cell has none.
    """
    low, high = (recoding.column.to_numbers(ends) for ends in _bound_positions(recoding))
    return low, high


def _bound_positions(recoding: Recoding) -> tuple[Floats, Floats]:
    """(entries,) `published_bounds` as positions on the column's ruler."""
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
