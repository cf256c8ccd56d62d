"""The optimal grouping of a few records, with a proof.

Prices of records give a lower bound of the loss, every group that may be in a better grouping than
the best known is listed, and a search chooses among them. Equal records count as one kind, which
makes a problem smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.anonymize.partition._boxes import make_boxes
from shoal.anonymize.partition.carrying._exact_cover import Search, cover, fits, make_search
from shoal.anonymize.partition.carrying._small_problems import cut_order, descend, shake
from shoal.anonymize.partition.carrying._subset_search import (
    Listed,
    list_groups,
    near_prices,
    raise_prices,
)
from shoal.anonymize.partition.carrying._tightening import settle_prices, tighten
from shoal.anonymize.partition.exact._pricing import make_cuts, make_scratch, make_space
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Codes, Floats
from shoal.support.stopwatch import working_time

_ROOM, _FEW = 200_000, 40_000  # groups listed at most; more than a few, and prices are looked at
_NODES, _LARGE = 1_000_000, 7  # partial groups looked at; a tenth from this k on, mostly in vain
_STEPS = 30_000_000  # of the search among listed groups
_NODE_PACE, _STEP_PACE = 2_000_000, 100_000_000  # in a second, for time limits
_TIGHTENING = 100  # subgradient steps
_HARD, _SHAKES = 4, 10  # from this k on, a good start is worth some more descents
_ROUNDS = 4  # of better prices
_POOL = 0.3  # of the gap, within which groups are asked for better prices
_REACHES = (0.7, 0.4, 0.2)  # how far to go towards them


@dataclass(frozen=True)
class Small:
    """A grouping of a few records.

    ids: (records,) groups from 0. loss, bound: in units; proven if they are equal.
    """

    ids: Codes
    loss: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no grouping loses less."""
        return self.bound >= self.loss


def solve_small(records: Records, k: int, *, time_limit: float | None = None) -> Small:
    """Return the grouping with the least loss into groups of at least k.

    records: up to about 40, with equal records adjacent, otherwise in any order. With more records,
    or if the search becomes too large, the result is the best grouping found and a lower bound.
    time_limit: seconds; without it the result is deterministic.
    """
    if k < 2:
        return Small(np.arange(len(records), dtype=np.int32), 0, 0)
    if len(records) < 2 * k:
        ids = np.zeros(len(records), dtype=np.int32)
        loss = records.units(ids)
        return Small(ids, loss, loss)
    deadline = np.inf if time_limit is None else working_time() + time_limit
    ids, loss = _descend(records, k)
    if not loss:
        return Small(ids, 0, 0)
    proof = _Proof(records, k, deadline)
    known = Small(ids, loss, proof.bound(loss))
    return proof.improve(known) if fits(np.bincount(records.copies)) else known


