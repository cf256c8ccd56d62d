"""Large attacks: the heuristic H at the true mapping, compared with Ψ.

Four kinds of attack that exist at any size: three by attackers who know something, one by an
attacker who knows nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.support.arrays import Floats
from studies.runs import Row, Stopwatch

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi
    from shoal.risk.matchings.structure import Component

DRAWN = ("noisy values", "no knowledge")  # kinds whose matrix is random
KINDS = {
    "one in a crowd": "a person's own record is 0.9 n times as likely as any other",
    "frequencies": "items are known up to three places in the order of frequencies",
    "noisy values": "values that follow each other by 1 are known with a Gaussian error of 1",
    "no knowledge": "random weights between 0.5 and 1.5",
}
_WEIGHT = 0.9  # of a person's own record, in units of n
_PLACES = 3  # by which an item may be misplaced
_FAR = 8  # deviations from which a pair is ruled out
_MAPPINGS = 20_000  # from which the mean over all of them is estimated
_SECONDS = 10.0  # within which all pairs must be solved


def measure_large(kind: str, size: int, seed: int) -> Row:
    """Return Ψ with its interval, H, and NMAPE as a share where it can be computed."""
    with Stopwatch() as took:
        if kind == "one in a crowd":
            row = _crowd(size)
        elif kind == "frequencies":
            row = _frequencies(size, seed)
        else:
            row = _weighed(
                _noisy(size, seed) if kind == "noisy values" else _blind(size, seed), seed
            )
    return {**row, "seconds": took.seconds}


def crowd(size: int, weight: float) -> tuple[float, float]:
    """Return Ψ and the share of mappings without a fixed point, in closed form.

    With weight θ on the diagonal and 1 elsewhere a matching weighs θ to the power of its cracks,
    all matchings n!·e(n), where e(n) = Σ (θ − 1)^k / k! over k ≤ n, and Ψ = θ·e(n − 1)/e(n).
    """
    from scipy.special import gammaincc

    ratio = float(gammaincc(size, weight - 1) / gammaincc(size + 1, weight - 1))
    deranged = sum((-1.0) ** k / math.factorial(k) for k in range(min(size, 20) + 1))
    return weight * ratio, deranged


def _crowd(size: int) -> Row:
    weight = 1 + _WEIGHT * size
    psi, deranged = crowd(size, weight)
    heuristic = size * weight / (weight + size - 1)
    # the error at a mapping is that at the truth times (fixed points − 1) / (n − 1)
    mean = abs(heuristic - psi) / (size - 1) * 2 * deranged / size
    figures = _figures(psi, psi, psi, heuristic)
    return {**figures, "nmape": mean, "how": "closed form", "samples": None}


def _frequencies(size: int, seed: int) -> Row:
    from shoal.risk.attacks import beliefs_around, frequency_attack
    from shoal.risk.matchings.exact import all_marginals

    places = np.arange(size, dtype=np.float64)
    attack = frequency_attack(beliefs_around(places, _PLACES), places)
    found = attack.psi()
    scaled = _scaled(attack.matrix)
    nmape = None
    if size <= 1000:
        nmape = _mean_error(scaled, all_marginals(attack.matrix), seed)
    return _row(found, _own(scaled), nmape)


def _noisy(size: int, seed: int) -> Any:
    from scipy.sparse import csr_array

    rng = np.random.default_rng([seed, size])
    known = np.arange(size) + rng.normal(size=size)
    offsets = np.arange(-_FAR, _FAR + 1)
    rows = np.repeat(np.arange(size), len(offsets))
    columns = np.rint(known).astype(np.int64)[rows] + np.tile(offsets, size)
    inside = (columns >= 0) & (columns < size)
    rows, columns = rows[inside], columns[inside]
    weights = np.exp(-((known[rows] - columns) ** 2) / 2)
    return csr_array((weights, (rows, columns)), shape=(size, size))


def _blind(size: int, seed: int) -> Any:
    return np.random.default_rng([seed, size]).uniform(0.5, 1.5, (size, size))


def _weighed(matrix: Any, seed: int) -> Row:
    from shoal.risk.matchings.exact import all_marginals, exact_cost
    from shoal.risk.matchings.psi import psi

    found = psi(matrix, seed=seed)
    scaled = _scaled(matrix)
    nmape = None
    if exact_cost(matrix, every=True).seconds <= _SECONDS:
        nmape = _mean_error(scaled, all_marginals(matrix), seed)
    return _row(found, _own(scaled), nmape)


def _row(found: Psi, heuristic: float, nmape: float | None) -> Row:
    """Return the figures of an attack; samples is None if Ψ is exact."""
    samples = None if found.guarantee == "exact" else int(found.effective or 0)
    figures = _figures(found.value, found.low, found.high, heuristic)
    return {**figures, "nmape": nmape, "how": found.method, "samples": samples}


def _figures(psi: float, low: float, high: float, heuristic: float) -> Row:
    return {
        "psi": float(psi),
        "low": float(low),
        "high": float(high),
        "heuristic": float(heuristic),
        "error": float(heuristic / psi - 1),
    }


def _scaled(matrix: Any) -> list[Component]:
    """Return components whose rows and columns sum to 1."""
    from shoal.risk.matchings.sinkhorn import sinkhorn
    from shoal.risk.matchings.structure import split

    parts = split(matrix).components
    return [sinkhorn(part, tolerance=1e-7, sweeps=20_000).component for part in parts]


def _own(scaled: list[Component]) -> float:
    """Return H: the sum of the true pairs' entries."""
    total = 0.0
    for part in scaled:
        if isinstance(part.stored, np.ndarray):
            rows = np.flatnonzero(part.mapping >= 0)
            total += float(part.stored[rows, part.mapping[rows]].sum())
        else:
            indptr, indices, weights = part.stored
            own = indices == np.repeat(part.mapping, np.diff(indptr))
            total += float(weights[own].sum())
    return total


def _mean_error(scaled: list[Component], marginals: Floats, seed: int) -> float:
    """Return NMAPE as a share, over mappings drawn at random."""
    apart, size = -marginals, len(marginals)
    for part in scaled:
        apart[np.ix_(part.rows, part.columns)] += part.dense
    rng, rows = np.random.default_rng([seed, 1]), np.arange(size)
    errors = [apart[rows, rng.permutation(size)].sum() for _ in range(_MAPPINGS)]
    return float(np.abs(errors).mean()) / size
