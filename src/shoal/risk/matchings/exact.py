"""Exact values: the permanent, the expected cracks Ψ, and the probability of each true pair.

Each component is solved by the cheapest route: a sweep over its columns if few counts stay open, or
Glynn's formula, up to about thirty rows without structure. Rounding errors are bounded and
reported.
Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014, for
Ψ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.solver import Cost, Solver
from shoal.risk.matchings.structure import Structure, split
from shoal.support.arrays import Floats, frozen
from shoal.support.options import check_whole

_UNIT = 2.0**-53
_MAX_SECONDS = 3600.0  # cost of one component


class Route(NamedTuple):
    """How a component was solved: its rows, and "single", "sweep", "glynn" or "subsets"."""

    size: int
    route: str


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact values of an attack.

    Parameters:
        log_permanent: Natural logarithm of the sum of the weights of all perfect matchings.
        psi: Expected number of rows matched with their true record.
        marginals: (rows,) the probability that each row is.
        error: Bound on the relative error of the permanent.
        psi_error: Bound on the absolute error of psi, and of each marginal.
        routes: How each component was solved.
    """

    log_permanent: float
    psi: float
    marginals: Floats = field(repr=False)
    error: float
    psi_error: float
    routes: tuple[Route, ...] = field(repr=False)

    @property
    def permanent(self) -> float:
        """The sum of the weights of all perfect matchings, infinite if it is too large."""
        return math.exp(self.log_permanent) if self.log_permanent < 709 else math.inf


def exact(matrix: Any, mapping: Any = None, *, threads: int = 1) -> Exact:
    """Return the exact values of an attack.

    Parameters:
        matrix: (n, n) weights, or a `Structure`, which has its mapping.
        mapping: (n,) the column of each row's true record, by default its own number.
        threads: Number of threads; the result does not depend on it.

    Returns:
        The permanent, Ψ and the probability of each true pair, with bounds on their errors.

    Raises:
        InputError: A component is too large to solve exactly.
    """
    check_whole("threads", threads, 1)
    structure = matrix if isinstance(matrix, Structure) else split(matrix, mapping)
    marginals, solutions, routes = np.zeros(structure.size), [], []
    for solver in _solvers(structure, every=False):
        solution = solver.solve(threads)
        marginals[solver.component.rows] = solution.marginals
        solutions.append(solution)
        routes.append(Route(solver.component.size, solver.cost().route))
    return Exact(
        log_permanent=math.fsum(each.log_permanent for each in solutions),
        psi=math.fsum(marginals),
        marginals=frozen(marginals),
        error=math.fsum(each.error for each in solutions),
        psi_error=math.fsum(each.psi_error for each in solutions) + _UNIT * structure.size,
        routes=tuple(routes),
    )


def all_marginals(matrix: Any) -> Floats:
    """Return the probability of each pair; each row and each column sums to 1.

    Parameters:
        matrix: (n, n) weights, or a `Structure`.

    Returns:
        (n, n) probabilities.

    Raises:
        InputError: A component is too large to solve exactly.
    """
    structure = matrix if isinstance(matrix, Structure) else split(matrix)
    probabilities = np.zeros((structure.size, structure.size))
    for solver in _solvers(structure, every=True):
        component = solver.component
        probabilities[np.ix_(component.rows, component.columns)] = solver.solve_every()
    return frozen(probabilities)


def exact_cost(matrix: Any, *, every: bool = False) -> Cost:
    """Return the approximate cost of `exact` on one core, or with `every` that of `all_marginals`.

    Parameters:
        matrix: (n, n) weights, or a `Structure`.
        every: Whether all pairs are wanted instead of the true ones.

    Returns:
        The cost, with the route of the most expensive component; infinite seconds if there is no
        route.
    """
    structure = matrix if isinstance(matrix, Structure) else split(matrix)
    costs = [Solver(component).cost(every=every) for component in structure.components]
    costliest = max(costs, key=lambda cost: cost.seconds)
    megabytes = max(cost.megabytes for cost in costs)
    return Cost(costliest.route, sum(cost.seconds for cost in costs), megabytes)


def _solvers(structure: Structure, *, every: bool) -> list[Solver]:
    """Return the solver of each component; refuse components that take too long."""
    solvers = [Solver(component) for component in structure.components]
    for solver in solvers:
        if solver.cost(every=every).seconds > _MAX_SECONDS:
            raise InputError(
                f"{solver.component.size} rows form one component that is too large to solve "
                "exactly; use an estimate"
            )
    return solvers
