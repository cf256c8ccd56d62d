"""The canonical order of rows that stay on disk, and their cells, as a table in memory has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.publishing.formulas import (
    escape_formulas,
    escape_names,
    escape_texts,
    has_formulas,
)
from shoal.core.publishing.row_order import MAX_NATURAL
from shoal.core.values.encoding import combined, is_text, texts
from shoal.core.values.midnights import as_dates
from shoal.engines.dictionaries import as_source
from shoal.engines.engine import Facts, Order
from shoal.engines.packing import Packing
from shoal.engines.published import Cells, unchanged_cells
from shoal.errors import InputError, NotAnonymous
from shoal.support.arrays import Codes, Counts

if TYPE_CHECKING:
    from shoal.engines.large_release import LargeRelease

_MAX_EXACT = 10**15  # larger integers are not compared as numbers


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
    rows: Any
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


def lay_out(release: LargeRelease, *, text: bool, escape: bool = False) -> Layout:
    """Return the layout of a release in a text file, or in Parquet, computed once."""
    cache: dict[bool, Layout] = release.__dict__.setdefault("_layouts", {})
    if text not in cache:
        cache[text] = _lay_out(release, text)
    return replace(cache[text], escape=escape)


def formula_columns(release: LargeRelease) -> list[str]:
    """Return the columns of a text file with cells that a spreadsheet would run."""
    layout = lay_out(release, text=True)
    found = {name for name, cells in layout.cells.items() if has_formulas(cells)}
    found |= {name for name in layout.order.sequence if has_formulas(pa.array([name]))}
    for name, kind in layout.plain.items():
        if is_text(kind) and layout.rows.facts(name, kind).formulas:
            found.add(name)
    return [name for name in layout.order.sequence if name in found]


def _lay_out(release: LargeRelease, text: bool) -> Layout:
    source = release.source
    by_quasi, released = release.published_rows(text=text)
    cells: dict[str, Any] = {}
    ranks: dict[str, Codes] = {}
    codes: dict[str, Codes] = {}
    kinds: dict[str, str] = {}
    types: dict[str, Any] = {}
    for name in source.published:
        if name in by_quasi:
            cells[name] = by_quasi[name].values
        elif name in source.encoded:
            used = _used(release, released, name)
            found = Cells.of(unchanged_cells(source, name, used, spelled=text))
            cells[name] = found.values
            column = source.encoded[name].column
            ranks[name] = np.zeros(column.domain, dtype=np.int32)
            ranks[name][used] = found.ranks
            codes[name] = np.zeros(len(found.values), dtype=np.int32)
            codes[name][found.ranks] = used
        else:
            types[name] = source.type_of(name)
            if pa.types.is_dictionary(types[name]):
                types[name] = types[name].value_type
            facts = released.facts(name, types[name])
            ranked = source.engine.name != "spark"
            kinds[name] = _kind(facts, name, types[name], ranked=ranked)
            if text and facts.midnights:
                types[name] = pa.date32()
    if text:
        cells = {name: as_dates(values) for name, values in cells.items()}
    packing = Packing.of({name: len(values) + 1 for name, values in cells.items()})
    order = Order(packing, ranks, kinds, source.published)
    return Layout(order, cells, types, codes, released, text, escape=False)


def _used(release: LargeRelease, released: Any, name: str) -> Codes:
    """Return the codes of a column in the released rows.

    A value of more rows than are suppressed is surely released.
    """
    counts = release.source.encoded[name].counts
    lost = release.source.records - int(released.total.rows[0])
    sure = np.flatnonzero(counts > lost)
    unsure = np.flatnonzero((counts > 0) & (counts <= lost))
    if len(unsure):
        sure = np.union1d(sure, released.used(name, unsure))
    return sure.astype(np.int32)


def _kind(facts: Facts, name: str, kind: Any, *, ranked: bool) -> str:
    """Return how a column is compared: as number, text or value, or by the ranks of few texts.

    ranked: whether the engine ranks texts.
    """
    if facts.distinct <= MAX_NATURAL and ranked:
        return "natural"
    if facts.distinct <= MAX_NATURAL:
        raise InputError(
            f"column {name!r}: most of its distinct values are not released, so the order of the "
            "rest depends on the table in memory; state a larger memory"
        )
    if is_text(kind):
        return "number" if facts.numbers else "text"
    if pa.types.is_integer(kind):
        return "value" if facts.widest < _MAX_EXACT else "text"
    if pa.types.is_decimal(kind) and kind.precision > 15:
        raise InputError(
            f"column {name!r}: decimals of more than 15 digits need the table in memory; state a "
            "larger memory, or make the column a float"
        )
    return "value"
