"""The distinct records of a table, laid out so that computed widths never exceed the true ones.

Widths are whole units. Positions of ordered columns are rounded to the nearest unit, so a width can
be one unit too large; `Space.excess` bounds the sum of these errors. All other widths are rounded
down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.anonymize.partition.bounding._kinds import Kinds
from shoal.core.column import Column
from shoal.core.recoding import Recoding
from shoal.core.table import Table
from shoal.support.arrays import Codes, Counts, Floats

_UNITS = 2**29  # of one record that has lost everything


@dataclass(frozen=True, eq=False)
class Space:
    """Distinct records for the kernels.

    kinds: their layout.
    scale: the loss of one unit.
    """

    kinds: Kinds
    scale: float

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.kinds.count.sum())

    @property
    def excess(self) -> int:
        """Units by which the computed loss of a grouping can exceed its true loss."""
        return self.records * int(self.kinds.line.shape[1])


def lay_out_kinds(table: Table, *, use_hierarchies: bool) -> Space:
    """Return the distinct records of a table.

    use_hierarchies: whether columns with a hierarchy are published by its labels.
    """
    distinct = table.distinct().table
    assert distinct.counts is not None
    columns = distinct.quasi_columns
    total = sum(c.weight for c in columns) or 1.0
    trees = [c for c in columns if use_hierarchies and c.hierarchy is not None]
    lines = [c for c in columns if c.ordered and c not in trees]
    names = [c for c in columns if not c.ordered and c not in trees]
    names.sort(key=lambda c: -int(c.weight / total * _UNITS / c.domain))
    places = [_line(c, c.weight / total) for c in lines]
    domains = np.array([c.domain for c in names], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(domains))).astype(np.int32)
    levels = [_branches(c, c.weight / total) for c in trees]
    sizes = [len(branch) for branch, _ in levels]
    kinds = Kinds(
        distinct.counts.astype(np.int64),
        _matrix([place[c.codes] for c, (place, _) in zip(lines, places, strict=True)], distinct),
        np.array([cap for _, cap in places], dtype=np.int64),
        _matrix([c.codes + at for c, at in zip(names, starts[:-1], strict=True)], distinct),
        np.array([int(c.weight / total * _UNITS / c.domain) for c in names], dtype=np.int64),
        _matrix([c.codes for c in trees], distinct),
        np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64),
        np.array([c.domain for c in trees], dtype=np.int64),
        np.array([_levels(c) for c in trees], dtype=np.int64),
        np.concatenate([np.zeros(0, np.int32), *(branch for branch, _ in levels)]),
        np.concatenate([np.zeros(0, np.int64), *(cost for _, cost in levels)]),
        starts[-1:].astype(np.int64),
    )
    return Space(kinds, total / _UNITS)


def _matrix(parts: list[Codes], table: Table) -> Codes:
    if not parts:
        return np.zeros((len(table), 0), dtype=np.int32)
    return np.ascontiguousarray(np.stack(parts, axis=1), dtype=np.int32)


def _line(column: Column, weight: float) -> tuple[Codes, int]:
    """Return each value's position, and the width of the whole extent.

    A missing value is one extent above, so that its width with any other value is the whole extent.
    """
    low, high = column.extent
    whole = int(weight * _UNITS)
    place = np.zeros(column.domain, dtype=np.int32)
    if high > low:
        place[: column.known] = np.rint(
            (column.positions[: column.known] - low) / (high - low) * whole
        )
    if column.missing is not None:
        place[column.missing] = 2 * whole
    return place, whole if high > low or column.missing is not None else 0


def _levels(column: Column) -> int:
    assert column.hierarchy is not None
    return len(column.hierarchy.levels)


def _branches(column: Column, weight: float) -> tuple[Codes, Counts]:
    """Return the branch of each code at each level, and its width, one level after the other.

    A width is at most that of any branch above it, so that joining values never narrows a label.
    """
    assert column.hierarchy is not None
    branches = np.stack([level.groups for level in column.hierarchy.levels]).astype(np.int32)
    widths = [_level_widths(column, height) for height in range(len(branches))]
    cost = np.minimum.accumulate(np.stack(widths)[::-1], axis=0)[::-1]
    cost[0] = 0.0
    return branches.ravel(), (cost * weight * _UNITS).astype(np.int64).ravel()


def _level_widths(column: Column, height: int) -> Floats:
    """Return the penalty of each code's label at one level."""
    published = Recoding.at_level(column, height)
    sizes = published.subsets.sizes
    widths = published.widths() if column.ordered else (sizes - 1) / column.domain
    assert column.hierarchy is not None
    spread: Floats = np.asarray(widths, dtype=np.float64)[column.hierarchy.levels[height].groups]
    return spread
