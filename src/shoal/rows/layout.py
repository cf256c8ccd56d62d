"""How released rows outside memory are sorted, decoded and written: as those in memory are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import NotAnonymous
from shoal.files.writing import escape_formulas, escape_names, escape_texts, rank_values
from shoal.rows.dictionaries import as_source
from shoal.rows.queries import Released
from shoal.rows.store import Order
from shoal.support.arrays import Codes, Counts
from shoal.table.encoding import combined, is_text, texts


@dataclass(frozen=True, eq=False)
class Cells:
    """The published cells of a column in the order of their text.

    values: Arrow array. ranks: (entries,) the place there of each entry before it was sorted.
    """

    values: Any
    ranks: Codes

    @classmethod
    def of(cls, entries: Any) -> Cells:
        """Sort cells; those with the same text are one."""
        if not len(entries):
            return cls(entries, np.zeros(0, dtype=np.int32))
        ranks = rank_values(entries)
        if np.array_equal(ranks, np.arange(len(ranks), dtype=np.int32)):
            return cls(entries, ranks.astype(np.int32))
        _, first, places = np.unique(ranks, return_index=True, return_inverse=True)
        return cls(entries.take(pa.array(first)), places.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Layout:
    """How the released rows are sorted and decoded.

    cells: for each column with a dictionary its published cells, by rank.
    plain: the Arrow type of each other column, in the file.
    codes: for each unchanged column with a dictionary, the code of each rank.
    rows: the released rows. text: whether the file is a text file.
    escape: whether cells that a spreadsheet would run are escaped.
    """

    order: Order
    cells: Mapping[str, Any]
    plain: Mapping[str, Any]
    codes: Mapping[str, Codes]
    rows: Released
    text: bool
    escape: bool

    @property
    def schema(self) -> Any:
        """The schema of the written file."""
        names = list(self.order.sequence)
        kinds = [
            self.cells[name].type if name in self.cells else self.plain[name] for name in names
        ]
        shown = escape_names(names) if self.escape else names
        return pa.schema(list(zip(shown, kinds, strict=True)))

    @property
    def labels(self) -> Mapping[str, Any]:
        """The cells as they are in the file: as text if it is a text file."""
        if not self.text:
            return self.cells
        found = {name: _as_text(cells) for name, cells in self.cells.items()}
        return {n: escape_texts(cells) for n, cells in found.items()} if self.escape else found

    def words(self, rows: Any) -> list[Counts]:
        """Return the words of rows of an engine."""
        return [rows.column(f"w{j}").to_numpy() for j in range(self.order.packing.words)]

    def in_order(self, rows: Any, before: tuple[int, ...]) -> tuple[int, ...]:
        """Return the words of the last row, or reject rows that are not in canonical order.

        Rows in the order of the source would reveal it. Words alone decide the order if no other
        column does.
        before: the words of the row before these, () if they are the first.
        """
        words = self.words(rows)
        if self.order.plain or not len(words[0]):
            return before
        least = [np.concatenate(([first], word[:-1])) for first, word in zip(before, words)]  # noqa: B905
        if not before:
            least = [np.concatenate((word[:1], word[:-1])) for word in words]
        falls, level = np.zeros(len(words[0]), np.bool_), np.ones(len(words[0]), np.bool_)
        for below, word in zip(least, words, strict=True):
            falls |= level & (word < below)
            level &= word == below
        if falls.any():
            raise NotAnonymous("the rows are not in canonical order; nothing was written")
        return tuple(int(word[-1]) for word in words)

    def decode(self, rows: Any) -> Any:
        """Return sorted rows of an engine as published rows."""
        words = self.words(rows)
        given = iter(rows.column_names[self.order.packing.words :])
        plain = {name: rows.column(next(given)) for name in self.order.plain}
        columns = []
        for name in self.order.sequence:
            if name in self.cells:
                ranks = self.order.packing.unpack(words, name)
                columns.append(self.cells[name].take(pa.array(ranks)))
            else:
                columns.append(combined(as_source(plain[name], self.plain[name]), name))
        table = pa.table(columns, names=list(self.order.sequence))
        return escape_formulas(table) if self.escape else table


def _as_text(cells: Any) -> Any:
    return cells if is_text(cells.type) else pa.array(texts(cells), pa.string())
