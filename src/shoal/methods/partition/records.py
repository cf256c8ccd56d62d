"""The records of a table as points in a fixed order, for methods that group records.

    lay_out         rows → Records: positions and codes in whole units, in the published order
    Appearances     people with several rows, as slices of records that a method may group
    hilbert_order, along_curve, remoteness    other orders

The published order is lexicographic, the attribute with the least variance first (Liang,
"Algorithms in privacy & security for data analytics and machine learning", 2020, §3.2.3, with
eq. 3.2.36 where attributes have weights). It depends only on values, so the order of rows in a file
never changes a release.

An appearance is a person with one tuple of quasi-identifiers, however many rows have it. A slice
contains at most one appearance of each person, so k records of a slice are k people: a method that
groups records is applied to each slice, and appearances that are too few for a slice join existing
groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp
from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.partition._boxes import Boxes, Points, box_widths, fill_boxes, make_boxes
from shoal.methods.partition._runs import write_curve_keys
from shoal.support.arrays import Codes, Counts, Floats
from shoal.table.column import Column
from shoal.table.people import group, sum_by
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.groups import Cluster


UNITS = 2**29  # of one record that has lost everything


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
    ordered, names = [c for c in columns if c.ordered], [c for c in columns if not c.ordered]
    first = sorted(columns, key=_spread)
    keyed = [*first, *(table[name] for name in also)]
    ids = group([c.codes for c in keyed], [c.domain for c in keyed]).ids
    rows = np.argsort(ids, kind="stable")
    total = sum(c.weight for c in columns) or 1.0
    lines = [_line(c, c.weight / total) for c in ordered]
    words = [(c.domain + 63) // 64 for c in names]
    points = Points(
        stacked([p[c.codes[rows]] for c, (p, _) in zip(ordered, lines, strict=True)], len(rows)),
        stacked([c.codes[rows] for c in names], len(rows)),
        np.array([cap for _, cap in lines], dtype=np.int64),
        np.array([round(c.weight / total * UNITS / c.domain) for c in names], dtype=np.int64),
        np.concatenate(([0], np.cumsum(words))).astype(np.int64),
    )
    return Records(rows, points, total / UNITS)


def stacked(parts: list[Codes], rows: int) -> Codes:
    """Return columns as (rows, columns), contiguous; (rows, 0) without columns."""
    if not parts:
        return np.zeros((rows, 0), dtype=np.int32)
    return np.ascontiguousarray(np.stack(parts, axis=1), dtype=np.int32)


def _line(column: Column, weight: float) -> tuple[Codes, int]:
    """Return each value's position in units, and the width of the whole extent.

    weight: the column's share of all weights.
    """
    low, high = column.extent
    full = round(weight * UNITS)
    cap = full if high > low else 0
    place = np.zeros(column.domain, dtype=np.int32)
    if high > low:
        share = (column.positions[: column.known] - low) / (high - low)
        place[: column.known] = np.rint(share * cap)
    if column.missing is not None:
        # one extent above the greatest value: a box with it and any other has the whole width
        place[column.missing] = 2 * full
        cap = full
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


@dataclass(frozen=True, eq=False)
class Appearances:
    """The appearances of a table's people.

    table: one row for each, with the columns of its first row.
    of_row: (rows of the source,) the appearance of each row.
    slices: (appearances,) the slice of each, from 0; later slices are never larger.
    """

    table: Table
    of_row: Codes
    slices: Codes

    @classmethod
    def of(cls, table: Table, *, row_by_row: bool = False) -> Appearances:
        """Return the appearances of a table whose people may have several rows.

        row_by_row: make each row a separate appearance, even equal rows of a person.
        """
        assert table.unit is not None
        quasi, unit = table.quasi_columns, table.unit
        codes = [*(c.codes for c in quasi), unit.ids]
        domains = [*(c.domain for c in quasi), unit.count]
        if row_by_row:
            codes.append(earlier_equals(group(codes, domains).ids))
            domains.append(len(table))
        found = group(codes, domains)
        return cls(table.take(found.first), found.ids, earlier_equals(unit.ids[found.first]))

    def __len__(self) -> int:
        return len(self.slices)

    @property
    def once(self) -> bool:
        """Whether every person has exactly one appearance."""
        return not self.slices.any()

    @cached_property
    def single(self) -> Table:
        """The appearances as a table whose rows are people; valid only within one slice."""
        return replace(self.table, counts=None, person=None, household=None)

    def members(self, number: int) -> Counts:
        """Return the appearances of one slice."""
        return np.flatnonzero(self.slices == number)

    def cluster(self, records: Records, k: int, method: Cluster) -> Codes:
        """Group each slice by a method; the appearances of small slices stay single.

        records: the appearances laid out. Returns (records,) groups from 0 without gaps.
        """
        ids = np.full(len(records), -1, dtype=np.int32)
        slices, groups = self.slices[records.rows], 0
        for number in range(int(slices.max()) + 1):
            chosen = np.flatnonzero(slices == number)
            if len(chosen) < k:
                break
            part, rows = records.take(chosen), self.single.take(records.rows[chosen])
            alone = len(chosen) < 2 * k
            part_ids = (
                np.zeros(len(chosen), dtype=np.int32)
                if alone
                else method(replace(part, rows=np.arange(len(chosen))), k, rows)
            )
            ids[chosen] = part_ids + groups
            groups += int(part_ids.max()) + 1
        left = np.flatnonzero(ids < 0)
        ids[left] = np.arange(groups, groups + len(left), dtype=np.int32)
        return ids


def earlier_equals(ids: Codes) -> Codes:
    """(rows,) the number of earlier rows with the same id."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    first = np.searchsorted(ordered, ordered)
    number = np.empty(len(ids), dtype=np.int32)
    number[order] = np.arange(len(ids)) - first
    return number


_BITS = 16  # of a coordinate on the curve


def remoteness(records: Records) -> Counts:
    """Return the distance of each record from the mean, in units.

    A missing value is one extent away, and the distance of a nominal value is the share of records
    with another value.
    """
    points, count = records.points, max(len(records), 1)
    away = np.zeros(len(records), dtype=np.int64)
    for place, cap in zip(points.line.T, points.cap, strict=True):
        known = place <= cap
        mean = int(place[known].sum(dtype=np.int64)) // max(int(known.sum()), 1)
        away += np.where(known, np.abs(place - mean), cap)
    for codes, unit in zip(points.name.T, points.unit, strict=True):
        same = np.bincount(codes)[codes]
        away += unit * (count - same) // count
    return away


def hilbert_order(records: Records) -> Counts:
    """Return the records along a Hilbert curve; records in one cell keep the published order.

    The codes of a nominal column are coordinates like others, spread over its whole weight.
    """
    points = records.points
    last = points.name.max(axis=0, initial=1)
    spread = points.name * (points.unit * (last + 1)) // last
    places = np.concatenate([points.line, spread], axis=1, dtype=np.int64)
    # one scale for all columns, so that a unit is as long in each of them
    places = places * (2**_BITS - 1) // max(int(places.max(initial=0)), 1)
    keys = np.zeros((len(places), -(-_BITS * places.shape[1] // 64)), dtype=np.uint64)
    write_curve_keys(places, _BITS, keys)
    return np.lexsort(keys.T[::-1])


def along_curve(records: Records) -> Counts:
    """Return the order of all records along a Hilbert curve, with equal records adjacent."""
    first = np.flatnonzero(np.diff(records.copies, prepend=-1))
    rank = np.empty(len(records), dtype=np.int64)
    rank[hilbert_order(records)] = np.arange(len(records))
    return np.argsort(rank[first][records.copies], kind="stable")
