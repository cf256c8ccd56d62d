"""Grouping of equal rows: dense ids for equal tuples of codes.

The only place that groups rows. Codes are packed into 64-bit keys and sorted; if a key would
overflow, the codes packed so far are first replaced by dense ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.support.arrays import Codes, Counts, frozen

_KEY_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Grouping:
    """Dense ids of equal rows, numbered in lexicographic order of the columns.

    ids: (rows,) the group of each row.
    first: (groups,) one row of each group, the earliest.
    """

    ids: Codes
    first: Counts

    def __len__(self) -> int:
        return len(self.first)

    def sizes(self, counts: Counts | None = None) -> Counts:
        """Return the number of records in each group; `counts` are multiplicities of rows."""
        return sum_by(self.ids, len(self), counts)


def group(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> Grouping:
    """Group rows by equal codes; the codes of column j are below domains[j].

    columns: taken one at a time, so that a generator holds only one in memory.
    """
    if not domains:
        raise ValueError("nothing to group by")
    each = iter(columns)
    keys, bound = next(each).astype(np.int64), max(int(domains[0]), 1)
    for codes, domain in zip(each, domains[1:], strict=True):
        width = max(int(domain), 1)
        if bound > _KEY_LIMIT // width:
            packed = group_keys(keys)
            keys, bound = packed.ids.astype(np.int64), len(packed)
        keys *= width
        keys += codes
        bound *= width
    return group_keys(keys)


def sum_by(ids: Codes | Counts, groups: int, counts: Counts | None = None) -> Counts:
    """Return the number of rows, or the sum of their counts, in each group; id −1 is ignored."""
    if len(ids) and ids.min() < 0:
        kept = ids >= 0
        ids = ids[kept]
        counts = counts if counts is None else counts[kept]
    if counts is None:
        return np.bincount(ids, minlength=groups).astype(np.int64, copy=False)
    # float64 sums of counts are exact below 2**53 records
    return np.bincount(ids, weights=counts, minlength=groups).astype(np.int64)


def group_keys(keys: Counts) -> Grouping:
    """Group rows by one integer key each."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    del ordered
    ids = np.empty(len(keys), dtype=np.int32)
    ids[order] = np.cumsum(starts, dtype=np.int32) - 1
    return Grouping(frozen(ids), frozen(order[starts]))
