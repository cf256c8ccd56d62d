"""The released records only, as if suppressed records had never been in the table.

A report describes only these records. Figures that included suppressed records could reveal them:
a column's range the highest income, a difference of shares a disease.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Role
from shoal.core.publishing.replaced import Replaced
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.support.arrays import Codes, Counts


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
    starts, stops = (np.searchsorted(used, ends) for ends in (subsets.starts, subsets.stops))
    owners = np.repeat(np.arange(len(subsets)), np.diff(subsets.indptr))
    some = starts < stops
    starts, stops, owners = starts[some], stops[some], owners[some]
    opens = np.ones(len(starts), dtype=np.bool_)  # adjacent runs become one
    opens[1:] = (owners[1:] != owners[:-1]) | (starts[1:] != stops[:-1])
    closes = np.append(opens[1:], True)[: len(opens)]
    indptr = np.searchsorted(owners[opens], np.arange(len(subsets) + 1))
    return Subsets(len(used), indptr.astype(np.int64), _codes(starts[opens]), _codes(stops[closes]))


def _codes(indices: Counts) -> Codes:
    return indices.astype(np.int32)
