"""The released records by themselves, as if those left out had never been in the table.

All that a report tells is told of these. Were the left-out ones in any figure, it could be solved
for them: a column's extent for the greatest income, a difference of shares for a disease.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Codes, Counts
from shoal.core.column import Column, Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets


def released_only(release: Release) -> Release:
    """Return the release of the released rows; values that none of them has are gone."""
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
    return replace(release, original=kept, recodings=recodings, suppressed=None)


def at_rows(release: Release, rows: Counts) -> Release:
    """Return the release of some rows alone; ground domains stay."""
    table = release.original.take(rows)
    recodings = {
        name: replace(found, column=found.column.take(rows), codes=found.codes[rows])
        for name, found in release.recodings.items()
    }
    return replace(release, original=table, recodings=recodings, suppressed=None)


def narrowed(column: Column, used: Counts) -> Column:
    """Return the column over some of its values, which are all that it has."""
    place = np.zeros(column.domain, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    values, spelling = column.values.take(pa.array(used)), column.spelling
    if spelling is not None:
        spelling = tuple(spelling[code] for code in used.tolist() if code < column.known)
    codes = place[column.codes]
    bare = replace(column, codes=codes, values=values, spelling=spelling, hierarchy=None)
    if column.hierarchy is None:
        return bare
    return replace(bare, hierarchy=column.hierarchy.aligned(bare) if len(used) else None)


def _with_tree(column: Column, published: Column) -> Column:
    """Return the column with the hierarchy that it was published by, where it has none itself."""
    if column.hierarchy is not None or published.hierarchy is None or not column.domain:
        return column
    return replace(column, hierarchy=published.hierarchy.aligned(column))


def _recoding(found: Recoding, column: Column, rows: Counts, used: Counts) -> Recoding:
    """Return what these rows publish of a column that has been narrowed."""
    codes = found.codes[rows]
    entries = np.flatnonzero(np.bincount(codes, minlength=len(found.labels)))
    place = np.zeros(len(found.labels), dtype=np.int32)
    place[entries] = np.arange(len(entries), dtype=np.int32)
    least, greatest = column.extent
    return Recoding(
        column,
        place[codes],
        _subsets(found.subsets.take(entries), used),
        tuple(found.labels[entry] for entry in entries.tolist()),
        None if found.low is None else np.maximum(found.low[entries], least),
        None if found.high is None else np.minimum(found.high[entries], greatest),
        None if found.levels is None else found.levels[entries],
    )


def _subsets(subsets: Subsets, used: Counts) -> Subsets:
    """Return the subsets over some codes alone; each has one of them."""
    starts, stops = (np.searchsorted(used, ends) for ends in (subsets.starts, subsets.stops))
    owners = np.repeat(np.arange(len(subsets)), np.diff(subsets.indptr))
    some = starts < stops
    starts, stops, owners = starts[some], stops[some], owners[some]
    opens = np.ones(len(starts), dtype=np.bool_)  # runs that have come to touch become one
    opens[1:] = (owners[1:] != owners[:-1]) | (starts[1:] != stops[:-1])
    closes = np.append(opens[1:], True)[: len(opens)]
    indptr = np.searchsorted(owners[opens], np.arange(len(subsets) + 1))
    return Subsets(len(used), indptr.astype(np.int64), _codes(starts[opens]), _codes(stops[closes]))


def _codes(places: Counts) -> Codes:
    return places.astype(np.int32)
