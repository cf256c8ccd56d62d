"""Ascent of prices: from a bound by nearest neighbours to that of the linear program over classes.

    Space      the distinct records of a table as kinds, for the kernels
    Ascent     each round solves the program near the best prices, then lowers its prices until an
               exact search finds no class that costs less
    Program    the linear program over the classes found so far

The total of such prices is a lower bound, whatever the program returned. The distance to the best
prices adapts to the rounds before. The program is solved in its dual form, the highest total price
at which no listed class is underpriced; classes that are not listed may cost less, so its prices
need the exact search.

Widths are whole units and never exceed the true ones: positions of ordered columns are rounded to
the nearest unit, so a width can be one unit too large, and `Space.excess` bounds the sum of these
errors; all other widths are rounded down.

Desrosiers & Lübbecke, "A primer in column generation", 2005; the steps in a box after Marsten,
Hogan & Blankenship, "The boxstep method for large-scale optimization", Operations Research 23,
1975.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.methods.partition._price_lists import Kinds
from shoal.methods.partition.records import UNITS, stacked
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.imports import requires
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.table import Table

_WORK = 20_000  # boxes between two looks at the clock
_MOST_BOXES = 200_000  # boxes of one root
_ROOM = 30_000_000  # cells of working memory
_LEAST_ROOM = 1000  # candidates of a root
_CLASSES = 200_000  # classes listed in one round
_DISTANCE = (0.02, 0.3, 1.0)  # least, first and greatest, relative to the mean price
_GAIN = 1e-4  # relative gain that is not worth another round
_PAIRS = 20_000_000  # pairs of kinds between two looks at the clock


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound in units, and whether the search ended before it ran out of time."""

    units: int
    complete: bool


class _OutOfTime(Exception):  # noqa: N818  a reason to stop, not an error
    pass


