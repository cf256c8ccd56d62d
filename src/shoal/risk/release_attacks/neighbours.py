"""Nearest released rows of people: Gower's distance over columns of any kind.

Each column adds 0 if the released cell stands for the person's value. Otherwise a nominal column
adds 1, and an ordered column the gap to the nearest end of the cell relative to the range of the
values, at most 1. Among equally near rows, those whose cells stand for fewer values come first.
Gower, "A general coefficient of similarity and some of its properties", Biometrics 27(4), 1971.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.risk.release_attacks.attacked_tables import Cells, Sources
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.progress import report
from shoal.table.people import order_rows

EXACT = 1e-6  # distances below are 0; breadth adds less
_BREADTH = 1e-9
_MAX_BINS = 1024  # of an ordered column
_MAX_BYTES = 2**25  # of one table for a batch of people
_SAMPLED_PEOPLE, _SAMPLED_ROWS = 32, 2000  # to choose the order of columns
_STEPS = 60_000  # of the lower bounds of bins


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest released combinations of people, nearest first.

    distances: (people, neighbours) Gower's distances, infinite if there are fewer combinations.
    rows: (people, neighbours) the combinations, −1 if there are fewer.
    """

    distances: Floats
    rows: Counts


class Space:
    """The distinct released rows, arranged for the search on some columns.

    Rows that are equal in all quasi-identifiers are one neighbour. Which of several equally near
    ones comes first is random, but the same for all searches with the same priority.
    """

    def __init__(self, sources: Sources, names: Sequence[str], priority: Counts) -> None:
        first = sources.distinct.first
        self._cells = _in_order([sources.quasi[name] for name in names], first, len(sources.people))
        entries = np.stack([cells.codes[first] for cells in self._cells], axis=1)
        self._bins = _Bins(self._cells[0])
        bins = self._bins.of_entry[entries[:, 0]]
        sizes = [len(self._bins), *(len(cells) for cells in self._cells)]
        self._order = order_rows([bins, *entries.T], sizes)
        self._begins = np.concatenate(
            ([0], np.cumsum(np.bincount(bins, minlength=len(self._bins))))
        )
        self._entries = np.ascontiguousarray(entries[self._order], dtype=np.int32)
        self._changes, self._skips = _changes(self._entries, self._begins)
        self._priority = np.ascontiguousarray(priority[self._order])
        breadth = [
            cells.breadth[column] for cells, column in zip(self._cells, entries.T, strict=True)
        ]
        self._breadth = (_BREADTH * np.sum(breadth, axis=0))[self._order]
        self._ordered = np.array([cells.column.ordered for cells in self._cells])

    def search(self, rows: Counts, count: int, slack: float = np.inf) -> Neighbours:
        """Return the nearest combinations of people.

        Parameters:
            rows: The rows of the people in the people's table.
            count: The maximum number of combinations.
            slack: How much farther than the nearest one the others may be; those beyond may be
                missing.
        """
        distances = np.full((len(rows), count), np.inf)
        neighbours = np.full((len(rows), count), -1, dtype=np.int64)
        width = max(sum(len(cells) for cells in self._cells), len(self._bins) * 8, 1)
        batch = max(_MAX_BYTES // width, 1)
        for start in range(0, len(rows), batch):
            report("searching neighbours", start, len(rows))
            part = slice(start, start + batch)
            self._search(rows[part], distances[part], neighbours[part], slack)
        return Neighbours(distances, np.where(neighbours >= 0, self._order[neighbours], -1))

    def _search(self, rows: Counts, distances: Floats, neighbours: Counts, slack: float) -> None:
        from shoal.risk.release_attacks._nearest import find_nearest

        ordered = [cells for cells in self._cells if cells.column.ordered]
        nominal = [cells for cells in self._cells if not cells.column.ordered]
        begins = {id(cells): start for part in (ordered, nominal) for cells, start in _starts(part)}
        low, high = (
            np.concatenate([np.zeros(0), *(getattr(cells, end) / cells.unit for cells in ordered)])
            for end in ("low", "high")
        )
        blank = np.concatenate([np.zeros(0, np.bool_), *(_blank(cells) for cells in ordered)])
        points = np.stack([_points(cells, rows) for cells in self._cells], axis=1)
        bounds = self._bins.bounds(rows)
        visits = np.argsort(bounds, axis=1, kind="stable").astype(np.int32)
        find_nearest(
            self._entries,
            np.array([begins[id(cells)] for cells in self._cells], dtype=np.int64),
            self._ordered,
            low,
            high,
            blank,
            self._breadth,
            points,
            _apart(nominal, rows),
            self._begins,
            visits,
            np.take_along_axis(bounds, visits, axis=1) / _STEPS,
            self._changes,
            self._skips,
            slack,
            np.zeros(len(self._cells) + 1),
            self._priority,
            distances,
            neighbours,
        )


class _Bins:
    """Cells of one column in groups with a lower bound of the distance.

    Each cell of a nominal column is a bin. Cells of an ordered column are cut into bins by their
    middle; cells that stand for no position are the last bin.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self.of_entry = np.arange(len(cells))
        self._ends: tuple[Any, ...] = ()
        if not cells.column.ordered:
            return
        low, high = cells.low, cells.high
        nowhere = np.isnan(low)
        with np.errstate(invalid="ignore"):  # −∞ to ∞ has no middle
            middle = (low + high) / 2
        order = np.argsort(middle, kind="stable")  # NaN last
        # bins of equally many cells, by middle; of each the least and greatest end bound the gap
        count = min(_MAX_BINS, len(cells))
        self.of_entry[order] = np.arange(len(cells)) * count // len(cells)
        self.of_entry[nowhere] = count
        least, greatest = np.full(count + 1, np.inf), np.full(count + 1, -np.inf)
        np.minimum.at(least, self.of_entry, np.where(nowhere, np.inf, low))
        np.maximum.at(greatest, self.of_entry, np.where(nowhere, -np.inf, high))
        blank = np.zeros(count + 1, dtype=np.bool_)
        np.logical_or.at(blank, self.of_entry, _blank(cells))
        self._ends = (least / cells.unit, greatest / cells.unit, blank)

    def __len__(self) -> int:
        return len(self._ends[2]) if self._ends else len(self._cells)

    def bounds(self, rows: Counts) -> Any:
        """(people, bins) lower bounds of the distance, in steps, rounded down."""
        if not self._ends:
            return _apart([self._cells], rows).astype(np.uint16) * np.uint16(_STEPS)
        least, greatest, blank = self._ends
        point = _points(self._cells, rows)[:, None]
        gaps = np.maximum(np.maximum(least - point, point - greatest), 0.0)
        gaps = np.where(np.isnan(point), np.where(blank, 0.0, 1.0), np.minimum(gaps, 1.0))
        return np.floor(gaps * (_STEPS - 1)).astype(np.uint16)


def _in_order(columns: Sequence[Cells], released: Counts, people: int) -> list[Cells]:
    """Return the columns in the order that rules out most rows early, judged by a sample.

    The first column leaves the fewest rows that are not farther than the nearest one; the others
    follow, nominal ones with few cells first. The order has no influence on the result.

    Parameters:
        released: Released rows to search.
        people: Number of people.
    """
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(people, min(_SAMPLED_PEOPLE, people), replace=False))
    rows = rng.choice(released, min(_SAMPLED_ROWS, len(released)), replace=False)
    distances = [_distances(cells, some, cells.codes[rows]) for cells in columns]
    nearest = np.sum(distances, axis=0).min(axis=1, keepdims=True)
    left = [float((each <= nearest).mean()) for each in distances]
    first = columns[int(np.argmin(left))]
    return sorted(columns, key=lambda c: (c is not first, c.column.ordered, len(c)))


def _changes(entries: Any, begins: Counts) -> tuple[Codes, Codes]:
    """Return where rows, sorted by bin and then by columns, differ from others.

    Returns:
        (rows,) the first column in which a row differs from the one before it; and (rows, columns)
        the first later row that differs in this column or one before, or is in another bin.
    """
    count = len(entries)
    # (rows + 1, columns) whether a row differs from the one before in this column or an earlier one
    differs = np.ones((count + 1, entries.shape[1]), dtype=np.bool_)
    differs[1:-1] = np.logical_or.accumulate(entries[1:] != entries[:-1], axis=1)
    differs[begins] = True
    skips = np.empty(entries.shape, dtype=np.int32)
    for column in range(entries.shape[1]):
        starts = np.flatnonzero(differs[:, column])
        skips[:, column] = np.repeat(starts[1:], np.diff(starts))
    changes = entries.shape[1] - differs[:-1].sum(axis=1)
    return changes.astype(np.int32), skips


def _distances(cells: Cells, rows: Counts, entries: Any) -> Floats:
    """(people, entries) the distance of people to some cells, in this column alone."""
    if not cells.column.ordered:
        apart: Floats = _apart([cells], rows)[:, entries].astype(np.float64)
        return apart
    point = _points(cells, rows)[:, None]
    low, high = cells.low[entries] / cells.unit, cells.high[entries] / cells.unit
    gaps = np.minimum(np.maximum(np.maximum(low - point, point - high), 0.0), 1.0)
    gaps = np.where(np.isnan(point), np.where(_blank(cells)[entries], 0.0, 1.0), gaps)
    return np.where(np.isnan(low) & ~np.isnan(point), 1.0, gaps)


def _starts(columns: Sequence[Cells]) -> list[tuple[Cells, int]]:
    ends = np.cumsum([0, *(len(cells) for cells in columns)]).tolist()
    return list(zip(columns, ends[:-1], strict=True))


def _blank(cells: Cells) -> Bools:
    """(entries,) whether the entry stands for a missing value, among others."""
    blank = np.zeros(len(cells), dtype=np.bool_)
    if cells.column.missing is not None:
        blank[cells.holding(cells.column.missing)] = True
    return blank


def _points(cells: Cells, rows: Counts) -> Floats:
    """(people,) positions in units of the distance, NaN if missing."""
    return cells.column.positions[cells.column.codes[rows]] / cells.unit


def _apart(columns: Sequence[Cells], rows: Counts) -> Any:
    """(people, cells of all columns) 1 if the cell does not stand for the person's value."""
    apart = np.empty((len(rows), sum(len(cells) for cells in columns)), dtype=np.uint8)
    for cells, start in _starts(columns):
        codes, place = np.unique(cells.column.codes[rows], return_inverse=True)
        of_codes = np.ones((len(codes), len(cells)), dtype=np.uint8)
        for each, code in zip(of_codes, codes.tolist(), strict=True):
            each[cells.holding(code)] = 0
        apart[:, start : start + len(cells)] = of_codes[place]
    return apart
