"""The class of a release that covers a new row: a recoding applied to other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column, Kind
from shoal.core.grouping import group
from shoal.core.publishing.cells import published_bounds
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.values import encoding
from shoal.support.arrays import Bools, Codes, Counts, frozen

UNCOVERED = -1
_PAIRS = 1 << 24  # of rows and classes that are compared at a time


@dataclass(frozen=True, eq=False)
class Covering:
    """The classes of a release, tightest first.

    recodings: the recoding of each quasi-identifier.
    entries: (classes, columns) the dictionary entry of each class in each recoding.
    """

    recodings: tuple[Recoding, ...]
    entries: Codes

    @classmethod
    def of(cls, release: Release) -> Covering:
        """Return the classes of a release."""
        recodings = tuple(release.recodings.values())
        ids = release.classes.ids
        kept = np.flatnonzero(ids >= 0)
        _, first = np.unique(ids[kept], return_index=True)
        entries = np.stack([r.codes[kept[first]] for r in recodings], axis=1)
        sizes = np.stack(
            [r.subsets.sizes[r.codes[kept[first]]] / max(r.column.domain, 1) for r in recodings],
            axis=1,
        )
        order = np.argsort(sizes.sum(axis=1), kind="stable")
        return cls(recodings, frozen(entries[order]))

    def find(self, cells: Mapping[str, Any]) -> Counts:
        """(rows,) the tightest class that covers each row, UNCOVERED if none does.

        Parameters:
            cells: Values of each quasi-identifier in all rows, as Arrow arrays.
        """
        tables, codes = [], []
        for recoding in self.recodings:
            values, fits = _fits(recoding, cells[recoding.name])
            codes.append(values)
            tables.append(fits)
        rows = group(codes, [table.shape[1] for table in tables])
        found = self._first_covers(tables, [c[rows.first] for c in codes], len(rows))
        return found[rows.ids]

    def _first_covers(self, tables: Sequence[Bools], codes: Sequence[Codes], count: int) -> Counts:
        found = np.full(count, UNCOVERED, dtype=np.int64)
        if not len(self.entries):
            return found
        step = max(_PAIRS // len(self.entries), 1)
        for begin in range(0, count, step):
            part = slice(begin, begin + step)
            covers = np.ones((len(codes[0][part]), len(self.entries)), dtype=np.bool_)
            for place, table in enumerate(tables):
                covers &= table[self.entries[:, place]][:, codes[place][part]].T
            best = covers.argmax(axis=1)
            found[part] = np.where(covers[np.arange(len(best)), best], best, UNCOVERED)
        return found


def _fits(recoding: Recoding, cells: Any) -> tuple[Codes, Bools]:
    """Return the distinct values of a column as codes, and (entries, values) which covers which.

    A value of the original column belongs to the entries that contain it. Any other number belongs
    to the entries whose published bounds enclose it, any other text only to `*`.
    """
    column, subsets = recoding.column, recoding.subsets
    new = Column.encode(recoding.name, cells, kind=None if column.known else Kind.NOMINAL)
    place = {text: code for code, text in enumerate(column.labels)}
    known = np.array([place.get(text, -1) for text in new.labels], dtype=np.int32)
    fits = np.zeros((len(subsets), new.domain), dtype=np.bool_)
    fits[subsets.whole] = True
    index = np.full(column.domain, -1, dtype=np.int64)  # of each original value among the new
    index[known[known >= 0]] = np.flatnonzero(known >= 0)
    indptr, members = subsets.flat()
    entries = np.repeat(np.arange(len(subsets)), np.diff(indptr))
    seen = index[members] >= 0
    fits[entries[seen], index[members][seen]] = True
    numeric = column.kind is Kind.NUMERIC and encoding.is_numeric(new.values.type)
    if numeric and (known < 0).any():
        low, high = published_bounds(recoding)
        where = new.to_numbers(new.positions)
        inside = (low[:, None] <= where) & (where <= high[:, None])
        fits |= inside & (known < 0)
    return new.codes, fits
