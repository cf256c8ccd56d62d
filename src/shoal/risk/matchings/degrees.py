"""Anonymity that remains after an attack: Edman's degree, crack probabilities, Malik's H.

H sums the entries of the true pairs as if people chose records independently of each other. It can
be wrong by half on matrices near a permutation. NMAPE, its mean error over all mappings, hides
this; use the error at the true mapping.
Edman, Sivrikaya & Yener, "A combinatorial approach to measuring anonymity", 2007; Malik,
"Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any, Literal

import numpy as np

from shoal.risk.matchings.structure import Edges, check_mapping, check_matrix, split
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice, check_whole

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
    from shoal.risk.matchings.exact import exact

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
    from shoal.risk.matchings.belief import believe, log_bethe

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
        from shoal.risk.matchings.exact import all_marginals

        return all_marginals(structure)
    from shoal.risk.matchings.belief import believe
    from shoal.risk.matchings.sinkhorn import sinkhorn

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
