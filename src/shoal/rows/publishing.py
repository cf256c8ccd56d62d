"""The canonical order of rows that stay on disk, and their cells, as a table in memory has them.

From a release of distinct tuples to the plan of all rows, and the cells that they publish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, NotAnonymous
from shoal.files.writing import (
    MAX_NATURAL,
    escape_formulas,
    escape_names,
    escape_texts,
    has_formulas,
    rank_values,
)
from shoal.release.release import Release
from shoal.rows.dictionaries import as_source
from shoal.rows.packing import Packing
from shoal.rows.queries import Released
from shoal.rows.store import LINKED, Facts, Joined, Order, Plan
from shoal.support.arrays import Codes, Counts
from shoal.table.column import Role
from shoal.table.encoding import combined, is_text, texts
from shoal.table.frames import as_dates

if TYPE_CHECKING:
    from shoal.release.large_release import LargeRelease
    from shoal.rows.large_table import LargeTable


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


def quasi_cells(
    release: Release, kept: Counts, *, spelled: bool
) -> Mapping[str, tuple[Any, Cells]]:
    """Return, for each quasi-identifier, the published entry of each kept tuple, and the cells."""
    found = {}
    data = release.published_cells(kept, spelled=spelled)
    for name in release.recodings:
        encoded = data.column(name)
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        found[name] = (indices, Cells.of(encoded.dictionary))
    return found


def plan_of(
    release: Release,
    found: Mapping[str, tuple[Any, Cells]],
    kept: Counts,
    linked: Counts | None = None,
) -> Plan:
    """Return which rows are released and how: by level maps if one node recodes all rows.

    linked: (tuples,) the set of linked rows of each tuple; all rows of a set are in one class.
    """
    domains = {name: len(cells.values) + 1 for name, (_, cells) in found.items()}
    classes = Packing.of(domains)
    if not is_one_node(release) and linked is not None:
        words = classes.pack({name: cells.ranks[index] for name, (index, cells) in found.items()})
        sets = linked[kept]
        packing = Packing.of({LINKED: int(sets.max(initial=0)) + 1})
        return Plan(classes, {}, None, _once(Joined(packing, packing.pack({LINKED: sets}), words)))
    if not is_one_node(release):
        words = classes.pack({name: cells.ranks[index] for name, (index, cells) in found.items()})
        columns = {c.name: c for c in release.original.columns}
        packing = Packing.of({name: column.domain for name, column in columns.items()})
        codes = {name: column.codes[kept] for name, column in columns.items()}
        return Plan(classes, {}, None, _once(Joined(packing, packing.pack(codes), words)))
    maps = {name: _map(release, name, index, cells, kept) for name, (index, cells) in found.items()}
    out = release.suppressed
    if out is None:
        return Plan(classes, maps)
    lost = np.flatnonzero(out)
    codes = {name: maps[name][release.original[name].codes[lost]] for name in maps}
    return Plan(classes, maps, _distinct(classes.pack(codes)))


def is_one_node(release: Release) -> bool:
    """Return whether every kept row is published at the levels of the node."""
    if release.node is None:
        return False
    kept = slice(None) if release.suppressed is None else ~release.suppressed
    return all(
        recoding.levels is not None
        and bool((recoding.levels[recoding.codes[kept]] == release.node[name]).all())
        for name, recoding in release.recodings.items()
    )


def _map(release: Release, name: str, index: Codes, cells: Cells, kept: Counts) -> Codes:
    """(domain,) the place of each value's cell; one beyond the last if it is not published."""
    assert release.node is not None
    column = release.recodings[name].column
    assert column.hierarchy is not None
    groups = column.hierarchy.levels[release.node[name]].groups
    places = np.full(int(groups.max(initial=0)) + 1, len(cells.values), dtype=np.int32)
    places[groups[release.original[name].codes[kept]]] = cells.ranks[index]
    found: Codes = places[groups]
    return found


def _distinct(words: list[Counts]) -> list[Counts]:
    if not len(words[0]):
        return words
    found = np.unique(np.stack(words), axis=1)
    return [np.ascontiguousarray(word) for word in found]


def _once(joined: Joined) -> Joined:
    """Return one result for each tuple, if people have the same tuple several times."""
    stacked = np.stack(joined.words)
    _, first = np.unique(stacked, axis=1, return_index=True)
    if len(first) == stacked.shape[1]:
        return joined
    return Joined(
        joined.tuples, [w[first] for w in joined.words], [w[first] for w in joined.classes]
    )


def unchanged_cells(source: LargeTable, name: str, used: Codes, *, spelled: bool) -> Any:
    """Return the published cells of the used codes of a column that is not generalized."""
    from shoal.table.encoding import fitted

    column = source.encoded[name].column
    values = column.values.take(pa.array(used))
    if column.role is Role.INSENSITIVE or column.spelling is None:
        return values
    texts = pa.array(column.labels, pa.string()).take(pa.array(used))
    return texts if spelled else fitted(values, texts)
