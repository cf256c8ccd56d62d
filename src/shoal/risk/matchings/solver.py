"""Exact solutions of components: the routes, their costs, and bounds on their rounding errors.

    single    one row
    subsets   up to 8 rows, or all pairs of up to 26: every set of columns (`_permanents.py`)
    sweep     few kinds of rows open at a time, at any size (`profile.py`)
    glynn     matrices without structure, up to about 30 rows: half of all 2ⁿ sign patterns, each
              with one product of n row sums; products without one row give the true pairs

`Solver.cost` chooses the cheapest route, `Solver.solve` takes it. In a consistency graph a row
stands for several people and a column for several records; such components are swept. For Glynn's
formula the matrix is scaled so that rows sum to at most 1 and rounded to multiples of 2⁻⁵², which
makes row sums exact; the effect of this rounding, and the errors of products and sums, are bounded
by sums of absolute products, which are at least the minor of each entry. Glynn, "The permanent of a
square matrix", European Journal of Combinatorics 31(7), 2010.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.profile import MAX_STATE_BITS, SweepPlan, plan_sweep, sweep
from shoal.risk.matchings.sinkhorn import Flat, Scaled, flatten, sinkhorn
from shoal.risk.matchings.structure import (
    NOWHERE,
    ROUNDOFF,
    Component,
    Edges,
    KindMatrix,
    collapse,
)
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.support.progress import report

_MAX_EDGES = 5_000_000  # entries of a component for which a sweep is planned
_MAX_GLYNN_ROWS = 40  # rows for which Glynn's formula is considered
_MAX_SUBSETS_ROWS = 26  # rows for which the sum over all sets of columns is considered
_SMALL_ROWS = 8  # rows up to which the sum over sets of columns is the only route
_MIN_PERMANENT = 1e-250  # a smaller permanent may have lost digits
_GLYNN_PENALTY_SECONDS = 0.01  # a sweep may take longer by this: Glynn's formula cancels digits
_SCALING_SWEEPS = 300  # sweeps of Sinkhorn scaling, which need not converge
_STEP_SECONDS, _STEP_MEGABYTES = 3e-8, 16e-6  # of one step of a sweep


class Cost(NamedTuple):
    """Approximate cost of an exact solution.

    Parameters:
        route: "single", "sweep", "glynn" or "subsets"; "none" if there is no exact solution.
        seconds: Time on one core, infinite without a route.
        megabytes: Memory.
    """

    route: str
    seconds: float
    megabytes: float


class Budget(NamedTuple):
    """Limits on the cost of exact solutions.

    Parameters:
        seconds, megabytes: Limits for one component.
        total_seconds: Limit for all components together.
        overhead_seconds: What each solved component counts for in addition to its cost.
    """

    seconds: float
    megabytes: float = math.inf
    total_seconds: float = math.inf
    overhead_seconds: float = 0.0


class ComponentSolution(NamedTuple):
    """The exact solution of a component.

    Parameters:
        log_permanent: Natural logarithm of the sum of the weights of all perfect matchings.
        marginals: (true pairs,) the probability of each, in the order of `Component.mapping`.
        error: Bound on the relative error of the permanent.
        psi_error: Bound on the absolute error of the sum of the marginals.
    """

    log_permanent: float
    marginals: Floats
    error: float
    psi_error: float


class PairSolution(NamedTuple):
    """The probabilities of all pairs of a component.

    Parameters:
        shares: (kinds of rows, kinds of columns) the probability of one pair of such lines.
        row_kinds, column_kinds: (rows,) and (columns,) the kind of each line.
        log_permanent: Natural logarithm of the permanent.
        error: Bound on the relative error of the permanent and of each probability.
    """

    shares: Floats
    row_kinds: Counts
    column_kinds: Counts
    log_permanent: float
    error: float

    def pick(self, rows: Counts, columns: Counts) -> Floats:
        """(pairs,) the probabilities of these pairs of a row and a column."""
        return self.shares[self.row_kinds[rows], self.column_kinds[columns]]

    @property
    def pairs(self) -> Floats:
        """(rows, columns) the probability of each pair."""
        return self.shares[np.ix_(self.row_kinds, self.column_kinds)]


def solve_within(
    components: Iterable[Component], budget: Budget, *, threads: int = 1
) -> Iterator[tuple[Component, ComponentSolution | None]]:
    """Yield each component with its exact solution, None if the solution exceeds the budget.

    Parameters:
        components: The components, in the order in which they may use the budget.
        budget: Limits on the cost.
        threads: Number of threads; the solutions do not depend on it.
    """
    seconds_left = budget.total_seconds
    for component in components:
        solver = Solver(component)
        limits = min(budget.seconds, seconds_left), budget.megabytes
        if seconds_left <= 0 or not solver.is_within(*limits):
            yield component, None
            continue
        seconds_left -= solver.cost().seconds + budget.overhead_seconds
        yield component, solver.solve(threads)


class Solver:
    """The exact solver of one component; intermediate results are kept."""

    def __init__(self, component: Component) -> None:
        self.component = component

    @cached_property
    def flat(self) -> Flat | None:
        """The factors of a flat component; None for weights that are not products of factors."""
        return None if self.component.multiplicity else flatten(self.component)

    @cached_property
    def even(self) -> Component:
        """The component, with equal weights if it is flat."""
        if self.flat is None:
            return self.component
        return self.component.unweighted

    @cached_property
    def scaled(self) -> Scaled:
        """The component, scaled so that rows and columns sum to about 1."""
        return sinkhorn(self.even, sweeps=_SCALING_SWEEPS)

    @cached_property
    def powers(self) -> tuple[KindMatrix, float]:
        """The kinds of lines with scaled weights, and the logarithm of the scaling factor.

        Scaling by powers of two is exact. Lines that stand for several people or records have
        their weights divided by the largest one instead.
        """
        if self.component.multiplicity:
            weights = self.component.edges.weights
            largest = weights.max()
            kinds = collapse(self.component.with_weights(weights / largest))
            return kinds, -self.component.people * math.log(largest)
        kinds = collapse(self.even)
        rows, columns = (
            np.rint(logs[np.unique(of, return_index=True)[1]] / math.log(2)).astype(np.int64)
            for logs, of in (
                (self.scaled.log_rows, kinds.row_kinds),
                (self.scaled.log_columns, kinds.column_kinds),
            )
        )
        indptr, indices, weights = kinds.edges
        heads = np.repeat(np.arange(len(rows)), np.diff(indptr))
        edges = Edges(indptr, indices, np.ldexp(weights, rows[heads] + columns[indices]))
        power = int((rows * kinds.row_counts).sum() + (columns * kinds.column_counts).sum())
        return replace(kinds, edges=edges), math.log(2) * power

    @cached_property
    def plan(self) -> SweepPlan | None:
        """The sweep to take, None if it would have too many states."""
        if self.component.edge_count > _MAX_EDGES:
            return None
        uneven = isinstance(self.component.stored, np.ndarray) and self.flat is None
        if uneven and _mixed(self.component.dense) and _mixed(self.component.dense.T):
            return None
        planned = plan_sweep(self.powers[0])
        return planned if math.isfinite(planned.steps) else None

    @cached_property
    def small(self) -> PairSolution | None:
        """The solution of a few rows, by all sets of columns; None if digits may be lost."""
        if self.component.size > _SMALL_ROWS or self.component.multiplicity:
            return None
        matrix = self.component.dense
        # powers of two scale exactly; the largest entries of rows and columns come to ½ to 1
        rows = np.frexp(matrix.max(axis=1))[1]
        matrix = np.ldexp(matrix, -rows[:, None])
        columns = np.frexp(matrix.max(axis=0))[1]
        pairs, permanent = _by_subsets(np.ldexp(matrix, -columns))
        if permanent < _MIN_PERMANENT:
            return None
        log_permanent = math.log(permanent) + math.log(2) * int(rows.sum() + columns.sum())
        rounded = 2 * len(matrix) * (len(matrix) + 2) + 2.0 ** len(matrix)
        error = ROUNDOFF * (rounded + 4 * abs(log_permanent) + 4)
        lines = np.arange(len(matrix))
        return PairSolution(pairs, lines, lines, log_permanent, error)

    def cost(self, *, every: bool = False) -> Cost:
        """Return the cost of the cheapest route to the true pairs, or to `every` pair."""
        size = self.component.size
        if self.component.multiplicity:
            return Cost("none", math.inf, 0.0) if self.plan is None else self._sweep_cost(0.0)
        if size == 1:
            return Cost("single", 0.0, 0.0)
        if self.small is not None:
            return Cost("subsets", 0.0, 0.0)
        costs = [Cost("none", math.inf, 0.0)]
        if every and size <= _MAX_SUBSETS_ROWS:
            costs.append(Cost("subsets", 2.5e-9 * size * 2.0**size, 8e-6 * 2.0**size))
        elif not every and size <= _MAX_GLYNN_ROWS:
            costs.append(Cost("glynn", 1.5e-10 * (size + 3) * 2.0**size, 1.0))
        if self.plan is not None:
            costs.append(self._sweep_cost(2e-5 * size))
        return min(
            costs, key=lambda cost: cost.seconds + (cost.route == "glynn") * _GLYNN_PENALTY_SECONDS
        )

    def is_within(self, seconds: float, megabytes: float = math.inf) -> bool:
        """Return whether there is a route to the true pairs within these limits."""
        cost = self.cost()
        return cost.route != "none" and cost.seconds <= seconds and cost.megabytes <= megabytes

    def solve(self, threads: int = 1) -> ComponentSolution:
        """Return the solution for the true pairs."""
        component, route = self.component, self.cost().route
        feasible = component.mapping != NOWHERE
        if route == "single":
            weight = float(component.dense[0, 0])
            error = ROUNDOFF * (abs(math.log(weight)) + 1)
            return ComponentSolution(math.log(weight), feasible.astype(np.float64), error, 0.0)
        if route != "glynn":
            return self._true_pairs(self.small or self._by_sweep())
        solution = self._by_glynn(threads)
        log_factor, uneven = self._flat_error()
        return ComponentSolution(
            solution.log_permanent + log_factor,
            solution.marginals,
            solution.error + uneven,
            solution.psi_error + int(feasible.sum()) * uneven,
        )

    def solve_every(self) -> Floats:
        """(rows, columns) the probability of each pair."""
        route = self.cost(every=True).route
        if route == "single":
            return np.ones((1, 1))
        if self.small is not None:
            return self.small.pairs
        if route == "sweep":
            return self._by_sweep().pairs
        return _by_subsets(self.scaled.component.dense)[0]

    def _sweep_cost(self, overhead_seconds: float) -> Cost:
        """Return the cost of the planned sweep."""
        assert self.plan is not None
        steps = self.plan.steps
        return Cost("sweep", overhead_seconds + _STEP_SECONDS * steps, _STEP_MEGABYTES * steps)

    def _true_pairs(self, solution: PairSolution) -> ComponentSolution:
        """Return the solution for the true pairs from that for all pairs."""
        mapping = self.component.mapping
        own = solution.pick(self.component.own_rows, np.maximum(mapping, 0))
        marginals = np.where(mapping == NOWHERE, 0.0, own)
        psi_error = 3 * solution.error * float(marginals.sum())
        return ComponentSolution(solution.log_permanent, marginals, solution.error, psi_error)

    def _flat_error(self) -> tuple[float, float]:
        """Return the log of the factors of a flat component, and a bound on their error."""
        if self.flat is None:
            return 0.0, 0.0
        logs = np.abs(self.flat.log_rows).sum() + np.abs(self.flat.log_columns).sum()
        error = self.component.size * self.flat.residual + 4 * ROUNDOFF * float(logs + 1)
        return self.flat.log_factor, error

    def _by_glynn(self, threads: int) -> ComponentSolution:
        """Return the solution by Glynn's formula."""
        scaled, size = self.scaled, self.component.size
        feasible = self.component.mapping != NOWHERE
        own = np.where(feasible, self.component.mapping, 0)
        # true pairs go on the diagonal; rows without one take the columns that are left
        own[~feasible] = np.setdiff1d(np.arange(size), own[feasible])
        sums = glynn(np.ascontiguousarray(scaled.component.dense[:, own]), threads=threads)
        factors = float(np.abs(scaled.log_rows).sum() + np.abs(scaled.log_columns).sum())
        entries = size * 4 * (2 + scaled.sweeps / 20) * ROUNDOFF  # each entry was multiplied often
        error = sums.error + entries + (4 + scaled.sweeps / 10) * ROUNDOFF * factors
        psi_error = float(sums.own_errors.sum()) + int(feasible.sum()) * (sums.error + entries)
        log_permanent = math.log(sums.permanent) - scaled.log_factor
        return ComponentSolution(
            log_permanent, np.where(feasible, sums.marginals, 0.0), error, psi_error
        )

    def _by_sweep(self) -> PairSolution:
        """Return the solution by the planned sweep."""
        assert self.plan is not None
        swept, kinds = sweep(self.plan), self.plan.kinds
        shares = swept.pairs / (kinds.row_counts[:, None] * kinds.column_counts)
        lines = kinds.row_kinds, kinds.column_kinds
        if self.plan.swapped:
            shares, lines = shares.T, lines[::-1]
        flat, uneven = self._flat_error()
        log_factor = flat - self.powers[1]
        error = swept.error + uneven + 2 * ROUNDOFF * (abs(log_factor) + abs(swept.log_permanent))
        return PairSolution(shares, *lines, swept.log_permanent + log_factor, error)


