"""The records of a table as points, in the published order, for methods that group records.

The order is lexicographic, the attribute with the least variance first (Liang, "Algorithms in
privacy & security for data analytics and machine learning", 2020, §3.2.3, with eq. 3.2.36 where
attributes have weights). It depends only on values, so the order of rows in a file never changes a
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import frexp

import numpy as np

from shoal.anonymize.partition._boxes import (
    Boxes,
    Points,
    box_widths,
    fill_boxes,
    make_boxes,
)
from shoal.core.column import Column
from shoal.core.grouping import group, sum_by
from shoal.core.table import Table
from shoal.support.arrays import Codes, Counts, Floats

_UNITS = 2**29  # of one record that has lost everything


@dataclass(frozen=True, eq=False)
class Records:
    """Points in the published order.

    rows: (records,) the row of each record.
    points: the records in the layout of the kernels.
    scale: the loss of one unit.
    """

    rows: Counts
    points: Points
    scale: float

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def copies(self) -> Codes:
        """(records,) dense ids of equal records, ascending, as equal records are adjacent."""
        fresh = np.zeros(len(self), dtype=np.bool_)
        for part in (self.points.line, self.points.name):
            fresh[1:] |= (part[1:] != part[:-1]).any(axis=1)
        return np.cumsum(fresh, dtype=np.int32)

    def take(self, chosen: Counts) -> Records:
        """Return some of the records, at the same scale."""
        line, name = self.points.line[chosen], self.points.name[chosen]
        return Records(self.rows[chosen], self.points._replace(line=line, name=name), self.scale)

    def boxes(self, ids: Codes, groups: int) -> tuple[Boxes, Counts, Counts]:
        """Return the box, the size and the width of every group."""
        boxes = make_boxes(self.points, groups)
        sizes, widths = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        fill_boxes(self.points, ids, boxes, sizes)
        box_widths(self.points, boxes, widths)
        return boxes, sizes, widths

    def loss(self, ids: Codes) -> float:
        """Return the loss of a grouping, summed over its records: weighted penalties (NCP)."""
        return self.units(ids) * self.scale

    def units(self, ids: Codes) -> int:
        """Return the loss of a grouping in whole units."""
        _, sizes, widths = self.boxes(ids, int(ids.max()) + 1)
        return int((sizes * widths).sum())

    def by_row(self, ids: Codes) -> Codes:
        """Return ids of records as ids of rows."""
        spread = np.empty(len(ids), dtype=np.int32)
        spread[self.rows] = ids
        return spread


def lay_out(table: Table, also: Sequence[str] = ()) -> Records:
    """Return the records of a table; the columns `also` determine the order of equal records."""
    columns = table.quasi_columns
    first = sorted(columns, key=_spread)
    keyed = [*first, *(table[name] for name in also)]
    ids = group([c.codes for c in keyed], [c.domain for c in keyed]).ids
    rows = np.argsort(ids, kind="stable")
    total = sum(c.weight for c in columns) or 1.0
    lines = [_line(c, c.weight / total) for c in columns if c.ordered]
    names = [c for c in columns if not c.ordered]
    words = [(c.domain + 63) // 64 for c in names]
    points = Points(
        _matrix([place[c.codes[rows]] for c, (place, _) in _pairs(columns, lines)], len(rows)),
        _matrix([c.codes[rows] for c in names], len(rows)),
        np.array([cap for _, cap in lines], dtype=np.int64),
        np.array([round(c.weight / total * _UNITS / c.domain) for c in names], dtype=np.int64),
        np.concatenate(([0], np.cumsum(words))).astype(np.int64),
    )
    return Records(rows, points, total / _UNITS)


def _pairs(
    columns: Sequence[Column], lines: list[tuple[Codes, int]]
) -> list[tuple[Column, tuple[Codes, int]]]:
    return list(zip((c for c in columns if c.ordered), lines, strict=True))


def _matrix(parts: list[Codes], rows: int) -> Codes:
    if not parts:
        return np.zeros((rows, 0), dtype=np.int32)
    return np.ascontiguousarray(np.stack(parts, axis=1), dtype=np.int32)


def _line(column: Column, weight: float) -> tuple[Codes, int]:
    """Return each value's position in units, and the width of the whole extent.

    weight: the column's share of all weights.
    """
    low, high = column.extent
    whole = round(weight * _UNITS)
    cap = whole if high > low else 0
    place = np.zeros(column.domain, dtype=np.int32)
    if high > low:
        share = (column.positions[: column.known] - low) / (high - low)
        place[: column.known] = np.rint(share * cap)
    if column.missing is not None:
        place[column.missing] = 2 * whole
        cap = whole
    return place, cap


def _spread(column: Column) -> tuple[float, float]:
    """Return the variance of a column's values, divided by its weight squared.

    As exponent and mantissa, which compare in this order: it may be too large for a float.
    """
    counts: Floats = sum_by(column.codes, column.domain)[: column.known].astype(np.float64)
    if not counts.sum():
        return (-np.inf, 0.0)
    places = column.positions[: column.known]
    share = counts / counts.sum()
    mean = float((share * places).sum())
    variance, exponent = frexp(float((share * (places - mean) ** 2).sum()))
    weight, scale = frexp(column.weight)
    if not weight:
        return (np.inf, 0.0)
    if not variance:
        return (-np.inf, 0.0)
    mantissa, carried = frexp(variance / weight**2)
    return (exponent + carried - 2 * (scale + column.ruler.exponent), mantissa)
