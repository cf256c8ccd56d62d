"""A release column: codes into a small dictionary of subsets of the domain.

Every method produces this form, and metrics, checks and exporters read only this form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import ROOT
from shoal.core.labels import agree, hierarchy_bounds, member_bounds
from shoal.core.subsets import Subsets
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen, narrowest

Summary = Literal["range", "set", "representative"]
NO_LEVEL = -1


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
        place = {text: code for code, text in enumerate(self.column.labels)}
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.labels)))
        dense = np.zeros(len(self.labels), dtype=narrowest(len(used)))
        dense[used] = np.arange(len(used))
        texts = [self.labels[entry] for entry in used.tolist()]
        ground = [place.get(text, -1) for text in texts]
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
        found = np.flatnonzero(self.subsets.whole & [text == ROOT for text in self.labels])
        entry = int(found[0]) if len(found) else len(self.labels)
        codes = np.where(rows, np.int32(entry), self.codes)
        if len(found):
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
        from shoal.core import summaries
        from shoal.core.histogram import count_values

        if not groups:
            return cls.suppressed(column)
        pairs = count_values(column, ids, groups, counts)
        if summary == "representative":
            made = summaries.representatives(column, ids, pairs)
        elif use_hierarchy and column.hierarchy is not None:
            made = summaries.ancestors(column, ids, pairs)
        elif column.ordered and summary == "range":
            made = summaries.ranges(column, ids, pairs)
        else:
            made = summaries.sets(column, ids, pairs)
        return made.suppress(ids < 0)


def _append(values: Floats | None, more: Floats | None) -> Floats | None:
    return None if values is None or more is None else np.append(values, more)
