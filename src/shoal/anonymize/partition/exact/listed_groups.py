"""The linear program over a part of a long list of groups, which are added as needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.anonymize.partition.exact._separation import reduced_costs
from shoal.anonymize.partition.exact.column_generation import Found
from shoal.anonymize.partition.exact.grouping_problem import GroupingProblem
from shoal.anonymize.partition.exact.master import Cut, Master, Prices
from shoal.support.arrays import Counts, Floats

_FIRST = 1000  # groups in the initial program
_BATCH = 150  # groups added at a time
_NEAR = 4_000  # groups priced again before all others
USED = 1e-6  # a group with a lower value is not in the solution


@dataclass(order=True)
class Node:
    """A part of the list, by index: its bound and a serial number.

    limits: by index, how often a group must and may be used, if that is fixed.
    """

    bound: int
    number: int
    left: Counts = field(compare=False)
    limits: dict[int, tuple[int, int]] = field(compare=False, default_factory=dict)


class ListedGroups:
    """All groups that matter, and a program over some of them.

    groups, loss: the list. place: (groups in the program,) index of each in the list.
    """

    def __init__(self, problem: GroupingProblem, found: Found, count: int, cuts: list[Cut]) -> None:
        """count: how many groups a grouping is to have."""
        self.problem, self.groups, self.count = problem, found.groups, count
        self.loss = problem.losses(found.groups)
        self.master = Master(problem.counts, problem.room, problem.loss / len(problem.records))
        self.master.set_count(count, count)
        for cut in cuts:
            self.master.add_cut(cut)
        self.place = np.zeros(0, dtype=np.int64)
        self._inside = np.zeros(len(self.groups), dtype=np.bool_)
        self._add(np.argsort(found.costs, kind="stable")[:_FIRST])

    def solve(self, node: Node, goal: int) -> Prices | None:
        """Solve the program over a node's groups; return None if the node's bound reaches the goal.

        Groups that no grouping below the goal can use leave the node.
        """
        tolerance = self.problem.tolerance(self.count)
        self._limit(node)
        near = node.left[:0]
        while True:
            self.problem.check_time()
            prices = self.master.solve(self.problem.seconds_left)
            if self._bring_in(near, self._costs(prices, near), tolerance):
                continue
            costs = self._costs(prices, node.left)
            bound = self._bound(node, prices, costs)
            node.bound = max(node.bound, bound)
            if node.bound >= goal:
                return None
            if not self._bring_in(node.left, costs, tolerance):
                kept = costs < goal - bound
                kept |= np.isin(node.left, list(node.limits))
                node.left = node.left[kept]
                return prices
            if len(costs) > 2 * _NEAR:
                near = node.left[np.argpartition(costs, _NEAR)[:_NEAR]]

    def try_out(self, left: Counts, limits: dict[int, tuple[int, int]]) -> float:
        """Return the program's value over those of some groups that are in it."""
        self._limit(Node(0, 0, left, limits))
        return self.master.solve(self.problem.seconds_left).loss

    def used(self, prices: Prices) -> tuple[Counts, Floats]:
        """Return the groups in the solution, by index in the list, and their values."""
        used = np.flatnonzero(prices.value > USED)
        return self.place[used], prices.value[used]

    def _costs(self, prices: Prices, places: Counts) -> Floats:
        """(places,) exact reduced costs of groups of the list."""
        cuts = self.master.penalties(prices)
        costs, filled = np.zeros(len(places)), np.zeros(len(cuts.step), dtype=np.int32)
        loss = self.loss[places] - prices.group
        reduced_costs(self.groups[places], loss, prices.kinds, cuts, filled, costs)
        return costs

    def _bound(self, node: Node, prices: Prices, costs: Floats) -> int:
        """Return the bound of a node from duals: each used group adds its reduced cost."""
        limited = np.isin(node.left, list(node.limits))
        extra = [(self.count, float(costs[~limited].min(initial=0.0)))]
        for place, cost in zip(node.left[limited], costs[limited], strict=True):
            low, high = node.limits[int(place)]
            extra.append((low if cost > 0 else high, float(cost)))
        return prices.bound(*extra)

    def _bring_in(self, places: Counts, costs: Floats, tolerance: float) -> bool:
        """Add the cheapest groups to the program; return whether there were any."""
        fresh = np.flatnonzero((costs < -tolerance) & ~self._inside[places])
        best = fresh[np.argsort(costs[fresh], kind="stable")[:_BATCH]]
        self._add(places[best])
        return bool(len(best))

    def _add(self, places: Counts) -> None:
        self.master.add(self.groups[places], self.loss[places])
        self._inside[places] = True
        self.place = np.concatenate([self.place, places])

    def _limit(self, node: Node) -> None:
        """Restrict the program to a node's groups."""
        allowed = np.zeros(len(self.groups), dtype=np.bool_)
        allowed[node.left] = True
        low, high = np.zeros(len(self.place)), np.full(len(self.place), np.inf)
        for place, (few, many) in node.limits.items():
            at = self.place == place
            low[at], high[at] = few, many
        self.master.limit(allowed[self.place], low, high)
