"""Column generation: the linear program over all groups, and all groups with low reduced cost.

    GroupingProblem    the records, the best grouping so far and the best bound so far
    Master             the linear program over listed groups: the values of the groups with a record
                       sum to one
    generate           list groups of negative reduced cost until there are none
    find_groups        all groups whose reduced cost is below a threshold, from their first record
                       on, so that the search can be interrupted between roots
    start              good groupings to begin with, and a bound that is cheap to compute

Everything is counted in whole units of the records. Equal records are of one kind, and a group is
a list of kinds: equal records are interchangeable. Duals are rounded to multiples of 1 / FINE of a
unit, so that every bound derived from them is exact: rounding and the solver's tolerance can make a
bound weaker, never wrong. As losses are whole numbers of units, a bound may be rounded up to a
whole number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shoal.methods.partition._boxes import Near
from shoal.methods.partition._pricing import (
    Cuts,
    Space,
    enumerate_groups,
    make_cuts,
    make_scratch,
    make_space,
)
from shoal.methods.partition._swapping import anneal_swaps, make_state
from shoal.methods.partition.annealing import Plan, anneal, near_records
from shoal.methods.partition.annealing_rules import rules_of
from shoal.methods.partition.greedy import group_greedily
from shoal.methods.partition.nearest import nearest_points
from shoal.methods.partition.records import Records
from shoal.privacy.k_anonymity import KAnonymity
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.imports import requires
from shoal.support.progress import report, working_time
from shoal.table.table import Table

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
    # with `few` groups or more, the others take at least k records each
    largest = min(problem.room, len(order) - (max(master.few, 1) - 1) * problem.k)
    scratch = make_scratch(problem.space, cuts, largest)
    groups, costs = [np.zeros((0, problem.room), np.int32)], [np.zeros(0)]
    limit = threshold + prices.group
    once = _LOOKS // len(order) + 1  # partial groups, each of which visits at most all records
    for size in range(problem.k, largest + 1):
        members, reduced = np.zeros((room, size), dtype=np.int32), np.zeros(room)
        root, nodes = 0, once
        while root < len(order):
            problem.check_time()
            roots = np.array([root, min(root + once, len(order))], dtype=np.int64)
            many, seen, done = enumerate_groups(
                problem.space, duals, cuts, order, roots, size, limit, each, nodes,
                scratch, members, reduced,
            )  # fmt: skip
            listed = np.full((many, problem.room), len(problem.counts), dtype=np.int32)
            listed[:, :size] = np.sort(copies[members[:many]], axis=1)
            groups.append(listed)
            costs.append(reduced[:many] - prices.group)
            members, reduced, room = members[many:], reduced[many:], room - many
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
            # no reduced cost is below this, so the bound holds for all groups
            least = min(float(found.costs.min(initial=0.0)), -tolerance)
            return prices, prices.bound((master.many, least))


FINE = 2**16  # duals are multiples of 1 / FINE
_NEAR = 10  # neighbours of a record
_BLUR = 64  # generous bound on the rounding error of a group's duals
_LITTLE = 2_000_000  # a saving below the loss divided by this is not searched for


class OutOfTime(Exception):  # noqa: N818  a reason to stop, not an error
    """The time is up, or the search cannot go on, for the reason given."""


@dataclass(eq=False)
class GroupingProblem:
    """Records to be divided into groups of at least k.

    ids: the best grouping so far; loss: its loss. bound: no grouping loses less.
    deadline: when to stop, by `working_time`. stopped: why the search ended early.
    """

    records: Records
    k: int
    ids: Codes
    deadline: float
    loss: int = field(init=False)
    bound: int = 0
    stopped: str = ""

    def __post_init__(self) -> None:
        self.loss = self.records.units(self.ids)

    @cached_property
    def counts(self) -> Counts:
        """(kinds,) number of records of each kind."""
        return np.bincount(self.records.copies).astype(np.int64)

    @cached_property
    def first(self) -> Counts:
        """(kinds,) the first record of each kind."""
        return np.searchsorted(self.records.copies, np.arange(len(self.counts)))

    @cached_property
    def room(self) -> int:
        """Largest number of records of a group: a larger group can be divided without loss."""
        return min(2 * self.k - 1, len(self.records))

    @cached_property
    def space(self) -> Space:
        """The records in the layout of the search for groups."""
        points = self.records.points
        return make_space(points.line, points.cap, points.name, points.unit, self.records.copies)

    @property
    def cells(self) -> int:
        """Number of cells; a computed loss is off by at most one unit for each."""
        return int(self.records.points.line.size + self.records.points.name.size)

    @property
    def slack(self) -> int:
        """Least saving of a better grouping.

        Positions are rounded to units: the computed losses of equal groupings can differ by up to
        one unit per cell, so smaller differences are ignored.
        """
        return max(min(self.cells, self.loss // _LITTLE), 1)

    def tolerance(self, groups: int) -> float:
        """Return the reduced cost that this many groups may fall short of without an effect."""
        return max(self.slack // (2 * groups), _BLUR / FINE)

    @property
    def goal(self) -> int:
        """The bound from which on the best grouping counts as optimal."""
        return self.loss - self.slack + 1

    @property
    def seconds_left(self) -> float:
        """Time until the deadline."""
        return self.deadline - working_time()

    def check_time(self) -> None:
        """Report the progress of the bound, and stop if the time is up."""
        report("solve", self.bound / max(self.loss, 1), 1.0)
        if self.seconds_left <= 0:
            raise OutOfTime("time is up")

    def raise_bound(self, bound: int) -> None:
        """Store a bound that holds for every grouping."""
        self.bound = max(self.bound, min(bound, self.loss))

    def improve(self, ids: Codes) -> None:
        """Store a grouping if it is better."""
        loss = self.records.units(ids)
        if loss < self.loss and int(np.bincount(ids).min()) >= self.k:
            self.ids, self.loss = ids, loss

    def improve_by(self, groups: Codes) -> bool:
        """Store a grouping of listed groups if it is better; return whether they are a grouping."""
        size = len(self.counts)
        kinds = groups[groups < size]
        if not np.array_equal(np.bincount(kinds, minlength=size), self.counts):
            return False
        label = np.repeat(np.arange(len(groups), dtype=np.int32), (groups < size).sum(axis=1))
        ids = np.empty(len(self.records), dtype=np.int32)
        ids[:] = label[np.argsort(kinds, kind="stable")]
        self.improve(ids)
        return True

    def complete(self, groups: Codes) -> None:
        """Group the records outside the listed groups, polish the result, store it if better."""
        ids, free = np.full(len(self.records), -1, dtype=np.int32), self.first.copy()
        for group, row in enumerate(groups):
            for kind in row[row < len(self.counts)]:
                ids[free[kind]] = group
                free[kind] += 1
        left = np.flatnonzero(ids < 0)
        if len(left) >= self.k:
            rest = group_greedily(self.records.take(left), self.k, outliers_first=True)
            ids[left] = len(groups) + rest
        elif len(left):
            sizes = np.bincount(ids[ids >= 0], minlength=len(groups))
            # too few for a group of their own: one each to groups that have room
            open_groups = np.flatnonzero(sizes < self.room)
            if len(open_groups) < len(left):
                return
            ids[left] = open_groups[: len(left)]
        self.improve(swap_down(self.records, self.near, ids, self.k))

    @cached_property
    def near(self) -> Near:
        """The nearest neighbours of records."""
        return near_records(self.records, _NEAR, 1)

    def losses(self, groups: Codes) -> Counts:
        """Return the loss of each listed group."""
        size = len(self.counts)
        ids = np.repeat(np.arange(len(groups), dtype=np.int32), (groups < size).sum(axis=1))
        _, sizes, widths = self.records.take(self.first[groups[groups < size]]).boxes(
            ids, len(groups)
        )
        return sizes * widths

    def listed(self, ids: Codes) -> Codes:
        """Return the groups of a grouping, (groups, room), as lists of kinds, ascending."""
        sizes = np.bincount(ids)
        groups = np.full((len(sizes), self.room), len(self.counts), dtype=np.int32)
        order = np.argsort(ids, kind="stable")
        place = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        groups[ids[order], place] = self.records.copies[order]
        return groups


_LEFT_OUT = 100.0  # cost of leaving out a record or group, relative to the total loss


@dataclass(frozen=True, eq=False)
class Cut:
    """Σ over groups of ⌊weight of its kinds / step⌋ ≤ ⌊weight of all records / step⌋.

    weight: (kinds + 1,) below the step; the last is 0. most: the right side.
    """

    weight: Codes
    step: int
    most: int

    @property
    def key(self) -> bytes:
        """Identity of the cut."""
        return bytes([self.step]) + self.weight.tobytes()

    def times(self, groups: Codes) -> Counts:
        """Return the coefficient of each group."""
        times: Counts = self.weight[groups].sum(axis=1, dtype=np.int64) // self.step
        return times


@dataclass(frozen=True, eq=False)
class Prices:
    """Duals, multiples of 1/FINE: of each kind (with a 0 at the end), each cut, every group alike.

    value: (listed groups,) the program's solution; loss: its value.
    worth: FINE times the dual value, a bound if no group has a negative reduced cost.
    """

    kinds: Floats
    cuts: Floats
    group: float
    value: Floats
    loss: float
    worth: int

    def bound(self, *extra: tuple[int, float]) -> int:
        """Return the bound from the duals; extra: how often groups are used, and reduced costs."""
        total = self.worth + sum(times * round(cost * FINE) for times, cost in extra)
        return -(-total // FINE)


class Master:
    """Groups and cuts, in a program that can be changed and solved again from its last state."""

    def __init__(self, counts: Counts, room: int, unit: float) -> None:
        """Start without groups; unit: number of units that are 1 in the program's costs."""
        with requires("exact"):
            import highspy

        self.counts, self.unit = counts, unit
        self.groups = np.zeros((0, room), dtype=np.int32)
        self._known: set[bytes] = set()
        self.cuts: list[Cut] = []
        self.few, self.many = 0, int(counts.sum())
        self._inf = highspy.kHighsInf
        self._solver = solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
        size, nothing = len(counts), np.zeros(0, dtype=np.int32)
        low, high = np.append(counts, self.few), np.append(counts, self.many)
        starts = np.zeros(size + 1, dtype=np.int32)
        solver.addRows(size + 1, low * 1.0, high * 1.0, 0, starts, nothing, np.zeros(0))
        rows = np.append(np.arange(size + 1), size).astype(np.int32)
        self._spare = spare = len(rows)  # artificial columns, so that the program is feasible
        each, times = np.arange(spare, dtype=np.int32), np.append(np.ones(spare - 1), -1.0)
        cost = np.full(spare, _LEFT_OUT * int(counts.sum()))
        most = np.full(spare, self._inf)
        solver.addCols(spare, cost, np.zeros(spare), most, spare, each, rows, times)

    def set_count(self, few: int, many: int) -> None:
        """Set the least and greatest number of groups."""
        self.few, self.many = few, many
        self._solver.changeRowBounds(len(self.counts), float(few), float(many))

    def add(self, groups: Codes, loss: Counts) -> bool:
        """Add groups, (groups, room) ascending kinds, and their loss; return if any is new."""
        keys = [group.tobytes() for group in groups]
        fresh = np.array([key not in self._known for key in keys], dtype=np.bool_)
        self._known.update(keys)
        groups, loss = groups[fresh], loss[fresh]
        if not len(groups):
            return False
        size, many = len(self.counts), len(groups)
        parts = [_entries(groups, size), (np.arange(many), np.full(many, size), np.ones(many))]
        parts += [_sparse(cut.times(groups), size + 1 + i) for i, cut in enumerate(self.cuts)]
        columns, rows, times = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(many)).astype(np.int32)
        entries = rows[order].astype(np.int32), times[order].astype(np.float64)
        free = np.zeros(many), np.full(many, self._inf)
        self._solver.addCols(many, loss / self.unit, *free, len(order), starts, *entries)
        self.groups = np.concatenate([self.groups, groups])
        return True

    def add_cut(self, cut: Cut) -> None:
        """Add a cut that every grouping satisfies."""
        groups, _, times = _sparse(cut.times(self.groups), 0)
        columns = (groups + self._spare).astype(np.int32)
        values = times.astype(np.float64)
        self._solver.addRow(-self._inf, float(cut.most), len(columns), columns, values)
        self.cuts.append(cut)

    def drop_cuts(self, idle: Counts) -> None:
        """Remove cuts by number."""
        rows = (idle + len(self.counts) + 1).astype(np.int32)
        self._solver.deleteRows(len(rows), rows)
        gone = set(idle.tolist())
        self.cuts = [cut for i, cut in enumerate(self.cuts) if i not in gone]

    def limit(self, allowed: Bools, low: Floats, high: Floats) -> None:
        """Set which groups may be used, and how often: (groups,) each."""
        many = len(self.groups)
        columns = (np.arange(many) + self._spare).astype(np.int32)
        upper = np.where(allowed, np.where(np.isfinite(high), high, self._inf), 0.0)
        self._solver.changeColsBounds(many, columns, low, upper)

    def solve(self, seconds: float) -> Prices:
        """Solve the program within a time limit and return its rounded duals.

        The bound holds for these duals, however the solver ends.
        """
        if np.isfinite(seconds):
            self._solver.setOptionValue(
                "time_limit", self._solver.getRunTime() + max(seconds, 0.01)
            )
        self._solver.run()
        solution, size = self._solver.getSolution(), len(self.counts)
        if not (solution.value_valid and solution.dual_valid):
            raise OutOfTime("time is up")
        dual = np.rint(np.array(solution.row_dual) * self.unit * FINE) / FINE
        kinds, group, cuts = dual[:size], float(dual[size]), np.maximum(-dual[size + 1 :], 0.0)
        worth = sum(round(p * FINE) * int(c) for p, c in zip(kinds, self.counts, strict=True))
        # a cut lowers the dual value by its price times its right side
        worth -= sum(round(p * FINE) * cut.most for p, cut in zip(cuts, self.cuts, strict=True))
        # the group price counts for as many groups as make the bound least
        worth += round(group * FINE) * (self.few if group > 0 else self.many)
        value = np.array(solution.col_value)[self._spare :]
        loss = self._solver.getInfo().objective_function_value * self.unit
        return Prices(np.append(kinds, 0.0), cuts, group, value, loss, worth)

    def penalties(self, prices: Prices, kind: Codes | None = None) -> Cuts:
        """Return the cuts that cost something, over kinds or over records of given kinds."""
        kind = np.arange(len(self.counts) + 1, dtype=np.int32) if kind is None else kind
        live = np.flatnonzero(prices.cuts > 0)
        shares = []
        for i in live:
            weight = self.cuts[i].weight[kind]
            members = np.flatnonzero(weight).astype(np.int32)
            shares.append((members, weight[members]))
        steps = [self.cuts[i].step for i in live]
        return make_cuts(len(kind), shares, steps, prices.cuts[live])


