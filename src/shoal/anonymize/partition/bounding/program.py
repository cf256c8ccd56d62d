"""The linear program of prices: the highest total price at which no listed class is underpriced.

It is solved in its dual form, over the listed classes, within a distance of known prices. Prices
that it returns need a check: classes that are not listed may cost less.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.extras import requires


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
