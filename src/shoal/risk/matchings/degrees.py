"""What is left of anonymity after an attack: Edman's degree, all crack probabilities, Malik's H.

H sums the entries of the true pairs as if people chose records apart from each other. It can be far
off: on matrices near a permutation by half. NMAPE, its mean error over all mappings, hides that;
look at the error at the true one.
Edman, Sivrikaya & Yener, "A combinatorial approach to measuring anonymity", 2007; Malik,
"Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any, Literal

import numpy as np

from shoal.privacy.model import check_whole
from shoal.risk.matchings.structure import Edges, check_mapping, check_matrix, split
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice

_AGREED = 1e-6  # what messages may be apart, a row
_ALL = 8  # rows up to which NMAPE goes through every mapping


def degree_of_anonymity(matrix: Any, *, threads: int = 1) -> float:
    """Return log(possible matchings) / log(n!), from 0 (all are found) to 1 (nothing is known).

    Only the zeros of the matrix count. Exact; refuses what is too large for that, for which
    `degree_bounds` are quick.
    """
    from shoal.risk.matchings.exact import exact

    structure = split(matrix)
    if structure.size == 1:
        return 0.0
    solution = exact(structure.unweighted, threads=threads)
    return min(max(solution.log_permanent / math.lgamma(structure.size + 1), 0.0), 1.0)


def degree_bounds(matrix: Any) -> tuple[float, float]:
    """Return bounds of the degree of anonymity, by belief propagation (Anari & Rezaei 2018)."""
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
    low -= mixed * _AGREED
    most = math.lgamma(structure.size + 1)
    return max(low / most, 0.0), min((low + mixed * (math.log(2) / 2 + 2 * _AGREED)) / most, 1.0)


def crack_probabilities(matrix: Any, method: Literal["exact", "fast"] = "exact") -> Floats:
    """Return, for each row and column, the chance that they belong together: (n, n), sums of 1.

    method: "exact", or "fast": belief propagation, without guarantee.
    """
    check_choice("method", method, ("exact", "fast"))
    structure = split(matrix)
    if method == "exact":
        from shoal.risk.matchings.exact import all_marginals

        return all_marginals(structure)
    from shoal.risk.matchings.belief import believe
    from shoal.risk.matchings.sinkhorn import sinkhorn

    found = np.zeros((structure.size, structure.size))
    for component in structure.components:
        pairs = np.ones((1, 1))
        if component.size > 1:
            scaled = sinkhorn(component, tolerance=1e-4, sweeps=200).component
            chances = believe(scaled).marginals
            if component.full and not isinstance(component.stored, Edges):
                pairs = chances.reshape(component.size, -1)
            else:
                pairs = scaled.with_weights(chances).dense
        found[np.ix_(component.rows, component.columns)] = pairs
    return frozen(found)


def heuristic(matrix: Any, mapping: Sequence[int] | Counts | None = None) -> float:
    """Return Malik's H: the sum of the true pairs' probabilities.

    matrix: (n, n) probabilities; rows and columns must sum to 1.
    mapping: (n,) the column of each row's true record, by default its own number.
    """
    stored = check_matrix(matrix, sums="both")
    true = check_mapping(mapping, stored.shape[0])
    if not isinstance(stored, np.ndarray):
        stored = stored.toarray()
    return float(stored[np.arange(len(true)), true].sum())


def nmape(matrix: Any, *, mappings: int = 10_000, seed: int | None = None) -> float:
    """Return the mean of |H − Ψ| / n over all mappings, 0 at best, 1 at worst.

    matrix: (n, n) probabilities; rows and columns must sum to 1.
    mappings: how many to draw, where there are more than 8 rows.
    """
    check_whole("mappings", mappings, 1)
    stored = check_matrix(matrix, sums="both")
    off = (stored if isinstance(stored, np.ndarray) else stored.toarray()) - crack_probabilities(
        stored
    )
    size = len(off)
    if size <= _ALL:
        tried = np.array(list(permutations(range(size))))
    else:
        draw = np.random.default_rng(seed)
        tried = draw.permuted(np.tile(np.arange(size), (mappings, 1)), axis=1)
    return float(np.abs(off[np.arange(size), tried].sum(axis=1)).mean() / size)
