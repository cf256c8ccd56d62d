"""The worm algorithm: a random walk over perfect matchings by closed loops.

Records have types, which determine the weight of each class; classes have slots for one record
each. A matrix has one record of each type and one slot in each class. The walk visits each matching
with its correct probability, for any pattern of possible pairs.

    sample        averages the probability that a record is in its own class among all matchings one
                  swap away: the same mean as whether it is there, and far less variance
    walk_people   people with several rows: given the class that each row is matched with, rows have
                  the records of a class in random order, so if a of its n rows and b of its n
                  records are theirs, a person is missed with probability C(n − b, a) / C(n, a)
    Convergence   chains of draws, and the interval of their mean: R-hat and effective draws

Prokof'ev & Svistunov, "Worm algorithms for classical statistical models", 2001; Gelman et al.,
"Bayesian Data Analysis", 2013 (R-hat over halves of chains, effective draws); Flegal & Jones,
"Batch means and spectral variance estimators in Markov chain Monte Carlo", 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from shoal.errors import NotConverged
from shoal.risk.matchings.chains import Chains, arrange, link, place
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report

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
    start, order = truth if start is None else start, None
    if indices is not None:
        near = arrange(indptr, indices, weights, row_type, capacity, truth, start)
        indptr, indices, weights, row_type, capacity, truth, start, order = near
    links = link(indptr, indices, weights, capacity)
    records = place(row_type, capacity, truth)
    seeds = np.random.SeedSequence(seed).spawn(chains)
    walk = Chains(links, records, truth, start, seeds, threads)
    convergence, draws = walk_until_settled(walk, walk.extend, half_width, max_steps)
    value, half = convergence.mean, convergence.half_width
    marginals = walk.marginals()
    if order is not None:
        marginals[order] = marginals.copy()
    return Sample(
        value,
        max(value - half, 0.0),
        value + half,
        marginals,
        convergence.rhat,
        convergence.effective,
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
        convergence = Convergence(draws[:, int(draws.shape[1] * _BURN_IN) :])
        report("walking over matchings", draws.size)
        moved = walk.broken <= walk.walked / 2
        narrow = convergence.half_width <= half_width * convergence.mean
        if moved and convergence.settled and narrow:
            return convergence, draws.shape[1]
        if walk.steps > max_steps:
            raise _refusal(convergence, half_width, walk)


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


def _refusal(convergence: Convergence, half_width: float, walk: Chains) -> NotConverged:
    """Return the error that states why the interval is not reliable."""
    if walk.broken > walk.walked / 2:
        why = f"{walk.broken:,} of {walk.walked:,} loops did not close"
    elif not convergence.settled:
        why = (
            f"R-hat is {convergence.rhat:.3f} (at most {RHAT} is required), and the effective "
            f"sample size of {convergence.draws.size:,} draws is {convergence.effective:,.0f}"
        )
    else:
        half = convergence.half_width / convergence.mean
        why = f"the interval is ±{half:.3g}, wider than ±{half_width:g}"
    return NotConverged(
        f"the random walk over matchings did not converge in {walk.steps:,} steps: {why}; allow "
        "more steps or a larger half_width"
    )


RHAT = 1.02  # maximum R-hat of chains that have converged
LENGTH = 6  # autocorrelation times that a batch must last
_BATCHES = 8  # batches of each chain
_LEVEL = 0.96  # of an interval; a walk stops when its interval is short, which lowers it to 95 %
_ROUNDING = 1e-12  # relative differences that are rounding errors


@dataclass(frozen=True, eq=False)
class Convergence:
    """Statistics of several chains of draws.

    Parameters:
        draws: (chains, draws) values of at least two chains.
    """

    draws: Floats

    @property
    def mean(self) -> float:
        """The mean of all draws."""
        return float(self.draws.mean())

    @property
    def constant(self) -> bool:
        """Whether all draws are equal up to rounding."""
        return bool(np.ptp(self.draws) <= _ROUNDING * abs(self.mean))

    @cached_property
    def rhat(self) -> float:
        """R-hat: spread over all halves of chains over that in each half; 1 if they agree."""
        if self.constant:
            return 1.0
        count = self.draws.shape[1] // 2
        halves = np.concatenate([self.draws[:, :count], self.draws[:, -count:]])
        within = float(halves.var(axis=1, ddof=1).mean())
        between = float(halves.mean(axis=1).var(ddof=1))
        if within == 0:
            return float("inf")
        return float(np.sqrt((count - 1) / count + between / within))

    @cached_property
    def correlation_time(self) -> float:
        """Number of draws that carry the information of one independent draw; at least 1."""
        if self.constant:
            return 1.0
        count = self.draws.shape[1]
        # autocovariance by FFT, padded with zeros so that the ends of a chain do not meet
        centred = self.draws - self.draws.mean(axis=1, keepdims=True)
        power = np.abs(np.fft.rfft(centred, 2 * count, axis=1)) ** 2
        covariance = np.fft.irfft(power, axis=1)[:, :count].mean(axis=0) / count
        within = covariance[0] * count / (count - 1)
        spread = covariance[0] + float(self.draws.mean(axis=1).var(ddof=1))
        correlation = 1 - (within - covariance) / spread
        correlation[0] = 1.0
        # Geyer: sums of neighbouring lags are positive and fall, and what is not is noise
        pairs = correlation[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else None])
        return max(float(2 * pairs.sum() - 1), 1.0)

    @property
    def effective(self) -> float:
        """Effective sample size: the number of independent draws with the same information."""
        return self.draws.size / self.correlation_time

    @cached_property
    def half_width(self) -> float:
        """Half the width of the 95 % interval, by Student's t over batches of draws."""
        from scipy.stats import t

        length = self.draws.shape[1] // _BATCHES
        kept = self.draws[:, -length * _BATCHES :]
        batches = kept.reshape(-1, length).mean(axis=1)
        count = len(batches)
        # batches that follow each other correlate at their ends, which lowers the spread of means
        missed = min((self.correlation_time - 1) / length, 0.5)
        error = float(batches.std(ddof=1)) / np.sqrt(count * (1 - missed))
        return float(t.ppf((1 + _LEVEL) / 2, count - 1) * error + _ROUNDING * abs(self.mean))

    @property
    def settled(self) -> bool:
        """Whether the chains agree and are long enough for a reliable interval."""
        length = self.draws.shape[1] // _BATCHES
        enough = self.constant or length >= LENGTH * self.correlation_time
        return self.rhat <= RHAT and enough