def _by_subsets(matrix: Floats) -> tuple[Floats, float]:
    """Return the probability of each pair and the permanent."""
    from shoal.risk.matchings._permanents import empty, fill

    matrix = np.array(matrix, order="C")  # of one type for the kernels
    ways, shares = np.empty(1 << len(matrix)), np.zeros(matrix.shape)
    fill(matrix, ways)
    permanent = float(ways[-1])
    empty(matrix, ways, shares)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True)), permanent


def _mixed(matrix: Floats) -> bool:
    """Return whether the rows of the first column show that every order has too many states."""
    rows = np.flatnonzero(matrix[:, 0])[: 4 * MAX_STATE_BITS]
    return len({matrix[row].tobytes() for row in rows}) > MAX_STATE_BITS


_MIN_ROWS = 6  # the kernel has a fixed sign and five lane columns; smaller matrices are padded
_REPORTED_CHUNKS = 64  # chunks between two reports of progress
_MAX_ADDENDS = 1200  # numbers that are added one after the other


class Sums(NamedTuple):
    """The results of Glynn's formula.

    Parameters:
        permanent: The permanent of the given matrix.
        marginals: (size,) the probability of each pair (i, i).
        error: Bound on the relative error of the permanent, and on the absolute error that the
            rounding of the matrix adds to a marginal.
        own_errors: (size,) bounds on the errors that products and sums add to each marginal.
    """

    permanent: float
    marginals: Floats
    error: float
    own_errors: Floats


