"""The published mixed-integer program, row by row, for tables of a dozen rows or two.

Rows i and l may be linked (v = 1), which makes their ranges equal; every row is linked to k − 1
others. Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020,
lemma 1 and eqs. 3.2.21–3.2.32, with eq. 3.2.34's weights. Departures: v is one variable for both
orders of a pair, as the program is symmetric in it; a nominal attribute is split into one binary
attribute for each value (§3.2.5), of which only the upper ends are charged, so that definition 8's
count − 1 results rather than the count. Links are not transitive, but equality of ranges is: rows
that are connected by links are one group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.column_generation import GroupingProblem
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.imports import requires
from shoal.table.column import Column
from shoal.table.table import Table

_MARGIN = 1e-7  # share of the solver's bound that its tolerances may have added
_MAX_ROWS = 200  # the program has rows² links, with four inequalities per attribute each


@dataclass(frozen=True, eq=False)
class Attribute:
    """Numbers to be covered by ranges: (rows,) places, permissible ends, cost of a unit of width.

    one_sided: charge only the upper end.
    """

    place: Floats
    low: float
    high: float
    cost: float
    integral: bool
    one_sided: bool = False


@dataclass(eq=False)
class _Program:
    """Columns and rows of the program under construction."""

    cost: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    integral: list[bool] = field(default_factory=list)
    rows: list[tuple[float, list[int], list[float]]] = field(default_factory=list)

    def variable(self, cost: float, lower: float, upper: float, *, integral: bool) -> int:
        """Add a variable and return its number."""
        self.cost.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.integral.append(integral)
        return len(self.cost) - 1

    def at_most(self, right: float, *terms: tuple[float, int]) -> None:
        """Add an inequality."""
        self.rows.append((right, [t[1] for t in terms], [t[0] for t in terms]))


def solve_big_m(problem: GroupingProblem, table: Table) -> None:
    """Improve a problem's grouping and bound by the program; table: in the records' order."""
    rows, k = len(problem.records), problem.k
    if rows > _MAX_ROWS:
        raise InputError(
            f"big-m takes at most {_MAX_ROWS} rows, not {rows}; use solver set-partitioning"
        )
    attributes = [a for column in table.quasi_columns for a in _attributes(column)]
    program = _Program()
    links = {
        (i, j): program.variable(0.0, 0.0, 1.0, integral=True)
        for i in range(rows)
        for j in range(i + 1, rows)
    }
    for i in range(rows):
        mine = [(-1.0, v) for pair, v in links.items() if i in pair]
        program.at_most(1.0 - k, *mine)  # eq. 3.2.26
    ends = [_add_attribute(program, attribute, links) for attribute in attributes]
    start = _start(problem.ids, attributes, ends, links, len(program.cost))
    value, bound = _run(program, start, problem.seconds_left)
    if value is not None:
        problem.improve(_components(rows, links, value))
    # the program charges the first value of each nominal attribute, the loss does not
    fixed = rows * float(sum(c.weight / c.domain for c in table.quasi_columns if not c.ordered))
    worth = (bound - fixed) / problem.records.scale
    problem.raise_bound(int(np.floor(worth * (1 - _MARGIN))) if np.isfinite(worth) else 0)
    if problem.bound < problem.goal:
        problem.stopped = "time is up"
    else:
        problem.raise_bound(problem.loss)


def _attributes(column: Column) -> list[Attribute]:
    """Return the attributes that a column is split into: itself, or one for each nominal value."""
    if not column.ordered:
        cost = column.weight / column.domain
        return [
            Attribute((column.codes == code) * 1.0, 0.0, 1.0, cost, integral=True, one_sided=True)
            for code in range(column.domain)
        ]
    if column.missing is not None:
        raise InputError(
            f"column {column.name!r} has missing values, which big-m does not support; "
            "use solver set-partitioning"
        )
    low, high = column.extent
    if high <= low:
        return []
    places = column.positions
    integral = bool((places == np.rint(places)).all() and low == round(low) and high == round(high))
    return [Attribute(places[column.codes], low, high, column.weight / (high - low), integral)]


def _add_attribute(
    program: _Program, attribute: Attribute, links: dict[tuple[int, int], int]
) -> tuple[list[int], list[int]]:
    """Add an attribute's lower and upper ends, which links make equal (eqs. 3.2.22–3.2.25)."""
    place, low, high = attribute.place, attribute.low, attribute.high
    cost, integral = attribute.cost, attribute.integral
    lower = [
        program.variable(0.0 if attribute.one_sided else -cost, low, float(x), integral=integral)
        for x in place
    ]
    upper = [program.variable(cost, float(x), high, integral=integral) for x in place]
    for (i, j), link in links.items():
        for ends, reach in (
            (lower, float(max(place[i], place[j])) - low),  # eqs. 3.2.29, 3.2.30
            (upper, high - float(min(place[i], place[j]))),  # eqs. 3.2.31, 3.2.32
        ):
            program.at_most(reach, (1.0, ends[i]), (-1.0, ends[j]), (reach, link))
            program.at_most(reach, (1.0, ends[j]), (-1.0, ends[i]), (reach, link))
    return lower, upper


def _start(
    ids: Codes,
    attributes: list[Attribute],
    ends: list[tuple[list[int], list[int]]],
    links: dict[tuple[int, int], int],
    size: int,
) -> Floats:
    """Return a grouping as a solution of the program."""
    value = np.zeros(size)
    for (i, j), link in links.items():
        value[link] = ids[i] == ids[j]
    for attribute, (lower, upper) in zip(attributes, ends, strict=True):
        for group in range(int(ids.max()) + 1):
            rows = np.flatnonzero(ids == group)
            value[np.array(lower)[rows]] = attribute.place[rows].min()
            value[np.array(upper)[rows]] = attribute.place[rows].max()
    return value


def _run(program: _Program, start: Floats, seconds: float) -> tuple[Floats | None, float]:
    """Solve the program; return the best solution, if any, and the bound."""
    with requires("exact"):
        import highspy

    solver = highspy.Highs()
    options: dict[str, Any] = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0}
    if np.isfinite(seconds):
        options["time_limit"] = max(seconds, 0.01)
    for name, option in options.items():
        solver.setOptionValue(name, option)
    size, nothing = len(program.cost), np.zeros(0, dtype=np.int32)
    numbers = (
        np.array(part, dtype=np.float64) for part in (program.cost, program.lower, program.upper)
    )
    solver.addCols(size, *numbers, 0, np.zeros(size, dtype=np.int32), nothing, np.zeros(0))
    integral = np.flatnonzero(program.integral).astype(np.int32)
    kinds = np.full(len(integral), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
    solver.changeColsIntegrality(len(integral), integral, kinds)
    for right, columns, values in program.rows:
        entries = np.array(columns, dtype=np.int32), np.array(values)
        solver.addRow(-highspy.kHighsInf, right, len(columns), *entries)
    solution = highspy.HighsSolution()
    solution.col_value = list(start)
    solver.setSolution(solution)
    solver.run()
    found = solver.getSolution()
    info = solver.getInfo()
    value = np.array(found.col_value) if found.value_valid else None
    return value, float(info.mip_dual_bound)


def _components(rows: int, links: dict[tuple[int, int], int], value: Floats) -> Codes:
    """Return the groups of rows that are connected by links."""
    group: Counts = np.arange(rows)
    for (i, j), link in links.items():
        if value[link] > 0.5:
            group[group == group[j]] = group[i]
    return np.unique(group, return_inverse=True)[1].astype(np.int32)
