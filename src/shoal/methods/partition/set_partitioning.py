"""Exact grouping as set partitioning: the best choice among all groups of k to 2k − 1 records.

The linear program over all groups is solved by column generation, separately for each number of
groups, which restricts it strongly: with ⌊n / k⌋ groups hardly any can have more than k records.
Then every group that a better grouping could use is listed, and the list is searched by cuts and
branching.
Desrosiers & Lübbecke, "A primer in column generation", 2005; Baldacci, Christofides & Mingozzi,
"An exact algorithm for the vehicle routing problem based on the set partitioning formulation with
additional cuts", Mathematical Programming 115, 2008.
"""

from __future__ import annotations

import heapq

import numpy as np

from shoal.methods.partition.branching import Tree
from shoal.methods.partition.column_generation import (
    Cut,
    Found,
    GroupingProblem,
    Master,
    OutOfTime,
    Prices,
    find_groups,
    generate,
)
from shoal.support.arrays import Codes

_CELLS = 20_000_000  # of listed groups
_SHORT = 0.5  # share of the gap that a shorter list is searched for, before the whole one
_NARROW = 2 / 3  # of the gap, where too many groups lie within it


def solve(problem: GroupingProblem, starts: list[Codes]) -> None:
    """Raise the bound and improve the grouping of a problem until they meet or the time is up.

    starts: good groupings, whose groups are in the initial program.
    """
    if problem.bound >= problem.goal:
        problem.raise_bound(problem.loss)
        return
    try:
        _Search(problem, starts).run()
    except OutOfTime as stop:
        problem.stopped = str(stop)


class _Search:
    """Ranges of the number of groups, the least bound first, down to trees for single numbers."""

    def __init__(self, problem: GroupingProblem, starts: list[Codes]) -> None:
        self.problem = problem
        self.master = Master(problem.counts, problem.room, problem.loss / len(problem.records))
        groups = np.unique(np.concatenate([problem.listed(ids) for ids in starts]), axis=0)
        self.master.add(groups, problem.losses(groups))
        self.cuts: list[Cut] = []
        self.trees: dict[int, Tree] = {}

    def run(self) -> None:
        """Search range by range until the best bound of all reaches the goal."""
        problem, count = self.problem, len(self.problem.records)
        waiting = [(problem.bound, -(-count // problem.room), count // problem.k)]
        while waiting and waiting[0][0] < problem.goal:
            bound, few, many = heapq.heappop(waiting)
            problem.raise_bound(bound)
            others = min([problem.loss, *(part[0] for part in waiting)])
            if few in self.trees and few == many:
                parts = [(self._continue(few, others), few, many)]
            else:
                parts = self._open(bound, few, many, others)
            for part in parts:
                heapq.heappush(waiting, part)
        problem.raise_bound(problem.loss)

    def _open(self, bound: int, few: int, many: int, others: int) -> list[tuple[int, int, int]]:
        """Bound a range by the linear program, then divide it or start a tree; return its parts."""
        self.master.set_count(few, many)
        prices, worth = generate(self.problem, self.master)
        bound = max(bound, worth)
        self.problem.raise_bound(min(bound, others))
        if bound >= self.problem.goal:
            return [(bound, few, many)]
        if few == many:
            bound = self._list(prices, worth, bound, others)
            return [(bound, few, many)]
        middle = min(max(int(np.floor(prices.value.sum() + 1e-6)), few), many)
        parts = ((few, middle - 1), (middle, middle), (middle + 1, many))
        return [(bound, *part) for part in parts if part[0] <= part[1]]

    def _list(self, prices: Prices, worth: int, bound: int, others: int) -> int:
        """List groups and start a tree of them; return a bound for this number of groups.

        worth: the bound from the program's duals. A grouping of loss v uses only groups whose
        reduced costs are at most v − worth, as no reduced cost is negative.
        """
        problem, count = self.problem, self.master.few
        known = Found(self.master.groups, -prices.value, whole=False)
        Tree(problem, known, count, self.cuts, bound, problem.goal).dive()
        gap = problem.goal - worth
        found = find_groups(problem, self.master, prices, gap, room=_CELLS // problem.room)
        while not found.whole:
            gap = int(gap * _NARROW)
            if worth + gap <= bound:
                raise OutOfTime("there are too many groups to list")
            found = find_groups(problem, self.master, prices, gap, room=_CELLS // problem.room)
        for reach in (int(gap * _SHORT), gap):
            goal = min(problem.goal, worth + reach)
            if goal > bound:
                tree = Tree(problem, found.below(goal - worth), count, self.cuts, bound, goal)
                self.trees[count] = tree
                bound = self._continue(count, others)
        return bound

    def _continue(self, count: int, others: int) -> int:
        """Search a tree until another one is more promising; return its bound."""
        tree = self.trees[count]
        bound = tree.search(others)
        self.cuts = tree.master.cuts
        if bound >= tree.goal:
            del self.trees[count]
        return bound
