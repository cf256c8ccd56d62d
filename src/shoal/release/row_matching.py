"""Match released rows to rows of their original, or of another file, by their values.

A released row matches an original if its cells cover that row's quasi-identifiers and all unchanged
columns are equal. Rows are matched one to one, so that every released row has an original; which of
several matching originals it is cannot be known.

Without the original, the meaning of a text can be ambiguous. Values of a text column may look like
published forms (`*`, `{a, b}`, `12**`), so a cell there covers the values of all its readings; in
other columns the first reading that covers a value of the other file is used. A text may cover no
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, NotCovering
from shoal.files.writing import unescape_formulas
from shoal.release.reading_cells import Forms, unread_cells
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table.column import Column, Role
from shoal.table.coverage import Fits
from shoal.table.declared import find_keys, unique_keys
from shoal.table.frames import with_dates_of
from shoal.table.people import Grouping, Unit, group, sum_by
from shoal.table.subsets import Subsets
from shoal.table.table import Table


class Matched(NamedTuple):
    """The original row of each released row.

    rows: (released rows,) positions in the original.
    certain: whether this is the only matching, except for equal rows.
    """

    rows: Counts
    certain: bool


class WeightedRows(NamedTuple):
    """Matched rows of two weighted files.

    originals: (pieces,) rows of the original. released: (pieces,) released rows, −1 for originals
    without one. counts: (pieces,) records of each piece. certain: as in `Matched`.
    """

    originals: Counts
    released: Counts
    counts: Counts
    certain: bool


class _Flow(NamedTuple):
    """How many records of each kind of originals are matched with each kind of released rows."""

    pairs: Any
    kinds: Grouping
    boxes: Grouping
    certain: bool


class _Attribute(NamedTuple):
    """One column of both files.

    originals: (original rows,) codes. domain: the number of codes.
    published: (released rows,) entries. subsets: the codes that each entry covers.
    """

    originals: Codes
    domain: int
    published: Codes
    subsets: Subsets


def match_rows(data: Any, original: Table) -> Matched:
    """Match the rows of a released Arrow table to those of its original.

    Raises:
        InputError: Some released rows match no remaining original row.
    """
    found = _matched(data, original, None)
    return Matched(_rows(found.pairs, found.kinds, found.boxes), found.certain)


def match_weighted(data: Any, counts: Counts, original: Table) -> WeightedRows:
    """Match the rows of a released Arrow table to those of a weighted original.

    counts: (rows,) records of each released row.

    Raises:
        InputError: Some released rows match no remaining original row.
    """
    found = _matched(data, original, counts)
    assert original.counts is not None
    flow, kinds = found.pairs, len(found.kinds)
    matched = np.bincount(flow.row, flow.data, kinds).astype(np.int64)
    left = found.kinds.sizes(original.counts) - matched
    heads = np.concatenate((flow.row, np.arange(kinds)))
    ends = np.concatenate((found.boxes.first[flow.col], np.full(kinds, -1)))  # −1: not released
    sizes = np.concatenate((flow.data, left)).astype(np.int64)
    parts = np.argsort(heads, kind="stable")
    parts = parts[sizes[parts] > 0]
    rows = np.argsort(found.kinds.ids, kind="stable")
    return WeightedRows(
        *_pieces(rows, original.counts[rows], ends[parts], sizes[parts]), found.certain
    )


def _pieces(
    rows: Counts, counts: Counts, parts: Counts, sizes: Counts
) -> tuple[Counts, Counts, Counts]:
    """Divide rows among parts, both in order, and return the row, part and size of each piece."""
    row_ends, part_ends = np.cumsum(counts), np.cumsum(sizes)
    ends = np.union1d(row_ends, part_ends)
    places = np.searchsorted(row_ends, ends), np.searchsorted(part_ends, ends)
    return rows[places[0]], parts[places[1]], np.diff(ends, prepend=0)


def _matched(data: Any, original: Table, counts: Counts | None) -> _Flow:
    wanted = data.num_rows if counts is None else int(counts.sum())
    if wanted > original.records:
        raise NotCovering(
            f"has {counted(wanted, 'row')}, more than the original's {original.records:,}"
        )
    try:
        return _matched_as(data, original, counts, in_every_way=False)
    except InputError:  # values may look like published forms
        return _matched_as(data, original, counts, in_every_way=True)


def _matched_as(data: Any, original: Table, counts: Counts | None, *, in_every_way: bool) -> _Flow:
    attributes = [*_coarsened(data, original, in_every_way), *_unchanged(data, original)]
    attributes.sort(key=lambda attribute: -attribute.domain)  # the most selective first
    kinds = group([a.originals for a in attributes], [a.domain for a in attributes])
    boxes = group([a.published for a in attributes], [len(a.subsets) for a in attributes])
    fits = Fits(
        _cells(attributes, kinds.first, boxes.first),
        kinds.sizes(original.counts),
        boxes.sizes(counts),
        np.zeros((0, 2), dtype=np.int32),
    )
    pairs = _flow(fits, int(fits.copies.sum()))
    return _Flow(pairs, kinds, boxes, _is_certain(fits))


def _is_certain(fits: Fits) -> bool:
    """Return whether only one matching exists, except for equal rows.

    Then every original matches at most one kind of released rows, and their numbers are equal.
    """
    indptr, indices = fits.edges
    if (np.diff(indptr) > 1).any():
        return False
    heads = np.repeat(np.arange(len(fits.people)), np.diff(indptr))
    fitting = sum_by(indices, len(fits.copies), fits.people[heads])
    return bool((fitting == fits.copies).all())


def _coarsened(data: Any, original: Table, in_every_way: bool) -> list[_Attribute]:
    published = read_published(data, original, original.quasi, in_every_way=in_every_way)
    return [
        _Attribute(original[name].codes, original[name].domain, codes, subsets)
        for name, (codes, subsets) in published.items()
    ]


def _unchanged(data: Any, original: Table) -> list[_Attribute]:
    """Return the columns of both files that are released unchanged.

    Sensitive columns are compared by their values, which may be written in another way; the others
    by their text.
    """
    compare = {Role.SENSITIVE: _by_value, Role.INSENSITIVE: _by_text}
    shared = [c for c in original if c.role in compare and data.column_names.count(c.name) == 1]
    return [compare[column.role](data.column(column.name), column) for column in shared]


def _by_value(cells: Any, column: Column) -> _Attribute:
    plain = encoding.with_missing(cells, column.name)
    entries = plain.dictionary_encode(null_encoding="encode")
    forms = Forms(column)
    values = [forms.value(text) for text in encoding.texts(entries.dictionary)]
    codes = entries.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    subsets = _single(np.array(values, dtype=np.int64), column.domain)
    return _Attribute(column.codes, column.domain, codes, subsets)


def _by_text(cells: Any, column: Column) -> _Attribute:
    known, entries = (
        pa.array(encoding.texts(encoding.with_missing(each, column.name)), pa.string())
        .fill_null("")
        .dictionary_encode()
        for each in (column.to_arrow(), cells)
    )
    indices = pc.index_in(entries.dictionary, value_set=known.dictionary).fill_null(-1).to_numpy()
    domain = len(known.dictionary)
    codes = [
        each.indices.to_numpy(zero_copy_only=False).astype(np.int32) for each in (known, entries)
    ]
    return _Attribute(codes[0], domain, codes[1], _single(indices, domain))


def _single(codes: Counts, domain: int) -> Subsets:
    """Return subsets of one code each, empty for −1."""
    indptr = np.concatenate(([0], np.cumsum(codes >= 0))).astype(np.int64)
    starts = codes[codes >= 0].astype(np.int32)
    return Subsets(domain, indptr, starts, starts + 1)


def _cells(attributes: Sequence[_Attribute], originals: Counts, released: Counts) -> Any:
    """Return the values of some original rows and the code runs of some released rows."""
    from shoal.table._fits import Cells

    offsets = np.cumsum([0, *(len(a.subsets.starts) for a in attributes)]).tolist()
    begins, ends = [], []
    for attribute, offset in zip(attributes, offsets, strict=False):
        indptr, entry = attribute.subsets.indptr, attribute.published[released]
        empty = indptr[entry] == indptr[entry + 1]  # points to an empty run at the end
        begins.append(np.where(empty, offsets[-1], indptr[entry] + offset))
        ends.append(np.where(empty, offsets[-1] + 1, indptr[entry + 1] + offset))
    none = np.zeros(1, dtype=np.int32)
    return Cells(
        np.stack([a.originals[originals] for a in attributes], axis=1),
        np.stack(begins, axis=1),
        np.stack(ends, axis=1),
        np.concatenate([*(a.subsets.starts for a in attributes), none]),
        np.concatenate([*(a.subsets.stops for a in attributes), none]),
    )


def _flow(fits: Fits, wanted: int) -> Any:
    """Return how many originals of each kind are matched with released rows of each kind.

    The result is a sparse matrix of kinds of originals by kinds of released rows.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    (indptr, indices), kinds, boxes = fits.edges, len(fits.people), len(fits.copies)
    source, sink = kinds + boxes, kinds + boxes + 1
    heads = np.repeat(np.arange(kinds), np.diff(indptr))
    begins = np.concatenate([np.full(kinds, source), heads, kinds + np.arange(boxes)])
    ends = np.concatenate([np.arange(kinds), indices + kinds, np.full(boxes, sink)])
    room = np.minimum(fits.people[heads], fits.copies[indices])
    limits = np.concatenate([fits.people, room, fits.copies]).astype(np.int32)
    network = csr_array((limits, (begins, ends)), shape=(sink + 1, sink + 1))
    result = maximum_flow(network, source, sink)
    lacking = wanted - int(result.flow_value)
    if lacking:
        raise NotCovering(
            f"{lacking:,} of {counted(wanted, 'row')} do not cover any remaining row of the "
            "original; the file contains values that are not true, or is not a release of this "
            "table"
        )
    return result.flow[:kinds, kinds : kinds + boxes].tocoo()


