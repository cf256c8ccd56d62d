"""What a release of distinct tuples publishes of all rows: their classes, their order, their cells.

    recodings of tuples ── quasi_cells ──▶ cells, sorted by their text
                        ── plan_of ─────▶ the class of each row, by maps or by joined tuples
    released rows ───────── lay_out ────▶ the canonical order, and the cells of every column

The order is that of a table in memory, so that both write the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.writing import (
    MAX_NATURAL,
    has_formulas,
)
from shoal.release.release import Release
from shoal.rows.layout import Cells, Layout
from shoal.rows.packing import Packing
from shoal.rows.store import LINKED, Facts, Joined, Order, Plan
from shoal.support.arrays import Codes, Counts
from shoal.table.column import Role
from shoal.table.encoding import is_text
from shoal.table.frames import as_dates

if TYPE_CHECKING:
    from shoal.release.large_release import LargeRelease
    from shoal.rows.large_table import LargeTable


_MAX_EXACT = 10**15  # larger integers are not compared as numbers


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
            kinds[name] = _kind(facts, name, types[name])
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
    lost = release.source.records - released.total.rows
    sure = np.flatnonzero(counts > lost)
    unsure = np.flatnonzero((counts > 0) & (counts <= lost))
    if len(unsure):
        sure = np.union1d(sure, released.used(name, unsure))
    return sure.astype(np.int32)


def _kind(facts: Facts, name: str, kind: Any) -> str:
    """Return how a column is compared: as number, text or value, or by the ranks of few texts."""
    if facts.distinct <= MAX_NATURAL:
        return "natural"
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
