"""What keeps a report from pointing to single people: masked counts, rounding, released rows only.

A report may be published, and a small count could point to a single person. Figures that included
suppressed records could reveal them: a column's range the highest income, a difference of shares a
disease. So `released_only` drops these records, as if they had never been in the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_whole
from shoal.table.column import Column, Role
from shoal.table.linked import Replaced
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table

LEAST = 5  # people behind anything shown, where the model asks for no more


@dataclass(frozen=True)
class Mask:
    """Hides counts of 1 … least − 1."""

    least: int

    def __post_init__(self) -> None:
        check_whole("least", self.least, 2)

    def count(self, found: int, total: int | None = None) -> int | str:
        """Return a count, or words if the count or its complement in the total is too small."""
        if 0 < found < self.least:
            return f"fewer than {self.least}"
        if total is not None and 0 < total - found < self.least:
            return f"more than {total - self.least:,}"
        return int(found)

    def rows(self, found: int, people: int) -> int | str:
        """Return a count of rows, or words if the rows are about too few people."""
        if 0 < people < self.least:
            same = f"fewer than {self.least}"
            return same if found == people else f"rows of {same} people"
        return int(found)

    def share(self, found: int, total: int) -> float | None:
        """Return a count's share of the total, or None if the count is masked."""
        shown = isinstance(self.count(found, total), int)
        return rounded(found / max(total, 1)) if shown else None


def people_weights(table: Table) -> Floats:
    """Return, for each row, its part of the weight 1 that each person spreads over their records.

    The weights of a group of records never sum to more than the number of people in it, so a group
    whose sum reaches a minimum count is about at least that many people.
    """
    counts = np.ones(len(table)) if table.counts is None else table.counts.astype(np.float64)
    if table.person is None:
        return counts
    every = np.bincount(table.person.ids, counts, table.person.count)
    weights: Floats = counts / every[table.person.ids]
    return weights


def sum_weights(codes: Codes, groups: int, weights: Floats) -> Floats:
    """Return the sum of the weights of each group, rounded to remove floating-point error."""
    return np.round(np.bincount(codes, weights, groups), 9)


def rounded(value: float) -> float | None:
    """Return a figure rounded to three decimal places, or None if it is not finite.

    In a small table, the remaining places could reveal a single record.
    """
    return round(float(value), 3) + 0.0 if math.isfinite(value) else None


def names_any(label: str, texts: Iterable[str | None]) -> bool:
    """Return whether a label contains one of these values: `[31, 999]` contains 999, `9**` not."""
    return any(
        text and text in label and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", label)
        for text in texts
    )


def released_only(release: Release) -> Release:
    """Return the release without suppressed rows and without values that no released row has."""
    table, hidden = release.original, release.suppressed
    rows = np.arange(len(table)) if hidden is None else np.flatnonzero(~hidden)
    taken = table.take(rows)
    used = {
        column.name: np.flatnonzero(np.bincount(column.codes, minlength=column.domain))
        for column in taken
        if column.role in (Role.QUASI, Role.SENSITIVE)
    }
    if hidden is None and all(len(used[name]) == table[name].domain for name in used):
        return release
    # a domain that listed suppressed values would show that they exist
    columns = [narrowed(c, used[c.name]) if c.name in used else c for c in taken]
    kept = replace(taken, columns=tuple(columns))
    recodings = {
        name: _recoding(found, _with_tree(kept[name], found.column), rows, used[name])
        for name, found in release.recodings.items()
    }
    published = _identifiers(release, rows)
    return replace(release, original=kept, recodings=recodings, suppressed=None, replaced=published)


def at_rows(release: Release, rows: Counts) -> Release:
    """Return the release of some rows only; the domains of the columns stay the same."""
    table = release.original.take(rows)
    recodings = {
        name: replace(found, column=found.column.take(rows), codes=found.codes[rows])
        for name, found in release.recodings.items()
    }
    published = _identifiers(release, rows)
    return replace(
        release, original=table, recodings=recodings, suppressed=None, replaced=published
    )


def _identifiers(release: Release, rows: Counts) -> dict[str, Replaced]:
    return {n: replace(each, cells=each.take(rows)) for n, each in release.replaced.items()}


def narrowed(column: Column, used: Counts) -> Column:
    """Return the column with its domain reduced to the values that occur in it."""
    index = np.zeros(column.domain, dtype=np.int32)
    index[used] = np.arange(len(used), dtype=np.int32)
    values, spelling = column.values.take(pa.array(used)), column.spelling
    if spelling is not None:
        spelling = tuple(spelling[code] for code in used.tolist() if code < column.known)
    codes = index[column.codes]
    bare = replace(column, codes=codes, values=values, spelling=spelling, hierarchy=None)
    if column.hierarchy is None:
        return bare
    return replace(bare, hierarchy=column.hierarchy.aligned(bare) if len(used) else None)


def _with_tree(column: Column, published: Column) -> Column:
    """Return the column with the hierarchy it was published with, if it has none of its own."""
    if column.hierarchy is not None or published.hierarchy is None or not column.domain:
        return column
    return replace(column, hierarchy=published.hierarchy.aligned(column))


def _recoding(found: Recoding, column: Column, rows: Counts, used: Counts) -> Recoding:
    """Return the recoding of these rows over the narrowed column."""
    codes = found.codes[rows]
    entries = np.flatnonzero(np.bincount(codes, minlength=len(found.labels)))
    index = np.zeros(len(found.labels), dtype=np.int32)
    index[entries] = np.arange(len(entries), dtype=np.int32)
    least, greatest = column.extent
    return Recoding(
        column,
        index[codes],
        _subsets(found.subsets.take(entries), used),
        tuple(found.labels[entry] for entry in entries.tolist()),
        None if found.low is None else np.maximum(found.low[entries], least),
        None if found.high is None else np.minimum(found.high[entries], greatest),
        None if found.levels is None else found.levels[entries],
    )


def _subsets(subsets: Subsets, used: Counts) -> Subsets:
    """Return the subsets restricted to some codes; each subset contains at least one of them."""
    # runs of old codes become runs of positions in `used`; those without a used code are empty
    starts, stops = (np.searchsorted(used, ends) for ends in (subsets.starts, subsets.stops))
    owners = np.repeat(np.arange(len(subsets)), np.diff(subsets.indptr))
    some = starts < stops
    starts, stops, owners = starts[some], stops[some], owners[some]
    opens = np.ones(len(starts), dtype=np.bool_)  # adjacent runs become one
    opens[1:] = (owners[1:] != owners[:-1]) | (starts[1:] != stops[:-1])
    # a run ends where the next one opens
    closes = np.append(opens[1:], True)[: len(opens)]
    indptr = np.searchsorted(owners[opens], np.arange(len(subsets) + 1))
    return Subsets(len(used), indptr.astype(np.int64), _codes(starts[opens]), _codes(stops[closes]))


def _codes(indices: Counts) -> Codes:
    return indices.astype(np.int32)
