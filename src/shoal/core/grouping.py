"""Grouping of equal rows: dense ids for equal tuples of codes.

The only place that groups rows. Codes are packed into keys, which are sorted unless few are
possible; if a key and a row number would exceed 62 bits, the codes packed so far are first replaced
by dense ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts, frozen

_KEY_LIMIT = 2**62
_FEW = 2**16  # keys below this, or below the number of rows, are not sorted


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
    return group_keys(_packed(columns, domains)[0])


def order_rows(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> Counts:
    """Return the rows in lexicographic order of their codes, equal ones in their own order.

    Parameters:
        columns: (rows,) codes, taken one at a time; those of column j are below domains[j].
        domains: The number of codes of each column.

    >>> order_rows([np.array([1, 0, 1]), np.array([0, 7, 0])], [2, 8]).tolist()
    [1, 0, 2]
    """
    keys, bound = _packed(columns, domains)
    bits = len(keys).bit_length()
    if bound <= _FEW:
        return np.argsort(keys.astype(np.uint16), kind="stable")  # 16 bits are sorted much faster
    if bound << bits > _KEY_LIMIT:
        return np.argsort(keys, kind="stable")
    return _sort_packed(keys, bits)[0]


def _packed(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> tuple[Counts, int]:
    """Return (rows,) keys in the lexicographic order of the codes, and their bound."""
    if not domains:
        raise ValueError("nothing to group by")
    each = iter(columns)
    keys, bound = next(each).astype(np.int64), max(int(domains[0]), 1)
    limit = _KEY_LIMIT >> len(keys).bit_length()  # so that keys can be sorted with their rows
    for codes, domain in zip(each, domains[1:], strict=True):
        width = max(int(domain), 1)
        if bound > limit // width:
            packed = group_keys(keys)
            keys, bound = packed.ids.astype(np.int64), len(packed)
        keys *= width
        keys += codes
        bound *= width
    return keys, bound


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
    rows = len(keys)
    if not rows:
        return Grouping(frozen(np.empty(0, np.int32)), frozen(np.empty(0, np.int64)))
    low = int(keys.min())
    span = int(keys.max()) - low + 1
    keys = np.subtract(keys, low, dtype=np.int64)
    if span <= max(rows, _FEW):
        return _group_by_marks(keys, span)
    bits = rows.bit_length()
    if span << bits <= _KEY_LIMIT:
        order, starts = _sort_packed(keys, bits)
    else:
        order = np.argsort(keys, kind="stable")
        starts = _where_new(keys[order])
    ids = np.empty(rows, dtype=np.int32)
    ids[order] = np.cumsum(starts, dtype=np.int32) - 1
    return Grouping(frozen(ids), frozen(order[starts]))


def _group_by_marks(keys: Counts, span: int) -> Grouping:
    """Group rows by keys below a small span, without sorting."""
    present = np.zeros(span, dtype=np.bool_)
    present[keys] = True
    rank = np.cumsum(present, dtype=np.int32)
    rank -= 1
    ids = rank[keys]
    first = np.empty(int(rank[-1]) + 1, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(keys) - 1, -1, -1)  # the last one assigned remains
    return Grouping(frozen(ids), frozen(first))


def _sort_packed(keys: Counts, bits: int) -> tuple[Counts, Bools]:
    """Return the stable order of keys, and where a new key begins in it.

    keys: overwritten. bits: of a row number. Key and row are sorted as one number, which is several
    times faster than a stable sort of positions.
    """
    keys <<= bits
    keys |= np.arange(len(keys))
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    return order, _where_new(keys)


def _where_new(ordered: Counts) -> Bools:
    starts = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    return starts
