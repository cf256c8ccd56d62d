"""The worm algorithm: a random walk over perfect matchings by closed loops.

The walk visits each matching with its correct probability, for any pattern of possible pairs.
Records have types, which determine the weight of each class; classes have slots for one record
each. A matrix has one record of each type and one slot in each class. The walk averages the
probability that a record is in its own class among all matchings one swap away, which has the same
mean as whether it is there, and varies far less.
Prokof'ev & Svistunov, "Worm algorithms for classical statistical models", 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotConverged
from shoal.risk.matchings.convergence import RHAT, Convergence
from shoal.risk.matchings.locality import arrange
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.risk.matchings.chains import Chains

MAX_STEPS = 400_000_000  # steps after which a walk that has not converged fails
_FIRST_DRAWS = 128  # draws of each chain before the first check; doubled before each further one
_BURN_IN = 0.25  # share of draws that are discarded, in addition to the warm-up


@dataclass(frozen=True, eq=False)
class Sample:
    """Expected cracks, estimated by a random walk.

    Parameters:
        value, low, high: Expected cracks with their 95 % interval.
        marginals: (records,) the probability that each record is in its true class.
        rhat: How well the chains agree, 1 at best.
        effective: Effective sample size.
        chains, draws, steps: Number of chains, draws of each chain, and steps of all chains.
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
    half_width: float = 0.01,
    chains: int = 4,
    seed: int | None = None,
    threads: int = 1,
    max_steps: int = MAX_STEPS,
) -> Sample:
    """Walk until the 95 % interval of the expected cracks is within `half_width` of their number.

    Parameters:
        indptr, indices, weights: For each type its classes, ascending, and the weight of a slot
            there; without `indices` every type has all classes. Scaled weights make the walk
            faster, and change nothing else: see `balanced`.
        row_type: (records,) the type of each record.
        capacity: (classes,) the slots of each class; their sum is the number of records.
        truth: (records,) the true class of each record, −1 if it cannot be found.
        start: (records,) the classes of one possible matching, by default the truth.
        half_width: Half the width of the interval, relative to the value.
        chains: Number of chains.
        seed: Seed of the walk.
        threads: Number of threads; the result does not depend on it.
        max_steps: Maximum number of steps.

    Raises:
        NotConverged: The walk did not become narrow enough in `max_steps` steps.
    """
    from shoal.risk.matchings.chains import Chains, link, place

    start, order = truth if start is None else start, None
    if indices is not None:
        near = arrange(indptr, indices, weights, row_type, capacity, truth, start)
        indptr, indices, weights, row_type, capacity, truth, start, order = near
    links = link(indptr, indices, weights, capacity)
    records = place(row_type, capacity, truth)
    seeds = np.random.SeedSequence(seed).spawn(chains)
    walk = Chains(links, records, truth, start, seeds, threads)
    found, draws = walk_until_settled(walk, walk.extend, half_width, max_steps)
    value, half = found.mean, found.half_width
    marginals = walk.marginals()
    if order is not None:
        marginals[order] = marginals.copy()
    return Sample(
        value,
        max(value - half, 0.0),
        value + half,
        marginals,
        found.rhat,
        found.effective,
        chains,
        draws,
        walk.steps,
    )


def walk_until_settled(
    walk: Chains, extend: Callable[[int], Floats], half_width: float, max_steps: int = MAX_STEPS
) -> tuple[Convergence, int]:
    """Draw until the 95 % interval of the mean is within `half_width` of it.

    Parameters:
        walk: The chains.
        extend: Returns (chains, n) further draws.
        half_width: Half the width of the interval, relative to the mean.
        max_steps: Maximum number of steps.

    Returns:
        The statistics of the draws, and the number of draws of each chain.

    Raises:
        NotConverged: The walk did not become narrow enough in `max_steps` steps.
    """
    draws = np.empty((len(walk.walkers), 0))
    while True:
        draws = np.concatenate([draws, extend(max(draws.shape[1], _FIRST_DRAWS))], axis=1)
        found = Convergence(draws[:, int(draws.shape[1] * _BURN_IN) :])
        report("walking over matchings", draws.size)
        moved = walk.broken <= walk.walked / 2
        if moved and found.settled and found.half_width <= half_width * found.mean:
            return found, draws.shape[1]
        if walk.steps > max_steps:
            raise _refusal(found, half_width, walk)


def balanced(
    indptr: Counts, indices: Counts, weights: Floats, row_type: Counts, capacity: Counts
) -> Floats:
    """Return the weights, scaled so that types and slots sum to about 1 (Sinkhorn & Knopp 1967).

    Parameters:
        indptr, indices, weights: For each type its classes and the weight of a slot there.
        row_type: (records,) the type of each record.
        capacity: (classes,) the slots of each class.
    """
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


def _refusal(found: Convergence, half_width: float, walk: Chains) -> NotConverged:
    """Return the error that states why the interval is not reliable."""
    if walk.broken > walk.walked / 2:
        why = f"{walk.broken:,} of {walk.walked:,} loops did not close"
    elif not found.settled:
        why = (
            f"R-hat is {found.rhat:.3f} (at most {RHAT} is required), and the effective sample "
            f"size of {found.draws.size:,} draws is {found.effective:,.0f}"
        )
    else:
        why = f"the interval is ±{found.half_width / found.mean:.3g}, wider than ±{half_width:g}"
    return NotConverged(
        f"the random walk over matchings did not converge in {walk.steps:,} steps: {why}; allow "
        "more steps or a larger half_width"
    )
