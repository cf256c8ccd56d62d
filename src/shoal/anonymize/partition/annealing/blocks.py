"""Blocks of nearby groups, with different borders for every seed."""

from __future__ import annotations

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts

_SORTED_BY = 3  # columns of a split, the further ones to break ties
_BITS = 21  # of each of them in a key of 64 bits


def split_groups(places: Codes, most: int, draw: np.random.Generator) -> Codes:
    """Return a block for each group, splitting by random columns until blocks are small.

    places: (groups, columns) where a group is. most: a block has fewer than twice as many groups.
    """
    number = np.zeros(len(places), dtype=np.int32)
    ranks = _coarse(places)
    waiting, blocks = [np.arange(len(places))], 0
    while waiting:
        part = waiting.pop()
        if len(part) < 2 * most:
            number[part] = blocks
            blocks += 1
            continue
        keys = np.zeros(len(part), dtype=np.int64)
        for column in draw.permutation(len(ranks))[:_SORTED_BY]:
            keys = (keys << _BITS) | ranks[column][part]
        middle = int(len(part) * draw.uniform(0.4, 0.6))
        below = _least(keys, middle)
        waiting += [part[~below], part[below]]
    return number


def order_by(block: Codes, count: int) -> tuple[Codes, Counts]:
    """Return the records by block, in their own order within it, and where each block begins.

    block: (records,) numbers from −1, for none, to count − 1.
    """
    kind = np.uint16 if count < 2**16 - 1 else np.uint32  # 16 bits are sorted much faster
    order = np.argsort((block + 1).astype(kind), kind="stable").astype(np.int32)
    sizes = np.bincount(block + 1, minlength=count + 1)
    return order, np.cumsum(sizes)


def _coarse(places: Codes) -> Counts:
    """Return (columns, groups) the places with at most _BITS bits."""
    coarse = np.ascontiguousarray(places.T, dtype=np.int64)
    for column, largest in enumerate(coarse.max(axis=1, initial=0)):
        coarse[column] >>= max(int(largest).bit_length() - _BITS, 0)
    return coarse


def _least(keys: Counts, count: int) -> Bools:
    """Mark the `count` least keys, the first ones of those that are equal."""
    pivot = np.partition(keys, count)[count]
    least: Bools = keys < pivot
    equal = np.flatnonzero(keys == pivot)
    least[equal[: count - int(least.sum())]] = True
    return least