_CHAINS = 4


@dataclass(frozen=True, eq=False)
class Owners:
    """The people behind the rows and records of a walk.

    Parameters:
        person: (rows,) the person of each row, from 0.
        known: (people,) the probability to be missed elsewhere, independently of this walk.
        classes, holder, records: (pairs,) a class, a person, and the number of their records in it;
            ascending by person, then class.
    """

    person: Codes
    known: Floats
    classes: Codes
    holder: Codes
    records: Counts


@dataclass(frozen=True, eq=False)
class PeopleSample:
    """The people found by a random walk.

    Parameters:
        value, low, high: Expected number of people found, in the walk or elsewhere, with its 95 %
            interval.
        missed: (people,) the probability that each is missed in the walk.
        links: Expected number of right links.
    """

    value: float
    low: float
    high: float
    missed: Floats
    links: float


def log_missed(n: Counts, a: Counts, b: Counts) -> Floats:
    """Return ln of C(n − b, a) / C(n, a): no row of a has a record of b; −∞ if one must."""
    left = n - a - b
    logs = (
        gammaln(n - b + 1.0)
        + gammaln(n - a + 1.0)
        - gammaln(np.maximum(left, 0) + 1.0)
        - gammaln(n + 1.0)
    )
    return np.where(left < 0, -np.inf, np.minimum(logs, 0.0))


class _Tally:
    """Sums over the matchings of a walk, by chain."""

    def __init__(self, owners: Owners, capacity: Counts) -> None:
        self.owners, self.capacity = owners, capacity
        self.class_of = np.repeat(np.arange(len(capacity)), capacity)  # (slots,)
        self.keys = owners.holder.astype(np.int64) * len(capacity) + owners.classes
        self.missed = np.zeros((_CHAINS, len(owners.known)))
        self.links = np.zeros(_CHAINS)
        self.draws = np.zeros(_CHAINS, dtype=np.int64)

    def look(self, chain: int, slot: Counts) -> float:
        """Return the expected number of people found, given the slot of each row."""
        owners, classes = self.owners, self.class_of[slot]
        asked = owners.person.astype(np.int64) * len(self.capacity) + classes
        entry = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        rows = np.bincount(entry[self.keys[entry] == asked], minlength=len(self.keys))
        sizes = self.capacity[owners.classes]
        logs = log_missed(sizes, rows, owners.records)
        missed = np.exp(np.bincount(owners.holder, logs, minlength=len(owners.known)))
        self.missed[chain] += missed
        self.links[chain] += float((rows * owners.records / sizes).sum())
        self.draws[chain] += 1
        return float((1 - owners.known * missed).sum())


def walk_people(
    indptr: Counts,
    indices: Counts,
    weights: Floats,
    row_type: Counts,
    capacity: Counts,
    start: Counts,
    owners: Owners,
    *,
    half_width: float,
    seed: int | None,
    threads: int,
) -> PeopleSample:
    """Walk until the 95 % interval of the people found is within `half_width` of their number.

    Parameters:
        indptr, indices, weights, row_type, capacity, start: As for `sample`.
        owners: The people behind the rows and records.
        half_width: Half the width of the interval, relative to the value.
        seed: Seed of the walk.
        threads: Number of threads; the result does not depend on it.

    Raises:
        NotConverged: The walk did not become narrow enough.
    """
    links, records = link(indptr, indices, weights, capacity), place(row_type, capacity, start)
    seeds = np.random.SeedSequence(seed).spawn(_CHAINS)
    walk = Chains(links, records, start, start, seeds, threads)
    tally = _Tally(owners, capacity)
    convergence, _ = walk_until_settled(
        walk, lambda draws: walk.visit(draws, tally.look), half_width
    )
    total, value, half = int(tally.draws.sum()), convergence.mean, convergence.half_width
    return PeopleSample(
        value,
        max(value - half, 0.0),
        min(value + half, float(len(owners.known))),
        tally.missed.sum(axis=0) / total,
        float(tally.links.sum()) / total,
    )