def _descend(records: Records, k: int) -> tuple[Codes, int]:
    """Return the best grouping found from three starts by moves and swaps, and its loss."""
    points, copy, count = records.points, records.copies, len(records)
    most = count // k
    boxes = make_boxes(points, count + most)
    sizes, widths = np.empty(most, np.int64), np.empty(most, np.int64)
    least, cut = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    each = np.arange(count, dtype=np.int32)
    cuts, trial = np.empty_like(each), np.empty_like(each)
    groups = cut_order(points, k, boxes, cuts, least, cut)
    best, least_loss = cuts, -1
    starts = ((cuts, groups), (np.minimum(each // k, most - 1), most), (each % most, most))
    for seed, (ids, number) in enumerate(starts):
        loss = descend(points, copy, k, boxes, ids, number, sizes, widths)
        if k >= _HARD:
            loss = shake(
                points, copy, k, boxes, ids, loss, number, sizes, widths, trial, _SHAKES, seed
            )
        if least_loss < 0 or loss < least_loss:
            best, least_loss = ids, loss
    return best, int(least_loss)


class _Proof:
    """Bounds, lists and searches the groupings of one small problem."""

    def __init__(self, records: Records, k: int, deadline: float) -> None:
        points, count = records.points, len(records)
        self._k, self._deadline, self._copy = k, deadline, records.copies
        self._nodes = _NODES if k < _LARGE else _NODES // 10
        self._copies = np.bincount(self._copy)
        self._space = make_space(points.line, points.cap, points.name, points.unit, self._copy)
        self._cuts = make_cuts(count)
        self._scratch = make_scratch(self._space, self._cuts, 2 * k - 1)
        self._groups = np.empty((_ROOM, 2 * k - 1), dtype=np.int32)
        self._costs = np.empty(_ROOM)
        self._listed = Listed(
            np.empty((_ROOM, 2 * k - 1), dtype=np.int32),
            np.empty(_ROOM, dtype=np.int64),
            np.empty(_ROOM, dtype=np.int64),
        )
        self._duals = np.empty(count)
        near_prices(points, k, make_boxes(points, 1), self._duals, np.empty(k))

    def bound(self, loss: int) -> int:
        """Return the sum of the prices, a lower bound of the loss."""
        return min(int(self._duals.sum()), loss)

    def improve(self, known: Small) -> Small:
        """Return the best grouping, or a better grouping or bound than the known one."""
        count = self._narrow(known.loss)
        bound = self.bound(known.loss)
        if count < 0:
            return Small(known.ids, known.loss, bound)
        found = self._search(count, known.loss)
        better = found if len(found.ids) else known
        return Small(better.ids, better.loss, max(bound, found.bound))

    def _narrow(self, loss: int) -> int:
        """Price the records and list all groups of better groupings; −1 if there are too many."""
        if not self._raise():
            return -1
        for _ in range(_ROUNDS):
            count = self._list(loss - self.bound(loss), _FEW)
            if count >= 0:
                return count
            if not self._reprice(loss):
                break
        return self._list(loss - self.bound(loss), _ROOM)

    def _afford(self, most: int, pace: int) -> int:
        """Return how much of this work fits in the remaining time."""
        seconds = self._deadline - working_time()
        return most if seconds == np.inf else min(most, int(max(seconds, 0.0) * pace))

    def _raise(self) -> bool:
        """Adjust prices until no group undercuts them; return whether the search completed."""
        nodes = self._afford(self._nodes, _NODE_PACE)
        left = raise_prices(
            self._space, self._duals, self._cuts, self._k, self._copies, nodes, self._scratch,
            np.empty(len(self._duals), np.int64), self._groups, self._costs,
        )  # fmt: skip
        self._nodes = int(left)
        return self._nodes > 0

    def _list(self, limit: int, room: int) -> int:
        """List the groups within the limit of their records' prices; return their number or −1."""
        nodes = self._afford(self._nodes, _NODE_PACE)
        by_price = np.argsort(-self._duals, kind="stable")  # equal records stay together
        count, left = list_groups(
            self._space, self._duals, self._cuts, by_price, self._k, float(limit), nodes,
            self._scratch, self._groups[:room], self._costs[:room], self._listed,
        )  # fmt: skip
        self._nodes = int(left)
        return int(count)

    def _reprice(self, loss: int) -> bool:
        """Move the prices towards those of the cheapest groups; return whether that helped."""
        before = self._duals.copy()
        base = int(before.sum())
        count = self._list(int((loss - base) * _POOL), _ROOM)
        if count < 0:
            return False
        prices = self._prices()
        self._tighten(count, loss, prices, whole=False)
        for reach in _REACHES:
            self._duals[:] = np.floor(before + reach * (prices[self._copy] - before))
            if self._raise() and self._duals.sum() > base:
                return True
        self._duals[:] = before
        return False

    def _prices(self) -> Floats:
        return self._duals[np.flatnonzero(np.diff(self._copy, prepend=-1))]

    def _tighten(self, count: int, goal: int, prices: Floats, *, whole: bool) -> int:
        steps = min(_TIGHTENING, self._afford(_STEPS, _STEP_PACE) // (count * self._k + 1)) + 1
        work = np.empty((4, len(prices)))
        return int(
            tighten(self._listed, count, self._copies, float(goal), prices, work, steps, whole)
        )

    def _search(self, count: int, goal: int) -> Small:
        """Return the best grouping by listed groups that loses less than the goal.

        If there is none, the grouping is empty and its loss is the goal. The bound is lower if the
        search was stopped.
        """
        prices = self._prices()
        count = self._tighten(count, goal, prices, whole=True)
        if not count:
            return Small(self._copy[:0], goal, goal)
        whole = np.empty(len(prices), dtype=np.int64)
        settle_prices(self._listed, count, prices, whole)
        bound = int((whole * self._copies).sum())
        search = make_search(self._listed, count, whole, self._copies, goal - bound)
        stopped = not cover(search, self._afford(_STEPS, _STEP_PACE))
        loss = bound + int(search.limit[0])
        ids = self._ids(search) if search.best_size[0] else self._copy[:0]
        return Small(ids, loss, bound if stopped else loss)

    def _ids(self, search: Search) -> Codes:
        """Return the groups of the best choice, record by record."""
        ids = np.zeros(len(self._copy), dtype=np.int32)
        place = np.cumsum(self._copies) - self._copies  # the next record of each kind
        for number, row in enumerate(search.row[search.best[: search.best_size[0]]]):
            for kind in self._listed.kinds[row, : self._listed.size[row]]:
                ids[place[kind]] = number
                place[kind] += 1
        return ids