def glynn(matrix: Floats, *, threads: int = 1) -> Sums:
    """Return the permanent and the probability of each pair (i, i).

    Parameters:
        matrix: (size, size) weights with rows and columns that sum to about 1.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: The permanent is too small for floating point.
    """
    size = len(matrix)
    columns = max(size, _MIN_ROWS)
    # rows and columns of the identity fill up small matrices: the permanent stays the same
    largest = float(matrix.sum(axis=1).max())
    padded = np.eye(columns)
    padded[:size, :size] = matrix / largest
    rounded = np.rint(padded * 2.0**52) * 2.0**-52
    totals = _totals(rounded, threads)
    if not totals[0] > 0:
        raise InputError("the permanent is too small for floating point; scale the matrix first")
    total, without, bounds = totals[0], totals[1 : 1 + columns], totals[1 + columns :]
    by_row = np.repeat(bounds, 4)[:columns]  # at least the absolute products without that row
    moved = np.abs(rounded - padded).sum(axis=1)
    rounding = weighted_sum(moved, by_row) / total
    lost = (columns + _MAX_ADDENDS) * ROUNDOFF / total  # of absolute products
    own = np.diagonal(padded)
    marginals = np.clip(own * without / total, 0.0, 1.0)
    summed = lost * bounds.sum() / (2 * len(bounds))  # each is at least that of whole products
    return Sums(
        permanent=float(total * 2.0 ** (1 - columns)) * largest**size,
        marginals=marginals[:size],
        error=float(rounding + summed + 4 * size * ROUNDOFF),
        own_errors=(own * lost * by_row + marginals * summed)[:size],
    )


