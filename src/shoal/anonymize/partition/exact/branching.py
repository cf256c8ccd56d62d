"""Branch and cut over a list that contains every group of every better grouping.

A node is divided by two records, which are together in one half and apart in the other (Ryan &
Foster, "An integer programming approach to scheduling", 1981), or, if copies of records leave no
such pair, by how often a group is used. It is closed only by a bound in whole units, never by the
value that the solver returns.
"""

from __future__ import annotations

import heapq

import numpy as np

from shoal.anonymize.partition.exact.column_generation import Found
from shoal.anonymize.partition.exact.grouping_problem import GroupingProblem, OutOfTime
from shoal.anonymize.partition.exact.listed_groups import USED, ListedGroups, Node
from shoal.anonymize.partition.exact.master import Cut, Prices
from shoal.anonymize.partition.exact.rank_one_cuts import separate
from shoal.support.arrays import Counts, Floats

_CUTS = 40  # cuts of one round
_IDLE = 50  # cuts without effect that are tolerated
_STALL = 0.02  # share of the gap that a round of cuts must close, on average
_PATIENCE = (4, 2)  # rounds over which it is averaged, at the first node and at others
_PAIRS = 8  # pairs of records tried before one is chosen
_DIVES = 8  # a dive at every node whose number is a multiple of it


