"""Cells that cover the values of a group: a range, a set, an ancestor, a representative.

All are computed from the value counts of each group, so rows are read only once.
"""

from __future__ import annotations

import numpy as np

from shoal.core.column import Column
from shoal.core.histogram import Histogram
from shoal.core.labels import hierarchy_bounds, range_labels, set_labels
from shoal.core.recoding import NO_LEVEL, Recoding
from shoal.core.subsets import Subsets
from shoal.support.arrays import Bools, Codes, Counts

_BITS = 62  # a set over at most this many values fits in one integer


def ranges(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish `[least, greatest]` of each group, with a note if some values are missing."""
    first = pairs.codes[pairs.indptr[:-1]]
    last = pairs.codes[pairs.indptr[1:] - 1]
    with_missing = np.zeros(len(first), dtype=np.bool_)
    if column.missing is not None:
        with_missing = last == column.missing
        before = pairs.codes[np.maximum(pairs.indptr[1:] - 2, 0)]
        last = np.where(with_missing & (first < column.missing), before, last)
    keys = (first.astype(np.int64) * column.domain + last) * 2 + with_missing
    _, sample, entry = np.unique(keys, return_index=True, return_inverse=True)
    subsets = _with_missing(column, first[sample], last[sample], with_missing[sample])
    return Recoding(column, _per_row(entry, ids), subsets, range_labels(column, subsets))


def _with_missing(column: Column, first: Codes, last: Codes, missing: Bools) -> Subsets:
    """Return the ranges first … last, with the missing code added where `missing` is set."""
    if column.missing is None or not missing.any():
        return Subsets.ranges(column.domain, first, last)
    # the missing code follows the greatest known one, so a range may touch it
    extra = missing & (last < column.missing - 1)
    stops = np.where(missing & ~extra, column.missing, last)
    indptr = np.concatenate(([0], np.cumsum(1 + extra)))
    starts = np.insert(first, np.flatnonzero(extra) + 1, column.missing)
    ends = np.insert(stops, np.flatnonzero(extra) + 1, column.missing)
    return Subsets(column.domain, indptr, starts.astype(np.int32), (ends + 1).astype(np.int32))


def sets(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish the set of values of each group."""
    sample, entry = _distinct_sets(column, pairs)
    lengths = np.diff(pairs.indptr)[sample]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    starts = np.repeat(pairs.indptr[sample] - indptr[:-1], lengths)
    members = pairs.codes[starts + np.arange(int(indptr[-1]))]
    subsets = Subsets.of_members(column.domain, indptr, members)
    return Recoding(column, _per_row(entry, ids), subsets, set_labels(column, subsets))


def _distinct_sets(column: Column, pairs: Histogram) -> tuple[Counts, Counts]:
    """Return one group for each distinct set, and the distinct set of each group."""
    if column.domain <= _BITS:
        bits = np.left_shift(np.int64(1), pairs.codes.astype(np.int64))
        masks = np.bitwise_or.reduceat(bits, pairs.indptr[:-1])
        _, sample, entry = np.unique(masks, return_index=True, return_inverse=True)
        return sample, entry
    # sums of random numbers distinguish sets; the check of the release would detect a collision
    signs = np.random.default_rng(0).integers(0, 2**63, (2, column.domain), dtype=np.uint64)
    sums = [np.add.reduceat(sign[pairs.codes], pairs.indptr[:-1]) for sign in signs]
    order = np.lexsort(sums)
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.any([np.diff(total[order]) != 0 for total in sums], axis=0)
    entry = np.empty(len(order), dtype=np.int64)
    entry[order] = np.cumsum(fresh) - 1
    return order[fresh], entry


def ancestors(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish the lowest common ancestor of each group's values."""
    assert column.hierarchy is not None
    levels = column.hierarchy.levels
    offsets = np.concatenate(([0], np.cumsum([len(level) for level in levels])))
    chosen = np.full(len(pairs.indptr) - 1, -1, dtype=np.int64)
    for height, level in enumerate(levels):
        groups = level.groups[pairs.codes]
        least = np.minimum.reduceat(groups, pairs.indptr[:-1])
        most = np.maximum.reduceat(groups, pairs.indptr[:-1])
        settled = (chosen < 0) & (least == most)
        chosen[settled] = offsets[height] + least[settled]
    used, entry = np.unique(chosen, return_inverse=True)
    at = np.searchsorted(offsets, used, side="right") - 1
    places = list(zip(at.tolist(), (used - offsets[at]).tolist(), strict=True))
    by_level = [Subsets.of_groups(level.groups, len(level)) for level in levels]
    subsets = Subsets.joined(by_level).take(used)
    texts = tuple(levels[h].labels[g] for h, g in places)
    bounds = None
    if all(level.bounds is not None for level in levels):
        bounds = np.concatenate([level.bounds for level in levels if level.bounds is not None])
        bounds = bounds[used]
    low, high = hierarchy_bounds(column, subsets, bounds)
    codes = _per_row(entry, ids)
    return Recoding(column, codes, subsets, texts, low, high, at.astype(np.int32))


def representatives(column: Column, ids: Codes, pairs: Histogram) -> Recoding:
    """Publish one value for each group: its median if ordered, else its most frequent value.

    Its subset is still the range or set of the group, so that losses are not underestimated.
    """
    cover = ranges(column, ids, pairs) if column.ordered else sets(column, ids, pairs)
    owners = np.repeat(np.arange(len(pairs.indptr) - 1), np.diff(pairs.indptr))
    if column.ordered:
        upto = np.cumsum(pairs.counts)
        before = np.concatenate(([0], upto))[pairs.indptr]
        half = (np.diff(before) + 1) // 2 + before[:-1]
        place = np.searchsorted(upto, half, side="left")
    else:
        order = np.lexsort((pairs.codes, -pairs.counts, owners))
        place = order[pairs.indptr[:-1]]
    middle = pairs.codes[place]
    by_group = np.zeros(len(middle), dtype=np.int64)
    by_group[ids[ids >= 0]] = cover.codes[ids >= 0]
    keys = by_group * column.domain + middle
    used, entry = np.unique(keys, return_inverse=True)
    subsets = cover.subsets.take(used // column.domain)
    texts = tuple(column.labels[int(code)] for code in used % column.domain)
    levels = np.full(len(used), NO_LEVEL, dtype=np.int32)
    return Recoding(column, _per_row(entry, ids), subsets, texts, levels=levels)


def _per_row(entry: Counts, ids: Codes) -> Codes:
    """Return the entry of each row's group; rows without a group are suppressed afterwards."""
    return entry.astype(np.int32)[np.maximum(ids, 0)]
