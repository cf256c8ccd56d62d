"""Exact grouping as set partitioning: the best choice among all groups of k to 2k − 1 records.

The linear program over all groups is solved by column generation, separately for each number of
groups, which decides much: with ⌊n / k⌋ groups hardly any can have more than k records. Then every
group that a better grouping could use is listed, and the list searched by cuts and branching.
Desrosiers & Lübbecke, "A primer in column generation", 2005; Baldacci, Christofides & Mingozzi,
"An exact algorithm for the vehicle routing problem based on the set partitioning formulation with
additional cuts", Mathematical Programming 115, 2008.
"""

from __future__ import annotations

import heapq

import numpy as np

from shoal.anonymize.partition.branching import Tree
from shoal.anonymize.partition.column_generation import find_groups, generate
from shoal.anonymize.partition.grouping_problem import GroupingProblem, OutOfTime
from shoal.anonymize.partition.master import Cut, Master, Prices
from shoal.core.arrays import Codes

_CELLS = 30_000_000  # of listed groups
_STAGES = (0.5, 1.0)  # shares of the gap to be closed by one list after the other
_NARROW = 2 / 3  # of the gap, where too many groups lie within it


def solve(problem: GroupingProblem, starts: list[Codes]) -> None:
    """Raise the bound and improve the grouping of a problem until they meet or the time is up.

    starts: good groupings, whose groups the program begins with.
    """
    if problem.bound >= problem.goal:
        problem.raise_bound(problem.loss)
        return
    try:
        _search(problem, starts)
    except OutOfTime as stop:
        problem.stopped = str(stop)


def _search(problem: GroupingProblem, starts: list[Codes]) -> None:
    master = Master(problem.counts, problem.room, problem.loss / len(problem.records))
    groups = np.unique(np.concatenate([problem.listed(ids) for ids in starts]), axis=0)
    master.add(groups, problem.losses(groups))
    count = len(problem.records)
    waiting = [(problem.bound, -(-count // problem.room), count // problem.k)]
    cuts: list[Cut] = []
    while waiting:
        bound, few, many = heapq.heappop(waiting)
        problem.raise_bound(bound)
        if bound >= problem.goal:
            break
        master.set_count(few, many)
        prices, worth = generate(problem, master)
        bound = max(bound, worth)
        others = min([problem.loss, *(part[0] for part in waiting)])
        problem.raise_bound(min(bound, others))
        if bound < problem.goal and few == many:
            bound = _search_lists(problem, master, prices, worth, bound, others, cuts)
        if few == many or bound >= problem.goal:
            heapq.heappush(waiting, (bound, few, many))
            continue
        middle = min(max(int(np.floor(prices.value.sum() + 1e-6)), few), many)
        for part in ((few, middle - 1), (middle, middle), (middle + 1, many)):
            if part[0] <= part[1]:
                heapq.heappush(waiting, (bound, *part))
    problem.raise_bound(problem.loss)


def _search_lists(
    problem: GroupingProblem,
    master: Master,
    prices: Prices,
    worth: int,
    bound: int,
    others: int,
    cuts: list[Cut],
) -> int:
    """Return a better bound of the groupings into as many groups as the program asks for.

    worth: the bound by the program's duals. A grouping of loss v uses groups only whose reduced
    costs are below v − worth, as none of the others' is less than nothing.
    others: a bound of the groupings into more or fewer groups. cuts: those of an earlier search.
    """
    gap = problem.goal - worth
    found = find_groups(problem, master, prices, gap, room=_CELLS // problem.room)
    while not found.whole:
        gap = int(gap * _NARROW)
        if worth + gap <= bound:
            raise OutOfTime("the groups to choose from are too many to list")
        found = find_groups(problem, master, prices, gap, room=_CELLS // problem.room)
    for share in _STAGES:
        goal = min(problem.goal, worth + int(gap * share))
        if goal > bound:
            tree = Tree(problem, found.below(goal - worth), master.few, cuts)
            bound = max(bound, tree.search(bound, goal, others))
            cuts[:] = tree.master.cuts
    return bound