class Ascent:
    """The best prices so far: the prices of no class exceed its cost."""

    def __init__(self, space: Space, k: int, seconds: float) -> None:
        from shoal.methods.partition._price_lists import make_scratch
        from shoal.methods.partition._price_repair import Log

        self.space, self.k, self.seconds = space, k, seconds
        self.deadline = time.monotonic() + seconds
        self.prices = np.zeros(len(space.kinds.count), dtype=np.int64)
        room = min(len(self.prices), max(_ROOM // (2 * k + 1), _LEAST_ROOM))
        self._scratch = make_scratch(space.kinds, k, room)
        self._log = Log(
            np.zeros((_CLASSES, 2 * k - 1), dtype=np.int32),
            np.zeros(_CLASSES, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    @property
    def total(self) -> int:
        """The bound: the prices of all records."""
        return self._total(self.prices)

    def _total(self, prices: Counts) -> int:
        return int((prices * self.space.kinds.count).sum())

    def run(self) -> Bound:
        """Raise the prices until that stops paying off or the time is up."""
        try:
            self._start()
            if self.total:
                self._climb()
        except _OutOfTime:
            return Bound(self.total, complete=False)
        return Bound(self.total, complete=True)

    def _check_time(self, share: float) -> None:
        """Report the progress, which is the time used, and stop if the time is up."""
        left = self.deadline - time.monotonic()
        limited = np.isfinite(self.seconds)
        report("bound", self.seconds - left if limited else share, self.seconds if limited else 1.0)
        if left <= 0:
            raise _OutOfTime

    def _start(self) -> None:
        """Set each price to the least width of a pair that a class of k forces."""
        from shoal.methods.partition._price_lists import fill_neighbour_widths

        kinds, size = self.space.kinds, len(self.prices)
        nearest, held = np.zeros((2, self.k), dtype=np.int64)
        step = max(_PAIRS // size, 1)
        for begin in range(0, size, step):
            end = min(begin + step, size)
            fill_neighbour_widths(kinds, self.k, begin, end, nearest, held, self.prices)
            self._check_time(0.0)

    def _climb(self) -> None:
        """Solve the program and repair its prices, round after round."""
        unit = self.total / self.space.records
        program = Program(self.space.kinds.count, unit)
        least, distance, most = _DISTANCE
        while True:
            left = self.deadline - time.monotonic()
            answer = program.solve(self.prices, distance, left)
            self._check_time(0.0)
            if answer is None:
                return
            hoped, aim = answer
            if aim - self.total <= _GAIN * self.total:
                return
            prices, members, costs = self.repair(hoped)
            gain, promise = self._total(prices) - self.total, aim - self.total
            if gain > 0:
                self.prices = prices
            new = program.add(members, costs)
            if gain <= 0 and not new and distance <= least:
                return
            if gain > promise / 2:
                distance = min(distance * 1.5, most)
            elif gain < promise / 10:
                distance = max(distance * 0.7, least)

    def repair(self, prices: Counts) -> tuple[Counts, Codes, Counts]:
        """Return proven prices below the given ones, and the classes that cost less than those."""
        from shoal.methods.partition._price_repair import repair_prices

        order = np.argsort(-prices, kind="stable").astype(np.int32)
        lowered, log = prices.copy(), self._log
        log.found[0] = 0
        self._scratch.lowered[:] = -1
        at = 0
        while at < len(order):
            at = repair_prices(
                self.space.kinds, self.k, order, at, prices, _WORK, _MOST_BOXES, lowered, log,
                self._scratch,
            )  # fmt: skip
            self._check_time(0.0)
        listed = min(int(log.found[0]), _CLASSES)
        return lowered, log.members[:listed].copy(), log.cost[:listed].copy()


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
    columns, rows = distinct.quasi_columns, len(distinct)
    total = sum(c.weight for c in columns) or 1.0
    trees = [c for c in columns if use_hierarchies and c.hierarchy is not None]
    lines = [c for c in columns if c.ordered and c not in trees]
    names = [c for c in columns if not c.ordered and c not in trees]
    names.sort(key=lambda c: -int(c.weight / total * UNITS / c.domain))
    places = [_line(c, c.weight / total) for c in lines]
    domains = np.array([c.domain for c in names], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(domains))).astype(np.int32)
    levels = [_branches(c, c.weight / total) for c in trees]
    sizes = [len(branch) for branch, _ in levels]
    kinds = Kinds(
        distinct.counts.astype(np.int64),
        stacked([place[c.codes] for c, (place, _) in zip(lines, places, strict=True)], rows),
        np.array([cap for _, cap in places], dtype=np.int64),
        stacked([c.codes + at for c, at in zip(names, starts[:-1], strict=True)], rows),
        np.array([int(c.weight / total * UNITS / c.domain) for c in names], dtype=np.int64),
        stacked([c.codes for c in trees], rows),
        np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64),
        np.array([c.domain for c in trees], dtype=np.int64),
        np.array([len(c.hierarchy.levels) for c in trees if c.hierarchy], dtype=np.int64),
        np.concatenate([np.zeros(0, np.int32), *(branch for branch, _ in levels)]),
        np.concatenate([np.zeros(0, np.int64), *(cost for _, cost in levels)]),
        starts[-1:].astype(np.int64),
    )
    return Space(kinds, total / UNITS)


def _line(column: Column, weight: float) -> tuple[Codes, int]:
    """Return each value's position, and the width of the whole extent.

    A missing value is one extent above, so that its width with any other value is the whole extent.
    """
    low, high = column.extent
    whole = int(weight * UNITS)
    place = np.zeros(column.domain, dtype=np.int32)
    if high > low:
        place[: column.known] = np.rint(
            (column.positions[: column.known] - low) / (high - low) * whole
        )
    if column.missing is not None:
        place[column.missing] = 2 * whole
    return place, whole if high > low or column.missing is not None else 0


def _branches(column: Column, weight: float) -> tuple[Codes, Counts]:
    """Return the branch of each code at each level, and its width, one level after the other.

    A width is at most that of any branch above it, so that joining values never narrows a label.
    """
    assert column.hierarchy is not None
    branches = np.stack([level.groups for level in column.hierarchy.levels]).astype(np.int32)
    widths = [_level_widths(column, height) for height in range(len(branches))]
    cost = np.minimum.accumulate(np.stack(widths)[::-1], axis=0)[::-1]
    cost[0] = 0.0
    return branches.ravel(), (cost * weight * UNITS).astype(np.int64).ravel()


def _level_widths(column: Column, height: int) -> Floats:
    """Return the penalty of each code's label at one level."""
    published = Recoding.at_level(column, height)
    sizes = published.subsets.sizes
    widths = published.widths() if column.ordered else (sizes - 1) / column.domain
    assert column.hierarchy is not None
    spread: Floats = np.asarray(widths, dtype=np.float64)[column.hierarchy.levels[height].groups]
    return spread


class Program:
    """Listed classes, in a program that is solved again from its last state."""

    def __init__(self, counts: Counts, unit: float) -> None:
        """Start without classes; unit: number of units that are 1 in the program."""
        with requires("exact"):
            import highspy

        self._counts, self._unit, self._inf = counts, unit, highspy.kHighsInf
        self._known: set[bytes] = set()
        self._solver = solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        size, empty = len(counts), np.zeros(0, dtype=np.int32)
        sums = counts.astype(np.float64)
        solver.addRows(size, sums, sums, 0, np.zeros(size, np.int32), empty, np.zeros(0))
        each = np.arange(size, dtype=np.int32)
        for sign in (1.0, -1.0):  # columns whose costs are the limits of each price
            self._add(np.zeros(size), each, each, np.full(size, sign))

    def _add(self, cost: Floats, starts: Codes, rows: Codes, times: Floats) -> None:
        many = len(cost)
        free = np.zeros(many), np.full(many, self._inf)
        self._solver.addCols(many, cost, *free, len(rows), starts, rows, times)

    def add(self, members: Codes, costs: Counts) -> int:
        """Add classes, (classes, room) with −1 beyond their size; return how many are new."""
        ascending = np.sort(members, axis=1)
        keys = [row.tobytes() for row in ascending]
        fresh = []
        for i, key in enumerate(keys):
            if key not in self._known:
                self._known.add(key)
                fresh.append(i)
        if not fresh:
            return 0
        chosen = ascending[fresh]
        size = len(self._counts)
        entries = np.arange(len(chosen), dtype=np.int64)[:, None] * size + chosen
        unique, times = np.unique(entries[chosen >= 0], return_counts=True)
        starts = np.searchsorted(unique // size, np.arange(len(chosen))).astype(np.int32)
        rows = (unique % size).astype(np.int32)
        self._add(costs[fresh] / self._unit, starts, rows, times.astype(np.float64))
        return len(fresh)

    def solve(self, centre: Counts, distance: float, seconds: float) -> tuple[Counts, float] | None:
        """Return the best prices within a distance of the centre and their total, in units.

        distance: in program units. Returns None if the solver stops without prices.
        """
        size, at = len(self._counts), centre / self._unit
        limits = np.concatenate([at + distance, distance - at])
        self._solver.changeColsCost(2 * size, np.arange(2 * size, dtype=np.int32), limits)
        if np.isfinite(seconds):
            limit = self._solver.getRunTime() + max(seconds, 0.01)
            self._solver.setOptionValue("time_limit", limit)
        self._solver.run()
        solution: Any = self._solver.getSolution()
        if not solution.dual_valid:
            return None
        prices = np.floor(np.array(solution.row_dual) * self._unit).astype(np.int64)
        return prices, float(self._solver.getInfo().objective_function_value) * self._unit
