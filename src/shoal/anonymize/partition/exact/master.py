"""The linear program over listed groups: the values of the groups with a record sum to one.

Its duals are rounded to multiples of 1 / FINE of a unit, so that every bound derived from them is
exact: rounding and the solver's tolerance can make a bound weaker, never wrong. As losses are
whole numbers of units, a bound may be rounded up to a whole number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.anonymize.partition.exact._pricing import Cuts, make_cuts
from shoal.anonymize.partition.exact.grouping_problem import FINE, OutOfTime
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.extras import requires

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
        worth -= sum(round(p * FINE) * cut.most for p, cut in zip(cuts, self.cuts, strict=True))
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
