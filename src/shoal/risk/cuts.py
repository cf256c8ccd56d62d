"""Cuts: ways in which the classes of a release could have been finer.

A cut divides a class by one quasi-identifier, as a method would: at a point of its order, or into
the labels one level down its hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.histogram import Histogram, count_values
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.support.arrays import Bools, Codes, Counts

MAX_CUTS = 32  # cuts of a class by one column, evenly spread


@dataclass(frozen=True, eq=False)
class Cuts:
    """One cut for each of several classes.

    Parameters:
        rows: Rows of these classes.
        parts: (rows,) the part of each row, numbered from 0 without gaps.
        owners: (parts,) the class of each part.
    """

    rows: Counts
    parts: Codes
    owners: Codes


def cuts(release: Release, k: int) -> Iterator[Cuts]:
    """Yield the cuts that leave every part at least k people, for several classes at a time.

    Parameters:
        release: The release.
        k: Smallest number of people in a part.
    """
    for recoding in release.recodings.values():
        used = _levels(release, recoding)
        if used is None:
            yield from _in_order(release, recoding, k)
        else:
            yield from _by_level(release, recoding, used, k)


def _levels(release: Release, recoding: Recoding) -> Codes | None:
    """(classes,) the level at which each class is published, None if not all have one."""
    if recoding.levels is None or recoding.column.hierarchy is None:
        return None
    ids = release.classes.ids
    levels = np.empty(len(release.classes), dtype=np.int32)
    kept = ids >= 0
    levels[ids[kept]] = recoding.levels[recoding.codes[kept]]
    return None if (levels < 0).any() else levels


def _in_order(release: Release, recoding: Recoding, k: int) -> Iterator[Cuts]:
    """Cut classes between two neighbouring values: first one cut of each class, then the next."""
    classes, column = release.classes, recoding.column
    values = count_values(column, classes.ids, len(classes), release.original.counts)
    owners = np.repeat(np.arange(len(classes)), np.diff(values.indptr))
    left, right = _sides(release, column, values, owners)
    fair = np.flatnonzero((left >= k) & (right >= max(k, 1)))
    fair, turns = _spread(fair, owners[fair])
    for turn in range(int(turns.max(initial=-1)) + 1):
        entries = fair[turns == turn]
        limits = np.full(len(classes), -1, dtype=np.int32)
        limits[owners[entries]] = values.codes[entries]
        yield _parted(release, limits >= 0, column.codes > limits[classes.ids])


def _sides(
    release: Release, column: Column, values: Histogram, owners: Counts
) -> tuple[Counts, Counts]:
    """Return the number of people, or households, of a class up to each value, and after it."""
    classes, table = release.classes, release.original
    units = [unit for unit in (table.person, table.household) if unit is not None]
    if table.person is None:
        upto = np.concatenate(([0], np.cumsum(values.counts)))
        left = upto[1:] - upto[values.indptr[owners]]
        sides = [(left, classes.rows[owners] - left)]
    else:
        sides = []
    keys = owners * column.domain + values.codes
    for unit in units:
        rows = np.flatnonzero(classes.ids >= 0)
        pair = group([classes.ids[rows], unit.ids[rows]], [len(classes), unit.count])
        owner = classes.ids[rows[pair.first]].astype(np.int64)
        lowest = np.full(len(pair), column.domain)
        highest = np.full(len(pair), -1)
        np.minimum.at(lowest, pair.ids, column.codes[rows])
        np.maximum.at(highest, pair.ids, column.codes[rows])
        before = np.searchsorted(owner, owners)  # pairs are in the order of their classes
        total = np.searchsorted(owner, owners, side="right") - before
        low, high = (np.sort(owner * column.domain + ends) for ends in (lowest, highest))
        left, kept = (np.searchsorted(ends, keys, side="right") - before for ends in (low, high))
        sides.append((left, total - kept))
    lefts, rights = zip(*sides, strict=True)
    return np.minimum.reduce(lefts), np.minimum.reduce(rights)


def _spread(entries: Counts, owners: Counts) -> tuple[Counts, Counts]:
    """Return up to MAX_CUTS entries of each owner, evenly spread, and the turn of each from 0."""
    _, first, owner, count = np.unique(
        owners, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.arange(len(owners)) - first[owner]
    turn = rank * MAX_CUTS // np.maximum(count, MAX_CUTS)[owner]  # the rank if they are few
    fresh = np.ones(len(owners), dtype=np.bool_)
    fresh[1:] = (turn[1:] != turn[:-1]) | (owners[1:] != owners[:-1])
    return entries[fresh], turn[fresh]


def _by_level(release: Release, recoding: Recoding, used: Codes, k: int) -> Iterator[Cuts]:
    """Cut classes into the labels of the first lower level at which they have several."""
    assert recoding.column.hierarchy is not None
    classes, codes = release.classes, recoding.column.codes
    uncut = np.ones(len(classes), dtype=np.bool_)
    for height in range(int(used.max(initial=0)) - 1, -1, -1):
        labels = recoding.column.hierarchy.levels[height].groups[codes]
        parted = _parted(release, uncut & (used > height), labels)
        several = np.bincount(parted.owners, minlength=len(classes)) > 1
        uncut &= ~several
        sizes = Classes.of(release.original.take(parted.rows), parted.parts).sizes
        fair = several.copy()
        fair[parted.owners[sizes < k]] = False
        if fair.any():
            yield _parted(release, fair, labels)


def _parted(release: Release, wanted: Bools, sides: Any) -> Cuts:
    """Return the wanted classes, each divided by the side of its rows."""
    ids = release.classes.ids
    rows = np.flatnonzero((ids >= 0) & wanted[ids]) if len(wanted) else np.zeros(0, np.int64)
    if not len(rows):
        return Cuts(rows, np.zeros(0, np.int32), np.zeros(0, np.int32))
    parts = group([ids[rows], sides[rows]], [len(wanted), int(sides.max()) + 1])
    return Cuts(rows, parts.ids, ids[rows[parts.first]])