def _totals(matrix: Floats, threads: int) -> Floats:
    """(1 + columns + groups,) the sums over all signs, in the layout of the kernel."""
    from shoal.risk.matchings import _permanents as kernels

    columns, groups = len(matrix), -(-len(matrix) // 4)
    lane_signs = np.ones((1 + kernels.LANE_COLUMNS, kernels.LANES))
    for column in range(1, 1 + kernels.LANE_COLUMNS):
        lane_signs[column] -= 2 * (np.arange(kernels.LANES) >> (column - 1) & 1)
        lane_signs[0] *= lane_signs[column]
    offsets = np.zeros((4 * groups, kernels.LANES))
    offsets[:columns] = (matrix[:, 1:_MIN_ROWS, None] * lane_signs[1:]).sum(axis=1)
    chunks = 1 << max(columns - _MIN_ROWS - kernels.STEPS, 0)
    sums = np.empty((chunks, 1 + columns + groups))

    def add(first: int) -> None:
        work = np.empty((groups + 2) * kernels.GROUP)
        scratch = work, np.empty(4 * groups), np.empty(columns)
        last = min(first + _REPORTED_CHUNKS, chunks)
        by_group = offsets.reshape(groups, 4, kernels.LANES)
        kernels.sum_chunks(first, last, matrix, by_group, *scratch, lane_signs, sums)

    begins = range(0, chunks, _REPORTED_CHUNKS)
    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(add, begins)):
            report("matchings", done, len(begins))
    return np.asarray(np.ascontiguousarray(sums.T).sum(axis=1))
