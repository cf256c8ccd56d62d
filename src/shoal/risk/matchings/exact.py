"""Exact values of an attack: permanent, Ψ, pairs, number of matchings, degree, and H.

    split → Solver of each component → cheapest route (`solver.py`) → sums over components

    exact                 the permanent, Ψ and the true pairs, with bounds on their rounding errors
    count_matchings       feasible matchings as an integer: by a sweep if few counts stay open,
                          otherwise by Ryser's formula modulo 2⁶⁴, the higher digits by Glynn's
    degree_of_anonymity   log(feasible matchings) / log(n!)
    crack_probabilities   the probability of every pair, exactly or by belief propagation
    heuristic, nmape      H, the sum of the entries of the true pairs as if people chose
                          independently

H can be wrong by half on matrices near a permutation; NMAPE, its mean error over all mappings,
hides this: use the error at the true mapping. Malik, "Disclosure risk measurement of anonymized
datasets after probabilistic attacks", 2014; Ryser, "Combinatorial Mathematics", 1963; Edman,
Sivrikaya & Yener, "A combinatorial approach to measuring anonymity", 2007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.profile import count
from shoal.risk.matchings.solver import Cost, Solver
from shoal.risk.matchings.structure import (
    ROUNDOFF,
    Component,
    Edges,
    Structure,
    check_mapping,
    check_matrix,
    split,
)
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice, check_whole
from shoal.support.progress import report

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
        psi_error=math.fsum(each.psi_error for each in solutions) + ROUNDOFF * structure.size,
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


_MAX_RYSER_ROWS = 34  # rows for which Ryser's formula is used
_REPORTED_SUBSETS = 1 << 14  # subsets between two reports of progress


def count_matchings(matrix: Any, *, threads: int = 1) -> int:
    """Return the number of perfect matchings of the positive entries.

    Parameters:
        matrix: (n, n) weights, of which only the zeros matter, or a `Structure`.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: A component is too large to count.
    """
    check_whole("threads", threads, 1)
    structure = matrix if isinstance(matrix, Structure) else split(matrix)
    return math.prod(_count(component, threads) for component in structure.components)


def _count(component: Component, threads: int) -> int:
    if component.size == 1:
        return 1
    solver = Solver(component.unweighted)
    if solver.small is not None:
        return round(math.exp(solver.small.log_permanent))
    if solver.plan is not None and (
        solver.cost().route == "sweep" or component.size > _MAX_RYSER_ROWS
    ):
        return count(solver.plan)
    if component.size > _MAX_RYSER_ROWS:
        raise InputError(
            f"{component.size} rows form one component that is too large to count its matchings; "
            "estimate their logarithm"
        )
    low, solution = _ryser(component, threads), solver.solve(threads)
    estimate, modulus = Fraction(math.exp(solution.log_permanent)), 1 << 64
    if (solution.error + 1e-13) * estimate > modulus / 4:
        raise InputError(
            f"{component.size} rows have too many matchings for an integer; compute the logarithm "
            "of the permanent"
        )
    # exact modulo 2⁶⁴, and the estimate is off by less than 2⁶⁴ / 4: one integer fits both
    high = round((estimate - low) / modulus)
    return int(high * modulus + low)


def _ryser(component: Component, threads: int) -> int:
    """Return the number of matchings modulo 2⁶⁴; there must be more rows than LANE_COLUMNS."""
    from shoal.risk.matchings import _permanents as kernels

    size = component.size
    rows = -(-size // 4) * 4
    matrix = np.zeros((rows, size), dtype=np.uint64)
    matrix[:size] = component.dense > 0
    # lane l takes the first columns whose bits are set in l
    lanes = np.arange(kernels.LANES)[:, None] >> np.arange(kernels.LANE_COLUMNS) & 1
    inside = matrix[:, None, : kernels.LANE_COLUMNS] * lanes.astype(np.uint64)
    offsets = np.ascontiguousarray(inside.sum(axis=2, dtype=np.uint64)).ravel()
    subsets = 1 << (size - kernels.LANE_COLUMNS)

    def add(first: int) -> int:
        room = np.empty(rows, dtype=np.uint64), np.empty(2 * kernels.LANES, dtype=np.uint64)
        last = min(first + _REPORTED_SUBSETS, subsets)
        return int(kernels.sum_subsets(first, last, matrix, offsets, *room))

    begins, total = range(0, subsets, _REPORTED_SUBSETS), 0
    with ThreadPoolExecutor(threads) as pool:
        for done, part in enumerate(pool.map(add, begins)):
            report("matchings", done, len(begins))
            total += part
    return (-total if size % 2 else total) % (1 << 64)


_MESSAGE_ERROR = 1e-6  # error of the logarithm for each row, because messages agree only roughly
_MAX_ENUMERATED_ROWS = 8  # rows for which NMAPE averages over every mapping


def degree_of_anonymity(matrix: Any, *, threads: int = 1) -> float:
    """Return log(possible matchings) / log(n!), from 0 (everyone is found) to 1 (nothing is known).

    Parameters:
        matrix: (n, n) weights, of which only the zeros matter.
        threads: Number of threads; the result does not depend on it.

    Returns:
        The degree of anonymity.

    Raises:
        InputError: The matrix is not valid, or a component is too large to solve exactly; then use
            `degree_bounds`.

    >>> round(degree_of_anonymity([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), 4)
    0.3869
    """
    structure = split(matrix)
    if structure.size == 1:
        return 0.0
    solution = exact(structure.unweighted, threads=threads)
    return min(max(solution.log_permanent / math.lgamma(structure.size + 1), 0.0), 1.0)


def degree_bounds(matrix: Any) -> tuple[float, float]:
    """Return a lower and an upper bound on the degree of anonymity (Anari & Rezaei 2018).

    Parameters:
        matrix: (n, n) weights, of which only the zeros matter.

    Returns:
        The lower and the upper bound.

    Raises:
        InputError: The matrix is not valid.
        NotConverged: Belief propagation did not converge.

    >>> low, high = degree_bounds([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    >>> round(low, 2), round(high, 2)
    (0.48, 1.0)
    """
    from shoal.risk.matchings.sinkhorn import believe, log_bethe

    structure = split(matrix)
    if structure.size == 1:
        return 0.0, 0.0
    low, mixed = 0.0, 0
    for component in structure.components:
        if component.size > 1:
            even = component.unweighted
            low += log_bethe(even.edges.weights, believe(even).marginals)
            mixed += component.size
    low -= mixed * _MESSAGE_ERROR
    log_all = math.lgamma(structure.size + 1)
    high = low + mixed * (math.log(2) / 2 + 2 * _MESSAGE_ERROR)
    return max(low / log_all, 0.0), min(high / log_all, 1.0)


def crack_probabilities(matrix: Any, method: Literal["exact", "fast"] = "exact") -> Floats:
    """Return the probability of each pair of a row and a column.

    Parameters:
        matrix: (n, n) weights.
        method: "exact", or "fast": belief propagation, without a guarantee.

    Returns:
        (n, n) probabilities; each row and each column sums to 1.

    Raises:
        InputError: The matrix is not valid, or a component is too large to solve exactly.
        NotConverged: Belief propagation did not converge.

    >>> crack_probabilities([[3, 1], [1, 1]])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    check_choice("method", method, ("exact", "fast"))
    structure = split(matrix)
    if method == "exact":
        return all_marginals(structure)
    from shoal.risk.matchings.sinkhorn import believe, sinkhorn

    probabilities = np.zeros((structure.size, structure.size))
    for component in structure.components:
        pairs = np.ones((1, 1))
        if component.size > 1:
            scaled = sinkhorn(component, tolerance=1e-4, sweeps=200).component
            chances = believe(scaled).marginals
            if component.full and not isinstance(component.stored, Edges):
                pairs = chances.reshape(component.size, -1)
            else:
                pairs = scaled.with_weights(chances).dense
        probabilities[np.ix_(component.rows, component.columns)] = pairs
    return frozen(probabilities)


def heuristic(matrix: Any, mapping: Sequence[int] | Counts | None = None) -> float:
    """Return Malik's H: the sum of the probabilities of the true pairs.

    Parameters:
        matrix: (n, n) probabilities; rows and columns must sum to 1.
        mapping: (n,) the column of each row's true record, by default its own number.

    Returns:
        H, an approximation of Ψ.

    Raises:
        InputError: The matrix or the mapping is not valid.

    >>> heuristic([[0.75, 0.25], [0.25, 0.75]])
    1.5
    """
    stored = check_matrix(matrix, sums="both")
    true = check_mapping(mapping, stored.shape[0])
    if not isinstance(stored, np.ndarray):
        stored = stored.toarray()
    return float(stored[np.arange(len(true)), true].sum())


def nmape(matrix: Any, *, mappings: int = 10_000, seed: int | None = None) -> float:
    """Return the mean of |H − Ψ| / n over all mappings, from 0 (best) to 1.

    Parameters:
        matrix: (n, n) probabilities; rows and columns must sum to 1.
        mappings: Number of mappings to draw if there are more than 8 rows.
        seed: Seed of drawn mappings.

    Returns:
        The mean error of H.

    Raises:
        InputError: The matrix is not valid, or a component is too large to solve exactly.

    >>> round(nmape([[0.75, 0.25], [0.25, 0.75]]), 4)
    0.15
    """
    check_whole("mappings", mappings, 1)
    stored = check_matrix(matrix, sums="both")
    off = (stored if isinstance(stored, np.ndarray) else stored.toarray()) - crack_probabilities(
        stored
    )
    size = len(off)
    if size <= _MAX_ENUMERATED_ROWS:
        tried = np.array(list(permutations(range(size))))
    else:
        draw = np.random.default_rng(seed)
        tried = draw.permuted(np.tile(np.arange(size), (mappings, 1)), axis=1)
    return float(np.abs(off[np.arange(size), tried].sum(axis=1)).mean() / size)