def _rows(pairs: Any, kinds: Grouping, boxes: Grouping) -> Counts:
    """Return an original row for each released row; rows of one kind are matched in order."""
    many = pairs.data > 0
    heads, ends, counts = pairs.row[many], pairs.col[many], pairs.data[many].astype(np.int64)
    rows = np.empty(len(boxes.ids), dtype=np.int64)
    rows[_in_turn(boxes, ends, counts)] = _in_turn(kinds, heads, counts)
    return rows


def _in_turn(groups: Grouping, wanted: Counts, counts: Counts) -> Counts:
    """Return the requested number of members of each wanted group, in order and none twice."""
    order = np.argsort(groups.ids, kind="stable")
    starts = np.searchsorted(groups.ids[order], np.arange(len(groups)))
    by_group = np.argsort(wanted, kind="stable")
    before = np.cumsum(counts[by_group]) - counts[by_group]
    first = before[np.searchsorted(wanted[by_group], wanted[by_group])]
    offset = np.empty(len(wanted), dtype=np.int64)
    offset[by_group] = before - first
    begins = np.repeat(starts[wanted] + offset, counts)
    inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[begins + inside]


def read_published(
    data: Any,
    table: Table,
    names: Sequence[str],
    *,
    in_every_way: bool = True,
    refuse_unread: bool = False,
) -> dict[str, tuple[Codes, Subsets]]:
    """Return, for each column, the entry of each released row and the values that entries cover.

    data: the released file as Arrow; table: the other file, whose values are covered.
    in_every_way: whether all readings of a text count, instead of only the first.
    refuse_unread: whether cells that cannot be read are an error; they would match no one.

    Raises:
        InputError: A cell of an ordered column is neither a value nor a range, or no cell of a
            nominal column covers a value of the other file.
    """
    for name in names:
        if data.column_names.count(name) != 1:
            raise InputError(f"has no column {name!r}, or several; the other file has it")
    data = with_dates_of(table, unescape_formulas(data, table))
    return {
        name: _column(data.column(name), table[name], in_every_way, refuse_unread) for name in names
    }


