"""Small attacks in full: all 5 × 5 graphs, all true mappings, and many random matrices.

All matchings are enumerated, so every figure is exact up to rounding.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np

from shoal.support.arrays import Counts, Floats
from studies.runs import Row

# Malik's Figure 3.4(b) in hundredths, rows Flu, Viral Fever, Cold, Asthma, Tuberculosis; the last
# row has .05 in print for y, with which that row and column sum to 1.03
Q = (
    np.array(
        [
            [0, 0, 57, 40, 3],
            [0, 0, 30, 23, 47],
            [34, 29, 3, 30, 4],
            [29, 52, 8, 5, 6],
            [37, 19, 2, 2, 40],
        ]
    )
    / 100
)
TRUE = (2, 3, 4, 0, 1)  # x, y, z, u, v
FAMILIES = ("even entries", "uneven entries", "mixed matchings")
_BATCH = 4_000_000  # numbers at a time


@cache
def all_matchings(size: int) -> Counts:
    """Return (matchings, size) the column of each row."""
    return np.array(list(permutations(range(size))))


def all_graphs(size: int) -> Row:
    """Return permanent, expected cracks and number of the graphs that contain a given matching.

    A graph is a set of the other pairs, as bits; a matching lies in it if its pairs do.
    """
    bits: dict[tuple[int, int], int] = {}
    for row in range(size):
        for column in range(size):
            if row != column:
                bits[row, column] = len(bits)
    graphs = np.arange(1 << len(bits), dtype=np.int64)
    permanents, cracks = np.zeros((2, len(graphs)), dtype=np.int64)
    for matching in all_matchings(size).tolist():
        pairs = [pair for pair in enumerate(matching) if pair in bits]
        needed = sum(1 << bits[pair] for pair in pairs)
        inside = (graphs & needed) == needed
        permanents += inside
        cracks += inside * (size - len(pairs))
    places, numbers = np.unique(permanents * 1_000_000 + cracks, return_counts=True)
    permanent = places // 1_000_000
    return {
        "graphs": len(graphs),
        "permanent": permanent.tolist(),
        "cracks": (places % 1_000_000 / permanent).tolist(),
        "number": numbers.tolist(),
    }


def all_mappings(matrix: Floats) -> Row:
    """Return Ψ and H for every true mapping, by Ψ, and NMAPE over them."""
    chosen = all_matchings(len(matrix))
    rows = np.arange(len(matrix))
    marginals, permanent = enumerate_matchings(matrix[None])
    psi = marginals[0][rows, chosen].sum(axis=1)
    heuristic = matrix[rows, chosen].sum(axis=1)
    order = np.argsort(psi, kind="stable")
    return {
        "permanent": float(permanent[0]),
        "psi": psi[order].tolist(),
        "heuristic": heuristic[order].tolist(),
        "nmape": float(np.abs(heuristic - psi).mean() / len(matrix)),
    }


def true_pairs(matrix: Floats, mapping: tuple[int, ...]) -> tuple[float, float]:
    """Return Ψ and H at one true mapping."""
    rows = np.arange(len(matrix))
    marginals, _ = enumerate_matchings(matrix[None])
    return float(marginals[0][rows, mapping].sum()), float(matrix[rows, mapping].sum())


def enumerate_matchings(matrices: Floats) -> tuple[Floats, Floats]:
    """(matrices, size, size) the probability of each pair, and (matrices,) the permanents."""
    size = matrices.shape[1]
    chosen, rows = all_matchings(size), np.arange(size)
    marginals, permanents = np.zeros_like(matrices), np.empty(len(matrices))
    step = max(_BATCH // chosen.size, 1)
    for begin in range(0, len(matrices), step):
        some = slice(begin, begin + step)
        weights = matrices[some][:, rows, chosen].prod(axis=2)  # (some, matchings)
        permanents[some] = weights.sum(axis=1)
        shares = weights / permanents[some, None]
        for row in range(size):
            for column in range(size):
                has = chosen[:, row] == column
                marginals[some, row, column] = shares[:, has].sum(axis=1)
    return marginals, permanents


def random_matrices(family: str, size: int, draws: int, seed: int) -> Floats:
    """(draws, size, size) doubly stochastic matrices, drawn in one of three ways.

    The thesis does not state how it drew its matrices; these range from the flat matrix to
    permutations.
    """
    rng = np.random.default_rng([seed, size, FAMILIES.index(family)])
    if family == "mixed matchings":
        chosen = rng.permuted(np.tile(np.arange(size), (draws, size, 1)), axis=2)
        shares = rng.dirichlet(np.ones(size), draws) ** rng.uniform(0.5, 3, (draws, 1))
        shares /= shares.sum(axis=1, keepdims=True)
        matrices = np.zeros((draws, size, size))
        for part in range(size):
            at = (np.arange(draws)[:, None], np.arange(size), chosen[:, part])
            matrices[at] += shares[:, part, None]
        return matrices
    if family == "even entries":
        return _balanced(rng.random((draws, size, size)))
    spread = rng.uniform(0, 5, (draws, 1, 1))
    return _balanced(np.exp(spread * rng.normal(size=(draws, size, size))))


def _balanced(matrices: Floats) -> Floats:
    """Scale rows and columns in turn; matrices that do not converge are left out."""
    for _ in range(400):
        matrices = matrices / matrices.sum(axis=1, keepdims=True)
        matrices = matrices / matrices.sum(axis=2, keepdims=True)
    off = np.abs(matrices.sum(axis=1) - 1).max(axis=1)
    return np.asarray(matrices[off < 1e-9])


def mean_errors(matrices: Floats) -> tuple[Floats, Floats]:
    """(matrices,) NMAPE as a share, over all true mappings, and permanents."""
    size = matrices.shape[1]
    chosen, rows = all_matchings(size), np.arange(size)
    marginals, permanents = enumerate_matchings(matrices)
    apart, found = matrices - marginals, np.empty(len(matrices))
    step = max(_BATCH // chosen.size, 1)
    for begin in range(0, len(matrices), step):
        some = slice(begin, begin + step)
        errors = apart[some][:, rows, chosen].sum(axis=2)
        found[some] = np.abs(errors).mean(axis=1) / size
    return found, permanents
