"""People found by a random walk over matchings of their rows.

A person is found if one of their rows is matched with one of their records. Given the class that
each row is matched with, rows have the records of a class in random order: if a of its n rows and b
of its n records are theirs, a person is missed with probability C(n − b, a) / C(n, a). The walk
averages this probability, which varies less than whether the person is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shoal.risk.matchings.chains import Chains, link, place
from shoal.risk.matchings.worm import walk_until_settled
from shoal.support.arrays import Codes, Counts, Floats

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
        indptr, indices, weights, row_type, capacity, start: As for `worm.sample`.
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
    found, _ = walk_until_settled(walk, lambda draws: walk.visit(draws, tally.look), half_width)
    total = int(tally.draws.sum())
    return PeopleSample(
        found.mean,
        max(found.mean - found.half_width, 0.0),
        min(found.mean + found.half_width, float(len(owners.known))),
        tally.missed.sum(axis=0) / total,
        float(tally.links.sum()) / total,
    )
