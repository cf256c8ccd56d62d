"""Ascent of prices: from a bound by nearest neighbours to that of the linear program over classes.

Each round solves the program over the classes found so far near the best prices, then lowers its
prices until an exact search finds no class that costs less. The total of such prices is a lower
bound, whatever the program returned. The distance to the best prices adapts to the rounds before.
Desrosiers & Lübbecke, "A primer in column generation", 2005; the steps in a box after Marsten,
Hogan & Blankenship, "The boxstep method for large-scale optimization", Operations Research 23,
1975.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from shoal.anonymize.partition.bounding.kinds import Space
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report

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
        from shoal.anonymize.partition.bounding._price_lists import make_scratch
        from shoal.anonymize.partition.bounding._price_repair import Log

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
        known = np.isfinite(self.seconds)
        report("bound", self.seconds - left if known else share, self.seconds if known else 1.0)
        if left <= 0:
            raise _OutOfTime

    def _start(self) -> None:
        """Set each price to the least width of a pair that a class of k forces."""
        from shoal.anonymize.partition.bounding._kinds import fill_neighbour_widths

        kinds, size = self.space.kinds, len(self.prices)
        nearest, held = np.zeros((2, self.k), dtype=np.int64)
        step = max(_PAIRS // size, 1)
        for begin in range(0, size, step):
            end = min(begin + step, size)
            fill_neighbour_widths(kinds, self.k, begin, end, nearest, held, self.prices)
            self._check_time(0.0)

    def _climb(self) -> None:
        """Solve the program and repair its prices, round after round."""
        from shoal.anonymize.partition.bounding.program import Program

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
        from shoal.anonymize.partition.bounding._price_repair import repair_prices

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
        found = min(int(log.found[0]), _CLASSES)
        return lowered, log.members[:found].copy(), log.cost[:found].copy()
