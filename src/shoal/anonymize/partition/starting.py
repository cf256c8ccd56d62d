"""Where an exact search of few records begins: good groupings, and a bound that costs nothing."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._swapping import Near, anneal_swaps, make_state
from shoal.anonymize.partition.greedy import group_greedily
from shoal.anonymize.partition.nearest import nearest_points
from shoal.anonymize.partition.records import Records
from shoal.core.arrays import Codes

_NEAR = 10  # neighbours of a record
_HOT, _COLD = 0.12, 0.012  # first and last temperature, against what a group of k loses
_STEPS = 4_000_000  # of one run, at most


def start(records: Records, k: int, count: int, steps: int, runs: int, seed: int) -> list[Codes]:
    """Return groupings into `count` groups of k to 2k − 1 records, the best one first.

    steps: tries for each record and run.
    """
    ids = _regrouped(records, group_greedily(records, k, outliers_first=True), k, count)
    near = _neighbours(records)
    unit = records.units(ids) / len(records) * k
    found = [ids]
    for run in range(runs if unit else 0):
        state = make_state(records.points, ids, k, seed * 1000 + run)
        best = np.empty_like(ids)
        many = min(steps * len(records), _STEPS)
        anneal_swaps(records.points, state, near, k, unit * _HOT, unit * _COLD, many, best)
        found.append(best)
    return sorted(found, key=records.units)


def neighbour_bound(records: Records, k: int) -> int:
    """Return a loss that no grouping stays below: each record needs k − 1 others.

    Its group is at least as wide as the pair it makes with the farthest of the nearest k − 1.
    """
    counts = np.bincount(records.copies)
    if len(counts) == 1:
        return 0
    few = min(k - 1, len(counts) - 1)
    nearest, widths = nearest_points(records, few)
    reached = np.cumsum(counts[nearest], axis=1) + counts[:, None] - 1
    far = (reached < k - 1).sum(axis=1)
    width = widths[np.arange(len(counts)), np.minimum(far, few - 1)].astype(np.int64)
    return int((np.where(counts >= k, 0, width) * counts).sum())


def _regrouped(records: Records, ids: Codes, k: int, count: int) -> Codes:
    """Return a grouping into exactly so many groups: this one, or neighbours in the order."""
    sizes = np.bincount(ids)
    if len(sizes) == count and sizes.min() >= k and sizes.max() < 2 * k:
        return ids
    return (np.arange(len(records)) * count // len(records)).astype(np.int32)


def _neighbours(records: Records) -> Near:
    counts = np.bincount(records.copies).astype(np.int64)
    few = min(_NEAR, len(counts) - 1)
    nearest = (
        nearest_points(records, few)[0] if few else np.full((len(counts), 0), -1, dtype=np.int32)
    )
    first = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int64)
    return Near(nearest, first, counts, records.copies)
