"""Ways to solve one component of an attack exactly, what each costs, and what it loses."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.risk.matchings.collapse import Kinds, collapse
from shoal.risk.matchings.glynn import glynn
from shoal.risk.matchings.profile import MOST_BITS, Plan, plan, sweep
from shoal.risk.matchings.sinkhorn import Flat, Scaled, flatten, sinkhorn
from shoal.risk.matchings.structure import NOWHERE, Component, Edges
from shoal.support.arrays import Floats

_UNIT = 2.0**-53
_EDGES = 5_000_000  # entries up to which a sweep is looked for
_GLYNN = 40  # rows up to which Glynn's formula is looked at,
_SUBSETS = 26  # and sets of columns
_SMALL = 8  # rows up to which nothing else is tried
_TINY = 1e-250  # a permanent below may have lost digits
_PATIENCE = 0.01  # seconds that a sweep may take longer than Glynn's formula, which cancels
_SWEEPS = 300  # of scaling, which need not have converged


class Cost(NamedTuple):
    """About what a way takes: "single", "sweep", "glynn" or "subsets", or "none" at all."""

    route: str
    seconds: float
    megabytes: float


class Part(NamedTuple):
    """The values of a component; marginals: (size,) of its true pairs."""

    log_permanent: float
    marginals: Floats
    error: float
    psi_error: float


class Solved(NamedTuple):
    """The values of a component with all pairs: (size, size), relative errors throughout."""

    pairs: Floats
    log_permanent: float
    error: float


class Way:
    """A component with what is known of the ways to solve it."""

    def __init__(self, component: Component) -> None:
        self.component = component

    @cached_property
    def flat(self) -> Flat | None:
        """The factors of a flat component."""
        return flatten(self.component)

    @cached_property
    def even(self) -> Component:
        """The component, with ones where it is flat."""
        if self.flat is None:
            return self.component
        return self.component.with_weights(np.ones(len(self.component.edges.indices)))

    @cached_property
    def scaled(self) -> Scaled:
        """The component with rows and columns that sum to 1 or nearly so."""
        return sinkhorn(self.even, sweeps=_SWEEPS)

    @cached_property
    def powers(self) -> tuple[Kinds, float]:
        """The kinds, scaled by powers of two, which rounds nothing, and the log of them all."""
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
    def plan(self) -> Plan | None:
        """The sweep to take, None where too many counts would stay open."""
        if self.component.share * self.component.size**2 > _EDGES:
            return None
        uneven = isinstance(self.component.stored, np.ndarray) and self.flat is None
        if uneven and _mixed(self.component.dense) and _mixed(self.component.dense.T):
            return None
        planned = plan(self.powers[0])
        return planned if math.isfinite(planned.steps) else None

    @cached_property
    def small(self) -> Solved | None:
        """The values of a few rows, by all sets of columns; None where they leave their range."""
        if self.component.size > _SMALL:
            return None
        matrix = self.component.dense
        rows = np.frexp(matrix.max(axis=1))[1]
        matrix = np.ldexp(matrix, -rows[:, None])
        columns = np.frexp(matrix.max(axis=0))[1]
        pairs, permanent = _by_subsets(np.ldexp(matrix, -columns))
        if permanent < _TINY:
            return None
        log_permanent = math.log(permanent) + math.log(2) * int(rows.sum() + columns.sum())
        rounded = 2 * len(matrix) * (len(matrix) + 2) + 2.0 ** len(matrix)
        return Solved(pairs, log_permanent, _UNIT * (rounded + 4 * abs(log_permanent) + 4))

    def cost(self, *, every: bool = False) -> Cost:
        """Return the cheapest way to the true pairs, or to `every` pair."""
        size = self.component.size
        if size == 1:
            return Cost("single", 0.0, 0.0)
        if self.small is not None:
            return Cost("subsets", 0.0, 0.0)
        ways = [Cost("none", math.inf, 0.0)]
        if every and size <= _SUBSETS:
            ways.append(Cost("subsets", 2.5e-9 * size * 2.0**size, 8e-6 * 2.0**size))
        elif not every and size <= _GLYNN:
            ways.append(Cost("glynn", 1.5e-10 * (size + 3) * 2.0**size, 1.0))
        if self.plan is not None:
            steps = self.plan.steps
            ways.append(Cost("sweep", 2e-5 * size + 3e-8 * steps, 16e-6 * steps))
        return min(ways, key=lambda way: way.seconds + (way.route == "glynn") * _PATIENCE)

    def solve(self, threads: int = 1) -> Part:
        """Return the values of the true pairs."""
        component, route = self.component, self.cost().route
        feasible = component.mapping != NOWHERE
        if route == "single":
            weight = float(component.dense[0, 0])
            error = _UNIT * (abs(math.log(weight)) + 1)
            return Part(math.log(weight), feasible.astype(np.float64), error, 0.0)
        if route != "glynn":
            return self._true_pairs(self.small or self._by_sweep())
        part = self._by_glynn(threads)
        flat, uneven = self._flat_error()
        psi_error = part.psi_error + int(feasible.sum()) * uneven
        return Part(part.log_permanent + flat, part.marginals, part.error + uneven, psi_error)

    def solve_every(self) -> Floats:
        """(size, size) the probability of each pair."""
        route = self.cost(every=True).route
        if route == "single":
            return np.ones((1, 1))
        if self.small is not None:
            return self.small.pairs
        if route == "sweep":
            return self._by_sweep().pairs
        return _by_subsets(self.scaled.component.dense)[0]

    def _true_pairs(self, solved: Solved) -> Part:
        mapping = self.component.mapping
        own = solved.pairs[np.arange(len(mapping)), np.maximum(mapping, 0)]
        marginals = np.where(mapping == NOWHERE, 0.0, own)
        psi_error = 3 * solved.error * float(marginals.sum())
        return Part(solved.log_permanent, marginals, solved.error, psi_error)

    def _flat_error(self) -> tuple[float, float]:
        """Return the logarithm that ones in a flat component lack, and what they make up."""
        if self.flat is None:
            return 0.0, 0.0
        logs = np.abs(self.flat.log_rows).sum() + np.abs(self.flat.log_columns).sum()
        error = self.component.size * self.flat.residual + 4 * _UNIT * float(logs + 1)
        return self.flat.log_factor, error

    def _by_glynn(self, threads: int) -> Part:
        scaled, size = self.scaled, self.component.size
        feasible = self.component.mapping != NOWHERE
        own = np.where(feasible, self.component.mapping, 0)
        own[~feasible] = np.setdiff1d(np.arange(size), own[feasible])
        sums = glynn(np.ascontiguousarray(scaled.component.dense[:, own]), threads=threads)
        factors = float(np.abs(scaled.log_rows).sum() + np.abs(scaled.log_columns).sum())
        entries = size * 4 * (2 + scaled.sweeps / 20) * _UNIT  # each entry was multiplied often
        error = sums.error + entries + (4 + scaled.sweeps / 10) * _UNIT * factors
        psi_error = float(sums.own_errors.sum()) + int(feasible.sum()) * (sums.error + entries)
        log_permanent = math.log(sums.permanent) - scaled.log_factor
        return Part(log_permanent, np.where(feasible, sums.marginals, 0.0), error, psi_error)

    def _by_sweep(self) -> Solved:
        assert self.plan is not None
        swept, kinds = sweep(self.plan), self.plan.kinds
        each = swept.pairs / (kinds.row_counts[:, None] * kinds.column_counts)
        pairs = each[np.ix_(kinds.row_kinds, kinds.column_kinds)]
        flat, uneven = self._flat_error()
        log_factor = flat - self.powers[1]
        error = swept.error + uneven + 2 * _UNIT * (abs(log_factor) + abs(swept.log_permanent))
        pairs = pairs.T if self.plan.swapped else pairs
        return Solved(pairs, swept.log_permanent + log_factor, error)


def _by_subsets(matrix: Floats) -> tuple[Floats, float]:
    """Return the probability of each pair and the permanent."""
    from shoal.risk.matchings._subsets import empty, fill

    ways, shares = np.empty(1 << len(matrix)), np.zeros(matrix.shape)
    fill(matrix, ways)
    permanent = float(ways[-1])
    empty(matrix, ways, shares)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True)), permanent


def _mixed(matrix: Floats) -> bool:
    """Return whether the rows of the first column show that no order keeps few counts open."""
    rows = np.flatnonzero(matrix[:, 0])[: 4 * MOST_BITS]
    return len({matrix[row].tobytes() for row in rows}) > MOST_BITS
