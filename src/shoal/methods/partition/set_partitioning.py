"""Exact grouping as set partitioning: the best choice among all groups of k to 2k − 1 records.

For each number of groups, as each restricts the program strongly: with ⌊n / k⌋ groups hardly any
can have more than k records.

    linear program over all groups, by column generation        a bound
    every group that a better grouping could use                a list
    branch and cut over the list, from a part that grows        the optimum, with a proof

A node of the tree is divided by two records, which are together in one half and apart in the other
(Ryan & Foster, "An integer programming approach to scheduling", 1981), or, if copies of records
leave no such pair, by how often a group is used. It is closed only by a bound in whole units, never
by the value that the solver returns.

Desrosiers & Lübbecke, "A primer in column generation", 2005; Baldacci, Christofides & Mingozzi,
"An exact algorithm for the vehicle routing problem based on the set partitioning formulation with
additional cuts", Mathematical Programming 115, 2008. Rank-1 cuts are partition rows, multiplied,
added up and rounded down: Jepsen, Petersen, Spoorendonk & Pisinger, "Subset-row inequalities
applied to the vehicle-routing problem with time windows", Operations Research 56(2), 2008;
multipliers for up to five rows from Pecin, Pessoa, Poggi, Uchoa & Santos, "Limited memory rank-1
cuts for vehicle routing problems", Operations Research Letters 45(3), 2017.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from shoal.methods.partition._separation import Solution, find_cuts, make_rule, reduced_costs
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
from shoal.support.arrays import Codes, Counts, Floats

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
            # first only the cheaper part of the list, which is often enough and much shorter
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
            # integer: the solution is a grouping
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
            low = np.array([node.limits.get(int(index), (0, 0))[0] for index in used])
            over = value - low
            sure = over > 1 - USED
            for index in used[sure] if sure.any() else used[over.argmax()][None]:
                few, many = node.limits.get(int(index), (0, self.listed.count))
                node.limits[int(index)] = (few + 1, many)
            if self._free(node).min() < 0:
                return
            # groups that fit in the records outside the fixed groups, and the fixed ones
            fits = (self._free(node)[self.listed.groups[node.left]] > 0).all(axis=1)
            node.left = node.left[fits | np.isin(node.left, list(node.limits))]
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
        for index, (low, _) in node.limits.items():
            np.subtract.at(free, self.listed.groups[index], low)
        free[-1] = 1
        return free

    def _divide(self, node: Node, prices: Prices) -> list[Node]:
        """Return the two halves of a node, by the pair among some that raises the value most."""
        used, value = self.listed.used(prices)
        pairs = self._pairs(used, value)
        if not pairs:
            return self._divide_by_group(node, used, value)
        halves = [self._halves(node.left, *pair) for pair in pairs]
        best = 0
        if len(halves) > 1:
            # strong branching: the product of both gains, each at least 1
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
        # rows are single records; a pair of single records is listed once
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
        index, whole = int(used[at]), int(np.floor(value[at]))
        low, high = node.limits.get(index, (0, self.listed.count))
        halves = [
            self._child(node, node.left, {**node.limits, index: limits})
            for limits in ((low, whole), (whole + 1, high))
        ]
        return [half for half in halves if self._free(half).min() >= 0]

    def _child(self, node: Node, left: Counts, limits: dict[int, tuple[int, int]]) -> Node:
        self._numbered += 1
        return Node(node.bound, self._numbered, left, limits)


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
        for index, cost in zip(node.left[limited], costs[limited], strict=True):
            low, high = node.limits[int(index)]
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
        for index, (few, many) in node.limits.items():
            at = self.place == index
            low[at], high[at] = few, many
        self.master.limit(allowed[self.place], low, high)


# multipliers × step, descending
_PATTERNS = [
    (2, (1, 1, 1)),
    (3, (2, 1, 1, 1)),
    (2, (1, 1, 1, 1, 1)),
    (3, (1, 1, 1, 1, 1)),
    (3, (2, 2, 1, 1, 1)),
    (4, (2, 2, 1, 1, 1)),
    (4, (3, 1, 1, 1, 1)),
    (4, (3, 3, 2, 2, 1)),
    (5, (3, 2, 2, 1, 1)),
    (2, (1,) * 7),
    (2, (1,) * 9),
    (3, (1,) * 8),
    (4, (1,) * 7),
    (4, (1,) * 11),
    (5, (1,) * 9),
    (3, (2, 2, 1, 1, 1, 1)),
    (4, (2, 2, 1, 1, 1, 1, 1, 1, 1)),
]
_PLENTY = 4  # candidate cuts per wanted cut
_STARTS = 60  # of each search
_SPLIT = 1e-6  # a value this far from whole numbers is split
_WORTH = 0.02  # least violation of a cut that is kept
_OFTEN = 8  # cuts of one round that a kind may be in


def separate(
    groups: Codes, value: Floats, counts: Counts, known: set[bytes], seed: int, most: int
) -> list[Cut]:
    """Return cuts that a solution violates, the most violated first.

    groups, value: (groups, room) and (groups,) the groups in the solution. known: keys of existing
    cuts.
    """
    room = groups.shape[1]
    split = np.abs(value - np.rint(value)) > _SPLIT
    kinds, solution = _by_kind(groups[split], value[split], counts)
    size = len(kinds)
    draw = np.random.default_rng(seed)
    starts = min(2 * size, _STARTS)
    noise = draw.random((starts, size)) * 1e-9
    # the second half of the starts explores more
    noise[starts // 2 :] *= 2e8
    begin = draw.permutation(size).astype(np.int32)
    load, used = np.zeros(len(solution.value), np.int32), np.zeros(size, dtype=np.bool_)
    violations: dict[bytes, tuple[float, Cut]] = {}
    for step, weights in _PATTERNS:
        if len(weights) > size or len(violations) > _PLENTY * most:
            continue
        chosen = np.zeros((starts, len(weights)), dtype=np.int32)
        chosen[:, 0] = np.resize(begin, starts)
        violated = np.zeros(starts)
        rule = make_rule(weights, step, room)
        find_cuts(rule, solution, noise, load, used, chosen, violated)
        for i in np.flatnonzero(violated > _WORTH):
            weight = np.zeros(len(counts) + 1, dtype=np.int32)
            weight[kinds[chosen[i]]] = rule.weights
            right = int((weight[:-1] * counts).sum()) // step
            cut = Cut(weight, step, right)
            if cut.key not in known:
                violations[cut.key] = (float(violated[i]), cut)
    return _pick(list(violations.values()), known, most)


def _pick(found: list[tuple[float, Cut]], known: set[bytes], most: int) -> list[Cut]:
    """Return the most violated cuts, no kind in too many of them."""
    found.sort(key=lambda one: (-one[0], one[1].key))
    picked: list[Cut] = []
    often = np.zeros(0, dtype=np.int64)
    for _, cut in found:
        if not len(often):
            often = np.zeros(len(cut.weight), dtype=np.int64)
        members = cut.weight > 0
        if len(picked) < most and often[members].max() < _OFTEN:
            often += members
            picked.append(cut)
            known.add(cut.key)
    return picked


def _by_kind(groups: Codes, value: Floats, counts: Counts) -> tuple[Counts, Solution]:
    """Return the kinds in some groups, and these groups by kind."""
    keys = groups.astype(np.int64) * len(groups) + np.arange(len(groups))[:, None]
    unique, times = np.unique(keys[groups < len(counts)], return_counts=True)
    kinds, first = np.unique(unique // max(len(groups), 1), return_index=True)
    holder = (unique % max(len(groups), 1)).astype(np.int32)
    first = np.append(first, len(unique)).astype(np.int32)
    times = times.astype(np.int32)
    return kinds, Solution(value, counts[kinds].astype(np.int32), first, holder, times)
