"""Groups that break a model are joined with the neighbour that costs least until it holds."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._boxes import cheapest_partners
from shoal.anonymize.partition.records import Records
from shoal.core.arrays import Bools, Codes, Counts
from shoal.core.classes import Classes
from shoal.core.progress import report
from shoal.core.table import Table
from shoal.privacy.model import Model

_CHOICE = 8  # partners asked about


def mend(records: Records, ids: Codes, table: Table, model: Model) -> Codes:
    """Return groups that all keep a model that the whole table keeps.

    ids: (records,) a group for each, from 0 without gaps.
    """
    if model.by_size and int(np.bincount(ids).min()) >= model.least_size:
        return ids
    people = table.take(records.rows)
    groups = int(ids.max()) + 1
    while groups > 1:
        kept = model.holds(Classes.of(people, ids, origin=table))
        wanting = np.flatnonzero(~kept)
        report("mend", int(kept.sum()), groups)
        if not len(wanting):
            break
        ids = _join(ids, _choose(records, ids, wanting, people, table, model))
        groups = int(ids.max()) + 1
    return ids


def _choose(
    records: Records, ids: Codes, wanting: Counts, people: Table, table: Table, model: Model
) -> Counts:
    """Return pairs of groups to be joined, no group twice, the cheapest pairs first."""
    boxes, sizes, widths = records.boxes(ids, int(ids.max()) + 1)
    few = min(_CHOICE, len(sizes) - 1)
    partners = np.zeros((len(wanting), few), dtype=np.int64)
    costs = np.zeros((len(wanting), few), dtype=np.int64)
    cheapest_partners(records.points, boxes, sizes, widths, wanting, partners, costs)
    holding = np.stack(
        [_hold(ids, wanting, partners[:, i], people, table, model) for i in range(few)], axis=1
    )
    best = np.where(holding.any(axis=1), holding.argmax(axis=1), 0)
    each = np.arange(len(wanting))
    pairs = np.stack([wanting, partners[each, best]], axis=1)
    taken = np.zeros(len(sizes), dtype=np.bool_)
    chosen = []
    for pair in pairs[np.lexsort((wanting, costs[each, best]))]:
        if not taken[pair].any():
            taken[pair] = True
            chosen.append(pair)
    return np.array(chosen)


def _hold(
    ids: Codes, ones: Counts, others: Counts, people: Table, table: Table, model: Model
) -> Bools:
    """Tell, pair by pair, whether both groups together would keep the model."""
    order = np.argsort(ids, kind="stable")
    ends = np.cumsum(np.bincount(ids))
    starts = ends - np.bincount(ids)
    rows, pair = [], []
    for groups in (ones, others):
        lengths = ends[groups] - starts[groups]
        offsets = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) - np.repeat(offsets - starts[groups], lengths)
        rows.append(order[places])
        pair.append(np.repeat(np.arange(len(groups), dtype=np.int32), lengths))
    both = Classes.of(people.take(np.concatenate(rows)), np.concatenate(pair), origin=table)
    return model.holds(both)


def _join(ids: Codes, pairs: Counts) -> Codes:
    """Return the groups with each pair made one, numbered without gaps."""
    into = np.arange(int(ids.max()) + 1)
    into[pairs[:, 0]] = pairs[:, 1]
    _, dense = np.unique(into[ids], return_inverse=True)
    return dense.astype(np.int32)