class Tree:
    """Nodes to search, the least bound first."""

    def __init__(
        self,
        problem: GroupingProblem,
        found: Found,
        count: int,
        cuts: list[Cut],
        bound: int,
        goal: int,
    ) -> None:
        """Start with one node.

        found: every group of every grouping below the goal into `count` groups, whose losses have
        this bound. cuts: initial cuts.
        """
        self.problem, self.goal = problem, goal
        self.listed = ListedGroups(problem, found, count, cuts)
        self.master = self.listed.master
        self.waiting = [Node(bound, 0, np.arange(len(self.listed.groups)))]
        self._known = {cut.key for cut in cuts}
        self._rounds = self._numbered = 0

    def search(self, others: int) -> int:
        """Search until the bound reaches the goal, or that of all other groupings; return it."""
        while self.waiting:
            wanted = min(self.goal, self.problem.goal)
            bound = self.waiting[0].bound
            if bound >= wanted:
                break
            self.problem.raise_bound(min(bound, others))
            if bound > others:
                return bound
            node = self.waiting[0]
            prices = self._close(node, wanted, cutting=True)
            heapq.heappop(self.waiting)
            if prices is not None:
                if node.number % _DIVES == 0:
                    self._dive(node, prices)
                for half in self._divide(node, prices):
                    heapq.heappush(self.waiting, half)
        self.waiting = []
        return min(self.goal, self.problem.goal)

    def dive(self) -> None:
        """Improve the problem's grouping if that is easy; prove nothing."""
        node = self.waiting[0]
        self._dive(node, self._close(node, self.problem.goal, cutting=False))

    def _close(self, node: Node, goal: int, *, cutting: bool) -> Prices | None:
        """Raise a node's bound to the goal by cuts; return the duals if that fails.

        An integer solution is a grouping, which closes the node up to rounding.
        """
        raised: list[int] = []
        while True:
            prices = self.listed.solve(node, min(goal, self.problem.goal))
            if prices is None:
                return None
            used, value = self.listed.used(prices)
            times = np.rint(value).astype(np.int64)
            if (np.abs(value - times) < USED).all():
                self.problem.improve_by(np.repeat(self.listed.groups[used], times, axis=0))
                if node.bound < self.problem.goal:
                    raise OutOfTime("the linear program is too inexact")
                return None
            raised.append(node.bound)
            back = _PATIENCE[node.number != 0]
            slow = len(raised) > back and raised[-1] - raised[-1 - back] < (
                back * _STALL * (goal - raised[-1])
            )
            if not cutting or slow or not self._cut(prices, used, value):
                return prices

    def _cut(self, prices: Prices, used: Counts, value: Floats) -> bool:
        """Drop idle cuts and add violated ones; return whether there were any."""
        idle = np.flatnonzero(prices.cuts <= 0)
        if len(idle) > _IDLE:
            self._known -= {self.master.cuts[i].key for i in idle}
            self.master.drop_cuts(idle)
        self._rounds += 1
        groups, counts = self.listed.groups[used], self.problem.counts
        cuts = separate(groups, value, counts, self._known, self._rounds, _CUTS)
        for cut in cuts:
            self.master.add_cut(cut)
        return bool(cuts)

    def _dive(self, node: Node, prices: Prices | None) -> None:
        """Search for a better grouping by fixing one group after the other.

        If no group fits, the remaining records are grouped in their order.
        """
        node = Node(node.bound, -1, node.left, dict(node.limits))
        while prices is not None:
            used, value = self.listed.used(prices)
            low = np.array([node.limits.get(int(place), (0, 0))[0] for place in used])
            over = value - low
            sure = over > 1 - USED
            for place in used[sure] if sure.any() else used[over.argmax()][None]:
                few, many = node.limits.get(int(place), (0, self.listed.count))
                node.limits[int(place)] = (few + 1, many)
            if self._free(node).min() < 0:
                return
            node.left = self._fitting(node)
            try:
                prices = self._close(node, self.problem.goal, cutting=False)
            except OutOfTime:
                self.problem.check_time()
                break
        laid = [np.repeat(self.listed.groups[[p]], low, 0) for p, (low, _) in node.limits.items()]
        if laid:
            self.problem.complete(np.concatenate(laid))

    def _free(self, node: Node) -> Counts:
        """(kinds + 1,) records outside the fixed groups; unlimited for the padding kind."""
        free = np.append(self.problem.counts, 0)
        for place, (low, _) in node.limits.items():
            np.subtract.at(free, self.listed.groups[place], low)
        free[-1] = 1
        return free

    def _fitting(self, node: Node) -> Counts:
        """Return the groups that can be formed from the records outside the fixed groups."""
        fits = (self._free(node)[self.listed.groups[node.left]] > 0).all(axis=1)
        return node.left[fits | np.isin(node.left, list(node.limits))]

    def _divide(self, node: Node, prices: Prices) -> list[Node]:
        """Return the two halves of a node, by the pair among some that raises the value most."""
        used, value = self.listed.used(prices)
        pairs = self._pairs(used, value)
        if not pairs:
            return self._divide_by_group(node, used, value)
        halves = [self._halves(node.left, *pair) for pair in pairs]
        best = 0
        if len(halves) > 1:
            gains = [
                [max(self.listed.try_out(half, node.limits) - prices.loss, 1.0) for half in both]
                for both in halves
            ]
            best = int(np.argmax([one * other for one, other in gains]))
        return [self._child(node, half, node.limits) for half in halves[best]]

    def _pairs(self, used: Counts, value: Floats) -> list[tuple[int, int]]:
        """Return pairs that are together about half the time; the first is a single record."""
        counts, size = self.problem.counts, len(self.problem.counts)
        both = np.zeros((size + 1, size + 1))
        for row, share in zip(self.listed.groups[used], value, strict=True):
            kinds = np.unique(row)
            both[np.ix_(kinds, kinds)] += share
        both = both[:size, :size]
        both[counts > 1] = 0.0
        both[np.tril_indices(size)] *= (counts > 1)[np.tril_indices(size)[1]]
        np.fill_diagonal(both, 0.0)
        order = np.argsort(np.abs(both - 0.5), axis=None, kind="stable")[:_PAIRS]
        pairs = [divmod(int(at), size) for at in order]
        return [pair for pair in pairs if USED < both[pair] < 1 - USED]

    def _halves(self, left: Counts, one: int, other: int) -> tuple[Counts, Counts]:
        """Return the remaining groups if a single record is with another, and if it is not."""
        first = (self.listed.groups[left] == one).any(axis=1)
        second = (self.listed.groups[left] == other).any(axis=1)
        split = first & ~second
        if self.problem.counts[other] == 1:
            split |= second & ~first
        return left[~split], left[~(first & second)]

    def _divide_by_group(self, node: Node, used: Counts, value: Floats) -> list[Node]:
        """Return the halves in which a group is used less and more often than in the solution."""
        at = int(np.abs(value - np.floor(value) - 0.5).argmin())
        place, whole = int(used[at]), int(np.floor(value[at]))
        low, high = node.limits.get(place, (0, self.listed.count))
        halves = [
            self._child(node, node.left, {**node.limits, place: limits})
            for limits in ((low, whole), (whole + 1, high))
        ]
        return [half for half in halves if self._free(half).min() >= 0]

    def _child(self, node: Node, left: Counts, limits: dict[int, tuple[int, int]]) -> Node:
        self._numbered += 1
        return Node(node.bound, self._numbered, left, limits)
