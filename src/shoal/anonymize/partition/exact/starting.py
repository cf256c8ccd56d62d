"""The start of an exact search: good groupings, and a bound that is cheap to compute."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._neighbours import Near
from shoal.anonymize.partition.annealing.annealing import Plan, anneal, near_records
from shoal.anonymize.partition.annealing.rules import rules_of
from shoal.anonymize.partition.exact._swapping import anneal_swaps, make_state
from shoal.anonymize.partition.greedy import group_greedily
from shoal.anonymize.partition.neighbours.nearest import nearest_points
from shoal.anonymize.partition.records import Records
from shoal.core.table import Table
from shoal.privacy.k_anonymity import KAnonymity
from shoal.support.arrays import Codes
from shoal.support.progress import report

_NEAR = 10  # neighbours of a record
_MAX_SWAPPED = 500  # records up to which groups are improved repeatedly by swaps only
_RUNS = 8
_HOT, _COLD = 0.12, 0.012  # first and last temperature, relative to the loss of a group of k
_DOWN = 200  # steps per record if a grouping is only polished
_PACE = 100_000  # annealing steps per second of the time limit; they take about a fifth of it
_STEPS = (100, 2000)  # per record, without time and with enough time
_ENOUGH = 10.0  # seconds


def start(records: Records, table: Table, k: int, seconds: float, seed: int) -> list[Codes]:
    """Return groupings into groups of k to 2k − 1 records, the best one first.

    table: the table of the records. seconds: time limit of the whole search; the work done here
    depends only on it, never on the clock.
    """
    ids = group_greedily(records, k, outliers_first=True)
    near = near_records(records, _NEAR, 1)
    if len(records) > _MAX_SWAPPED:
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
    """Return groupings with a given number of groups, each annealed by swaps, the best first.

    With the largest possible number of groups, hardly any group can lose a record: moves, and
    dissolving and creating groups, rarely help and often end with too few groups.
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
    """Return a grouping improved by swaps at low temperatures."""
    unit = max(records.units(ids) / len(records) * k, 1.0)
    state, best = make_state(records.points, ids, k, 0), np.empty_like(ids)
    many = _DOWN * len(records)
    anneal_swaps(records.points, state, near, k, unit * _COLD, unit * _COLD / 10, many, best)
    return best


def neighbour_bound(records: Records, k: int) -> int:
    """Return a lower bound of the loss of any grouping: each record needs k − 1 others.

    Its group is at least as wide as its pair with the farthest of its k − 1 nearest neighbours.
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
    """Return a grouping with exactly this many groups: this one, or neighbours in the order."""
    sizes = np.bincount(ids)
    if len(sizes) == count and sizes.max() < 2 * k:
        return ids
    return (np.arange(len(records)) * count // len(records)).astype(np.int32)
