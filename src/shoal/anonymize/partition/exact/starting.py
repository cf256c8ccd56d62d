"""Where an exact search begins: good groupings, and a bound that costs next to nothing."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._random import Near
from shoal.anonymize.partition.annealing.annealing import Plan, anneal, near_records
from shoal.anonymize.partition.annealing.rules import rules_of
from shoal.anonymize.partition.exact._swapping import anneal_swaps, make_state
from shoal.anonymize.partition.greedy import group_greedily
from shoal.anonymize.partition.neighbours.nearest import nearest_points
from shoal.anonymize.partition.records import Records
from shoal.core.arrays import Codes
from shoal.core.progress import report
from shoal.core.table import Table
from shoal.privacy.k_anonymity import KAnonymity

_NEAR = 10  # neighbours of a record
_FEW = 500  # records up to which groups are improved by swaps alone, again and again
_RUNS = 8
_HOT, _COLD = 0.12, 0.012  # first and last temperature, against what a group of k loses
_DOWN = 200  # steps for each record where a grouping is but polished
_PACE = 100_000  # steps of annealing for each second there is, about a fifth of it
_STEPS = (100, 2000)  # for each record, with no time and with enough
_ENOUGH = 10.0  # seconds


def start(records: Records, table: Table, k: int, seconds: float, seed: int) -> list[Codes]:
    """Return groupings into groups of k to 2k − 1 records, the best one first.

    table: the records' own. seconds: how long the whole search may last; what is done here depends
    on that alone, never on the clock.
    """
    ids = group_greedily(records, k, outliers_first=True)
    near = near_records(records, _NEAR, 1)
    if len(records) > _FEW:
        steps = int(min(seconds * _PACE / len(records), _STEPS[1]))
        rules, _ = rules_of(KAnonymity(k), table, records.rows)
        plan = Plan(steps, None, seed, 1)
        return [anneal(records, ids, k, near, rules, 2 * k - 1, plan)]
    share = min(seconds / _ENOUGH, 1.0)
    runs, steps = 1 + round(share * (_RUNS - 1)), round(_STEPS[0] + share * np.diff(_STEPS)[0])
    return swap(records, near, k, len(records) // k, steps * len(records), runs, seed)


def swap(
    records: Records, near: Near, k: int, count: int, steps: int, runs: int, seed: int
) -> list[Codes]:
    """Return groupings into so many groups, each annealed by swaps, the best one first.

    With as many groups as there can be, hardly any group may lose a record: moves, and groups that
    come and go, are of little use, and often end with too few groups.
    """
    ids = _regrouped(records, group_greedily(records, k, outliers_first=True), k, count)
    unit = records.units(ids) / len(records) * k
    found = [ids]
    for run in range(runs if unit else 0):
        report("start", run, runs)
        state = make_state(records.points, ids, k, seed * _RUNS + run)
        best = np.empty_like(ids)
        anneal_swaps(records.points, state, near, k, unit * _HOT, unit * _COLD, steps, best)
        found.append(best)
    return sorted(found, key=records.units)


def swap_down(records: Records, near: Near, ids: Codes, k: int) -> Codes:
    """Return a grouping improved by swaps, most of which must be for the better."""
    unit = max(records.units(ids) / len(records) * k, 1.0)
    state, best = make_state(records.points, ids, k, 0), np.empty_like(ids)
    many = _DOWN * len(records)
    anneal_swaps(records.points, state, near, k, unit * _COLD, unit * _COLD / 10, many, best)
    return best


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
    if len(sizes) == count and sizes.max() < 2 * k:
        return ids
    return (np.arange(len(records)) * count // len(records)).astype(np.int32)