def _entries(groups: Codes, size: int) -> tuple[Any, Any, Any]:
    """Return group, kind and multiplicity of every kind in every group."""
    keys = np.arange(len(groups), dtype=np.int64)[:, None] * (size + 1) + groups
    unique, times = np.unique(keys[groups < size], return_counts=True)
    return unique // (size + 1), unique % (size + 1), times


def _sparse(times: Counts, row: int) -> tuple[Any, Any, Any]:
    groups = np.flatnonzero(times)
    return groups, np.full(len(groups), row), times[groups]


_MAX_SWAPPED = 500  # records up to which groups are improved repeatedly by swaps only
_RUNS = 8
_HOT, _COLD = 0.12, 0.012  # first and last temperature, relative to the loss of a group of k
_DOWN = 200  # steps per record if a grouping is only polished
_PACE = 100_000  # annealing steps per second of the time limit; they take about a fifth of it
_STEPS = (100, 2000)  # per record, without time and with enough time
_ENOUGH = 10.0  # seconds


def start(records: Records, table: Table, k: int, seconds: float, seed: int) -> list[Codes]:
    """Return groupings into groups of k to 2k − 1 records, the best one first.

    table: the table of the records. seconds: time limit of the whole search; the work done here
    depends only on it, never on the clock.
    """
    ids = group_greedily(records, k, outliers_first=True)
    near = near_records(records, _NEAR, 1)
    if len(records) > _MAX_SWAPPED:
        steps = int(min(seconds * _PACE / len(records), _STEPS[1]))
        rules, _ = rules_of(KAnonymity(k), table, records.rows)
        plan = Plan(steps, None, seed, 1)
        return [anneal(records, ids, k, near, rules, 2 * k - 1, plan)]
    share = min(seconds / _ENOUGH, 1.0)
    runs, steps = 1 + round(share * (_RUNS - 1)), round(_STEPS[0] + share * np.diff(_STEPS)[0])
    return swap(records, near, k, len(records) // k, steps * len(records), runs, seed)


def swap(
    records: Records, near: Near, k: int, count: int, steps: int, runs: int, seed: int
) -> list[Codes]:
    """Return groupings with a given number of groups, each annealed by swaps, the best first.

    With the largest possible number of groups, hardly any group can lose a record: moves, and
    dissolving and creating groups, rarely help and often end with too few groups.
    """
    ids = _regrouped(records, group_greedily(records, k, outliers_first=True), k, count)
    unit = records.units(ids) / len(records) * k
    groupings = [ids]
    for run in range(runs if unit else 0):
        report("start", run, runs)
        state = make_state(records.points, ids, k, seed * _RUNS + run)
        best = np.empty_like(ids)
        anneal_swaps(records.points, state, near, k, unit * _HOT, unit * _COLD, steps, best)
        groupings.append(best)
    return sorted(groupings, key=records.units)


def swap_down(records: Records, near: Near, ids: Codes, k: int) -> Codes:
    """Return a grouping improved by swaps at low temperatures."""
    unit = max(records.units(ids) / len(records) * k, 1.0)
    state, best = make_state(records.points, ids, k, 0), np.empty_like(ids)
    many = _DOWN * len(records)
    anneal_swaps(records.points, state, near, k, unit * _COLD, unit * _COLD / 10, many, best)
    return best


def neighbour_bound(records: Records, k: int) -> int:
    """Return a lower bound of the loss of any grouping: each record needs k − 1 others.

    Its group is at least as wide as its pair with the farthest of its k − 1 nearest neighbours.
    """
    counts = np.bincount(records.copies)
    if len(counts) == 1:
        return 0
    few = min(k - 1, len(counts) - 1)
    nearest, widths = nearest_points(records, few)
    reached = np.cumsum(counts[nearest], axis=1) + counts[:, None] - 1
    # how many nearest points it takes to reach k − 1 other records
    far = (reached < k - 1).sum(axis=1)
    width = widths[np.arange(len(counts)), np.minimum(far, few - 1)].astype(np.int64)
    return int((np.where(counts >= k, 0, width) * counts).sum())


def _regrouped(records: Records, ids: Codes, k: int, count: int) -> Codes:
    """Return a grouping with exactly this many groups: this one, or neighbours in the order."""
    sizes = np.bincount(ids)
    if len(sizes) == count and sizes.max() < 2 * k:
        return ids
    return (np.arange(len(records)) * count // len(records)).astype(np.int32)
