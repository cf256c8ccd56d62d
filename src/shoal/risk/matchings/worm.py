"""The worm: a walk over perfect matchings by closed loops, each with its right probability.

Right for any pattern of possible pairs. Records are of types, which say how well each class suits;
classes have slots, one for a record each. A single matrix is the case of one record a type and one
slot a class. What is averaged is not whether a record sits in its own slot, but the chance of it
among all matchings one swap away: the same mean, and far less scatter.
Prokof'ev & Svistunov, "Worm algorithms for classical statistical models", 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotConverged
from shoal.risk.matchings.convergence import RHAT, Convergence
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.matchings.chains import Chains

MAX_STEPS = 400_000_000  # after which a walk is given up
_FIRST = 128  # draws of each chain before the first verdict; twice as many before each further one
_BURN = 0.25  # share of draws that are left out, besides the walk before the first


@dataclass(frozen=True, eq=False)
class Sample:
    """Expected cracks by a walk, with their 95 % interval.

    marginals: (records,) the chance that each is found in its own slot.
    rhat: how well the chains agree, 1 at best; effective: effective sample size.
    chains, draws, steps: how many chains there were, draws of each, and steps of all.
    """

    value: float
    low: float
    high: float
    marginals: Floats
    rhat: float
    effective: float
    chains: int
    draws: int
    steps: int


def sample(
    indptr: Counts,
    indices: Counts | None,
    weights: Floats,
    row_type: Counts,
    capacity: Counts,
    truth: Counts,
    *,
    start: Counts | None = None,
    target: float = 0.01,
    chains: int = 4,
    seed: int | None = None,
    threads: int = 1,
    max_steps: int = MAX_STEPS,
) -> Sample:
    """Walk until the 95 % interval of the expected cracks is within a share `target` of them.

    indptr, indices, weights: for each type its classes, ascending, and the weight of a slot there;
        without `indices` every type has all classes. Rows and columns that sum to about the same
        make the walk quick, and change nothing else: see `balanced`.
    row_type: (records,) the type of each record.
    capacity: (classes,) the slots of each class, as many as records in all.
    truth: (records,) the class that each is truly in, −1 where it has no chance to be found.
    start: (records,) the classes of one possible matching, by default the truth.
    The same for one seed, on any number of threads; raises NotConverged after max_steps.
    """
    from shoal.risk.matchings.chains import Chains, link, place

    links = link(indptr, indices, weights, capacity)
    records = place(row_type, capacity, truth)
    seeds = np.random.SeedSequence(seed).spawn(chains)
    walk = Chains(links, records, truth, truth if start is None else start, seeds, threads)
    found, draws = walk_until_settled(walk, walk.extend, target, max_steps)
    value, half = found.mean, found.half_width
    return Sample(
        value,
        max(value - half, 0.0),
        value + half,
        walk.marginals(),
        found.rhat,
        found.effective,
        chains,
        draws,
        walk.steps,
    )


def walk_until_settled(
    walk: Chains, extend: Callable[[int], Floats], target: float, max_steps: int = MAX_STEPS
) -> tuple[Convergence, int]:
    """Draw until the 95 % interval of the mean is within a share `target` of it.

    extend: returns (chains, n) further draws. Returns what the draws say, and how many there are
    of each chain.

    Raises:
        NotConverged: The chains did not settle in `max_steps` steps.
    """
    draws = np.empty((len(walk.walkers), 0))
    while True:
        draws = np.concatenate([draws, extend(max(draws.shape[1], _FIRST))], axis=1)
        found = Convergence(draws[:, int(draws.shape[1] * _BURN) :])
        report("walking over matchings", draws.size)
        moved = walk.broken <= walk.walked / 2
        if moved and found.settled and found.half_width <= target * found.mean:
            return found, draws.shape[1]
        if walk.steps > max_steps:
            raise _refusal(found, target, walk)


def balanced(
    indptr: Counts, indices: Counts, weights: Floats, row_type: Counts, capacity: Counts
) -> Floats:
    """Return the weights, scaled so that types and slots sum to about 1 (Sinkhorn & Knopp 1967)."""
    types = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    people = np.bincount(row_type, minlength=len(indptr) - 1).astype(np.float64)
    scaled = weights / np.maximum.reduceat(weights, indptr[:-1])[types]
    for _ in range(200):
        sums = np.bincount(indices, scaled * people[types], minlength=len(capacity))
        scaled = scaled / np.where(sums > 0, sums, 1.0)[indices]
        sums = np.bincount(types, scaled * capacity[indices])
        scaled = scaled / sums[types]
        if np.abs(sums - 1).max() < 1e-3:
            break
    return np.asarray(scaled)


def _refusal(found: Convergence, target: float, walk: Chains) -> NotConverged:
    """Say what is missing for an interval to be trusted."""
    if walk.broken > walk.walked / 2:
        why = f"{walk.broken:,} of {walk.walked:,} loops did not close"
    elif not found.settled:
        why = (
            f"R-hat is {found.rhat:.3f} (at most {RHAT} is required), and the effective sample "
            f"size of {found.draws.size:,} draws is {found.effective:,.0f}"
        )
    else:
        why = f"the interval is ±{found.half_width / found.mean:.3g}, wider than ±{target:g}"
    return NotConverged(
        f"the random walk over matchings did not converge in {walk.steps:,} steps: {why}; allow "
        "more steps or a wider target"
    )
