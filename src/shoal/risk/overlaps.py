"""The overlay of several releases of one table: the values that all their cells allow.

The result is a release itself: the finer table that a reader of all releases can derive.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from shoal.core.column import Column
from shoal.core.coverage import as_published
from shoal.core.grouping import group
from shoal.core.labels import range_labels, set_labels
from shoal.core.provenance import Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.errors import InputError
from shoal.support.arrays import Bools, Floats


def overlay(releases: Sequence[Release]) -> Release:
    """Return the release whose cells contain the values that the cells of all releases allow.

    A row that some releases suppress has the cells of the others; a row that all suppress stays
    suppressed. The result claims the model of the first release; `verify` checks whether it holds.

    Parameters:
        releases: At least two releases of the same table.

    Returns:
        The overlay.

    Raises:
        InputError: The releases are not of the same table.

    >>> import pyarrow as pa
    >>> import shoal
    >>> table = shoal.read(pa.table({"age": [31, 33, 47, 48]}), roles={"age": "quasi"})
    >>> one = shoal.read_released(pa.table({"age": ["30-39"] * 2 + ["40-49"] * 2}), table)
    >>> other = shoal.read_released(pa.table({"age": ["30-32"] + ["33-49"] * 3}), table)
    >>> overlay([one, other]).to_native().column("age").to_pylist()
    ['31', '33', '[47, 48]', '[47, 48]']
    """
    check_same_people(releases)
    first = releases[0]
    recodings = {
        name: reduce(_meet, [_published(release, name) for release in releases])
        for name in first.original.quasi
    }
    out = np.logical_and.reduce([_hidden(release) for release in releases])
    run = Run(method="laid over each other")
    return Release(first.original, recodings, first.model, out if out.any() else None, run)


def check_same_people(releases: Sequence[Release]) -> None:
    """Raise an error if releases are from different tables or do not cover the original values."""
    if len(releases) < 2:
        raise InputError("give at least two releases to overlay")
    first = releases[0].original
    for place, release in enumerate(releases, start=1):
        other = release.original
        same = first.quasi == other.quasi and len(first) == len(other)
        if not same or not all(_same(first[name], other[name]) for name in first.quasi):
            raise InputError(
                f"releases 1 and {place} are not from the same table: quasi-identifiers, rows and "
                "their order must be equal"
            )
        kept = ~_hidden(release)
        for name, recoding in release.recodings.items():
            codes = recoding.codes[kept], recoding.column.codes[kept]
            if not recoding.subsets.hold(*codes).all():
                raise InputError(
                    f"release {place} does not cover the original values of column {name!r}"
                )


def _same(one: Column, other: Column) -> bool:
    alike = one.kind == other.kind and one.values.equals(other.values)
    return alike and np.array_equal(one.codes, other.codes)


def _hidden(release: Release) -> Bools:
    if release.suppressed is None:
        return np.zeros(len(release.original), dtype=np.bool_)
    return release.suppressed


def _published(release: Release, name: str) -> Recoding:
    """Return the recoding of a column, with suppressed rows covering all values."""
    spoken = as_published(release.recodings[name], release.classes.ids)
    return spoken.suppress(_hidden(release))


def _meet(one: Recoding, other: Recoding) -> Recoding:
    """Return, row by row, what two recodings of a column leave open together."""
    pairs = group([one.codes, other.codes], [len(one.labels), len(other.labels)])
    left, right = one.codes[pairs.first], other.codes[pairs.first]
    subsets = overlaps(one.subsets.take(left), other.subsets.take(right))
    column = one.column
    low = high = None
    if one.low is not None and other.low is not None:
        assert one.high is not None
        assert other.high is not None
        nothing = subsets.last_below(column.known) < 0  # missing alone has no bounds
        theirs = [
            column.ruler.converted(ends, other.column.ruler) for ends in (other.low, other.high)
        ]
        low = np.where(nothing, np.nan, _tighter(np.fmax, one.low[left], theirs[0][right]))
        high = np.where(nothing, np.nan, _tighter(np.fmin, one.high[left], theirs[1][right]))
    return Recoding(column, pairs.ids, subsets, _labels(column, subsets), low, high)


def _tighter(choose: np.ufunc, one: Floats, other: Floats) -> Floats:
    return np.asarray(choose(one, other), dtype=np.float64)


def overlaps(one: Subsets, other: Subsets) -> Subsets:
    """Return, pair by pair, the members that both subsets have; every pair must share one."""
    width = one.domain + 1
    mine, theirs = (np.repeat(np.arange(len(s)), np.diff(s.indptr)) for s in (one, other))
    starts, stops = theirs * width + other.starts, theirs * width + other.stops
    # runs of the other that end behind the start of mine and start before its end
    begin = np.searchsorted(stops, mine * width + one.starts, side="right")
    end = np.searchsorted(starts, mine * width + one.stops, side="left")
    shared = np.maximum(end - begin, 0)
    ends = np.cumsum(shared)
    run = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - shared, shared)
    run += np.repeat(begin, shared)
    own = np.repeat(np.arange(len(mine)), shared)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(mine[own], minlength=len(one)))))
    return Subsets(
        one.domain,
        indptr.astype(np.int64),
        np.maximum(one.starts[own], other.starts[run]).astype(np.int32),
        np.minimum(one.stops[own], other.stops[run]).astype(np.int32),
    )


def _labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return ranges where an ordered column has no gap, sets otherwise."""
    if not column.ordered:
        return set_labels(column, subsets)
    known = subsets.sizes
    if column.missing is not None:
        known = known - (subsets.last == column.missing)
    gapped = np.flatnonzero(subsets.last_below(column.known) - subsets.first + 1 != known)
    texts = list(range_labels(column, subsets))
    for entry, text in zip(gapped.tolist(), set_labels(column, subsets.take(gapped)), strict=True):
        texts[entry] = text
    return tuple(texts)