def _column(
    cells: Any, column: Column, in_every_way: bool, refuse_unread: bool
) -> tuple[Codes, Subsets]:
    plain = encoding.with_missing(cells, column.name)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    forms = Forms(column)
    several = in_every_way and encoding.is_text(column.values.type)
    texts = encoding.texts(encoded.dictionary)
    runs = [
        # a blank means a missing value if there is one, and any value otherwise
        forms.every_run(text)
        if several and text is not None
        else next((way.runs for way in forms.readings(text) if way.runs), ())
        for text in texts
    ]
    if refuse_unread:
        empty = np.array([not each for each in runs], dtype=np.bool_)
        unread = empty & [not forms.understands(text) for text in texts]
        if unread.any() and (column.ordered or empty.all()):
            raise unread_cells(column.name, int(unread[codes].sum()), int(unread.sum()))
    indptr = np.concatenate(([0], np.cumsum([len(each) for each in runs], dtype=np.int64)))
    flat = np.array([run for each in runs for run in each], dtype=np.int32).reshape(-1, 2)
    return codes, Subsets(column.domain, indptr.astype(np.int64), flat[:, 0], flat[:, 1])


def rows_by_key(asked: Any, known: Any, key: str) -> Counts:
    """Return, for each row of `asked`, the row of `known` with the same key, or −1."""
    for data in (asked, known):
        if key not in data.column_names:
            raise InputError(f"key {key!r}: one of the files has no such column")
    wanted = unique_keys(asked.column(key), key, "the identified file")
    return find_keys(wanted, unique_keys(known.column(key), key, "the release"))


def rows_by_person(asked: Any, known: Any, columns: Sequence[str]) -> tuple[Counts, Unit]:
    """Find a row of the same person in another file.

    columns: the columns that identify a person in both files.

    Returns:
        For each row of `asked`, a row of `known` of the same person, or −1; and the person of each
        row of `known`.
    """

    def texts(cells: Any, name: str) -> Any:
        return pa.array(encoding.texts(encoding.with_missing(cells, name)), pa.string())

    both = pa.concat_tables(
        pa.table({name: texts(data.column(name), name) for name in columns})
        for data in (known, asked)
    )
    unit = Unit.of(both, columns, "person")
    mine, theirs = unit.ids[known.num_rows :], unit.ids[: known.num_rows]
    first = np.full(unit.count, -1, dtype=np.int64)
    first[theirs[::-1]] = np.arange(known.num_rows)[::-1]
    return first[mine], unit.take(slice(0, known.num_rows))
