"""The chain of Split & Carry: small problems, each solved exactly, and what they pass on.

    Chain          reads records, solves a problem, keeps the final groups, carries the others
    carry_…        which records are carried
    solve_small    the optimal grouping of a few records, with a proof: prices of records give a
                   lower bound, every group that may be in a better grouping than the best known is
                   listed, and a search chooses among them

Equal records count as one kind, which makes a problem smaller.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020: algorithm
1, Lemma 2 and §5.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from shoal.methods.partition._boxes import make_boxes
from shoal.methods.partition._pricing import make_cuts, make_scratch, make_space
from shoal.methods.partition._small_problems import (
    Search,
    cover,
    cut_order,
    descend,
    fits,
    make_search,
    shake,
)
from shoal.methods.partition._tightening import (
    Listed,
    list_groups,
    near_prices,
    raise_prices,
    settle_prices,
    tighten,
)
from shoal.methods.partition.records import Records
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.progress import report, working_time


@dataclass(frozen=True)
class Links:
    """How the problems of a chain are linked.

    carry: published, least-loss or bubble. read: records read into a problem, and boundary: records
    at its end whose groups are carried. With bubble instead, size: records of a problem, and
    accepted: groups that are final after it.
    """

    carry: str
    read: int
    boundary: int
    size: int
    accepted: int


@dataclass(eq=False)
class Chain:
    """The problems of one run.

    sizes: records of each problem so far. unproven: number of problems without a proof.
    """

    records: Records
    k: int
    links: Links
    sizes: list[int] = field(default_factory=list)
    unproven: int = 0

    def solve(self, along: Counts, time_limit: float | None = None) -> Codes:
        """Return the groups found along an order of the records, with equal records adjacent.

        time_limit: seconds, divided among the remaining problems.
        """
        deadline = inf if time_limit is None else working_time() + time_limit
        ids = np.empty(len(along), dtype=np.int32)
        groups, read, carried = 0, 0, along[:0]
        while read < len(along):
            stop = self._stop(len(carried), read)
            chosen = np.concatenate([carried, along[read:stop]])
            left = (deadline - working_time()) / self._to_come(len(carried), read)
            part = self.records.take(chosen)
            solved = solve_small(part, self.k, time_limit=None if left == inf else left)
            self.sizes.append(len(chosen))
            self.unproven += not solved.proven
            read = stop
            final = ~self._carry(part, solved.ids) if read < len(along) else chosen >= 0
            groups += _number(ids, chosen[final], solved.ids[final], groups)
            carried = chosen[~final]
            report("solve", read - len(carried), len(along))
        return ids

    def summary(self) -> str:
        """Return the sizes of the problems and the number without a proof, as text."""
        said = (
            f"{len(self.sizes):,} sub-problems of {np.mean(self.sizes):.1f} records on average, "
            f"at most {max(self.sizes)}"
        )
        if not self.unproven:
            return f"{said}; each was solved to a proven optimum"
        return f"{said}; {self.unproven:,} may not be optimal, as the proof took too long"

    @property
    def most(self) -> int:
        """Largest number of records of a problem: k (2k − 1 + S) as published (Lemma 2)."""
        if self.links.carry == "bubble":
            return self.links.size + self.k - 1
        return self.links.read + self.links.boundary * (2 * self.k - 1)

    def _stop(self, carried: int, read: int) -> int:
        """Return the end of the next problem, which includes a rest of less than k if possible."""
        fresh = self.links.size - carried if self.links.carry == "bubble" else self.links.read
        stop = min(read + fresh, len(self.records))
        rest = len(self.records) - stop
        fits = rest < self.k and carried + stop + rest - read <= self.most
        return stop + rest if fits else stop

    def _to_come(self, carried: int, read: int) -> int:
        """Return the approximate number of remaining problems."""
        left = len(self.records) - read
        if self.links.carry == "bubble":
            return (left + carried) // (self.k * self.links.accepted) + 1
        return left // self.links.read + 1

    def _carry(self, part: Records, ids: Codes) -> Bools:
        if self.links.carry == "bubble":
            return carry_worst(part, ids, self.links.accepted)
        if self.links.carry == "least-loss":
            return carry_least_loss(part, ids, self.links.boundary, self.k)
        return carry_published(ids, self.links.boundary, self.k)


def carry_published(ids: Codes, last: int, k: int) -> Bools:
    """Return which records are carried: the classes of the last records.

    If the other records of a class are at least k, only the k-sets of its boundary records are.
    ids: (records,) the class of each record, in the chain's order. last: records of the boundary.
    """
    carried = np.zeros(len(ids), dtype=np.bool_)
    for members, boundary in _at_boundary(ids, last):
        carried[_k_sets(members, boundary, k)] = True
    return carried


def carry_least_loss(records: Records, ids: Codes, last: int, k: int) -> Bools:
    """Return which records are carried: those that a class at the boundary has beyond k.

    These are the records that add the least to the loss of the class, which may fit better
    elsewhere. The last record stays. A class of k is carried completely.
    """
    carried = np.zeros(len(ids), dtype=np.bool_)
    for members, boundary in _at_boundary(ids, last):
        beyond = len(members) - k
        if not 0 < beyond < k:
            carried[_k_sets(members, boundary, k)] = True
            continue
        without = [_width(records, np.delete(members, i)) for i in range(len(members) - 1)]
        most = np.argsort(without, kind="stable")[-beyond:]
        carried[members[most]] = True
    return carried


def carry_worst(records: Records, ids: Codes, accepted: int) -> Bools:
    """Return which records are carried: all except those of the accepted classes of least loss.

    Classes are compared by the loss per record.
    """
    _, _, widths = records.boxes(ids, int(ids.max()) + 1)
    rank = np.argsort(np.argsort(widths, kind="stable"))
    worst: Bools = rank[ids] >= accepted
    return worst


def _at_boundary(ids: Codes, last: int) -> list[tuple[Counts, int]]:
    """Return the records of each class that reaches the boundary, and how many are in it."""
    classes, counts = np.unique(ids[-last:], return_counts=True)
    return [(np.flatnonzero(ids == c), int(b)) for c, b in zip(classes, counts, strict=True)]


def _k_sets(members: Counts, boundary: int, k: int) -> Counts:
    """Return the last records of a class if the others can form a class, else all."""
    needed = max(k, boundary)
    return members[-needed:] if len(members) - needed >= k else members


def _width(records: Records, members: Counts) -> int:
    part = records.take(members)
    _, _, widths = part.boxes(np.zeros(len(members), dtype=np.int32), 1)
    return int(widths[0])


def _number(ids: Codes, chosen: Counts, found: Codes, groups: int) -> int:
    """Store final groups, numbered from `groups` on; return the new number of groups."""
    if not len(found):
        return 0
    present = np.bincount(found) > 0
    ids[chosen] = groups + (np.cumsum(present) - 1)[found]
    return int(present.sum())


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
    # a single group is the only possibility
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
        # better prices for the cheapest groups; groups that were not listed may undercut them
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
