"""Match released rows to original rows by their values, if there is no key and no common order.

A released row matches an original if its cells cover that row's quasi-identifiers and all unchanged
columns are equal. Rows are matched one to one, so that every released row has an original; which of
several matching originals it is cannot be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Role
from shoal.core.coverage import Fits
from shoal.core.grouping import Grouping, group, sum_by
from shoal.core.subsets import Subsets
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.errors import InputError, NotCovering
from shoal.reading.linked import read_published
from shoal.reading.released_cells import Forms
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import counted


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
    from shoal.core._fits import Cells

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
