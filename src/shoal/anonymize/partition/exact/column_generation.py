"""Column generation: the linear program over all groups, and all groups with low reduced cost.

Groups are found from their first record on, so that the search can be interrupted between roots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.anonymize.partition.exact._pricing import enumerate_groups, make_scratch
from shoal.anonymize.partition.exact.grouping_problem import GroupingProblem, OutOfTime
from shoal.anonymize.partition.exact.master import Master, Prices
from shoal.support.arrays import Codes, Floats

_EACH = 5  # groups added from one root and size in one round
_ROUND = 50_000  # groups added in one round
_LOOKS = 100_000_000  # largest number of records visited between two checks of the clock
_RATE = 30_000_000  # least number of records visited per second


@dataclass(frozen=True, eq=False)
class Found:
    """Groups that a search found, with their reduced costs; whole: whether the list is complete."""

    groups: Codes
    costs: Floats
    whole: bool

    def below(self, threshold: int) -> Found:
        """Return those whose reduced cost is below a threshold."""
        kept = self.costs < threshold
        return Found(self.groups[kept], self.costs[kept], self.whole)


def find_groups(
    problem: GroupingProblem,
    master: Master,
    prices: Prices,
    threshold: float,
    *,
    each: int = 0,
    room: int,
) -> Found:
    """Return groups whose reduced cost is below a threshold."""
    copies = problem.records.copies
    duals = prices.kinds[copies]
    order = np.lexsort((copies, -duals)).astype(np.int32)
    cuts = master.penalties(prices, copies)
    largest = min(problem.room, len(order) - (max(master.few, 1) - 1) * problem.k)
    scratch = make_scratch(problem.space, cuts, largest)
    groups, costs = [np.zeros((0, problem.room), np.int32)], [np.zeros(0)]
    limit = threshold + prices.group
    once = _LOOKS // len(order) + 1  # partial groups, each of which visits at most all records
    for size in range(problem.k, largest + 1):
        members, found = np.zeros((room, size), dtype=np.int32), np.zeros(room)
        root, nodes = 0, once
        while root < len(order):
            problem.check_time()
            roots = np.array([root, min(root + once, len(order))], dtype=np.int64)
            many, seen, done = enumerate_groups(
                problem.space, duals, cuts, order, roots, size, limit, each, nodes,
                scratch, members, found,
            )  # fmt: skip
            listed = np.full((many, problem.room), len(problem.counts), dtype=np.int32)
            listed[:, :size] = np.sort(copies[members[:many]], axis=1)
            groups.append(listed)
            costs.append(found[:many] - prices.group)
            members, found, room = members[many:], found[many:], room - many
            root += done
            if root < roots[1] and seen <= nodes:
                return Found(np.concatenate(groups), np.concatenate(costs), whole=False)
            nodes = once if done else _more(nodes, len(order), problem.seconds_left)
    return Found(np.concatenate(groups), np.concatenate(costs), whole=True)


def _more(nodes: int, records: int, seconds: float) -> int:
    """Return more nodes for a root that needs them, if there is time for them."""
    if 4 * nodes * records > seconds * _RATE:
        raise OutOfTime("stopped because the next step would exceed the time limit")
    return 4 * nodes


def generate(problem: GroupingProblem, master: Master) -> tuple[Prices, int]:
    """List groups until none lowers the program's value; return its duals and its bound."""
    tolerance = problem.tolerance(master.many)
    each = _EACH
    while True:
        prices = master.solve(problem.seconds_left)
        found = find_groups(problem, master, prices, -tolerance, each=each, room=_ROUND)
        if master.add(found.groups, problem.losses(found.groups)):
            each = _EACH
        elif each and len(found.groups):
            each = 0  # the solver already has these groups: search for others
        elif not found.whole:
            raise OutOfTime("a record has too many groups")
        else:
            least = min(float(found.costs.min(initial=0.0)), -tolerance)
            return prices, prices.bound((master.many, least))
