"""Groups that break a model are merged with the cheapest neighbour until it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.methods.partition._boxes import cheapest_partners
from shoal.methods.partition.records import Records
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.progress import report
from shoal.table.classes import Classes
from shoal.table.table import Table

_CHOICE = 8  # partners tried for each group


@dataclass(frozen=True, eq=False)
class Merger:
    """Merges groups of records.

    records: the records to group.
    rows: the rows of the records, on which a model is checked.
    record: (rows,) the record of each row.
    origin: the table whose distributions are assumed to be public.
    """

    records: Records
    rows: Table
    record: Codes
    origin: Table

    @classmethod
    def of(cls, records: Records, table: Table, of_row: Codes | None = None) -> Merger:
        """Return a merger of the records of a table.

        of_row: (rows,) the record of each row of the table, if records are not its rows.
        """
        if of_row is None:
            every = np.arange(len(records), dtype=np.int32)
            return cls(records, table.take(records.rows), every, table)
        place = np.empty(len(records), dtype=np.int32)
        place[records.rows] = np.arange(len(records), dtype=np.int32)
        return cls(records, table, place[of_row], table)

    def merge(self, ids: Codes, model: Model) -> Codes:
        """Return groups that all meet a model that the whole table meets.

        ids: (records,) the group of each, from 0 without gaps.
        """
        by_record = model.by_size and self.rows.unit is None
        if by_record and int(np.bincount(ids).min()) >= model.least_size:
            return ids
        groups = int(ids.max()) + 1
        while groups > 1:
            classes = Classes.of(self.rows, ids[self.record], origin=self.origin)
            holds = model.holds(classes)
            wanting = np.flatnonzero(~holds)
            report("merge", int(holds.sum()), groups)
            if not len(wanting):
                break
            ids = _join(ids, self._choose(ids, wanting, model))
            groups = int(ids.max()) + 1
        return ids

    def settle(self, ids: Codes, model: Model, publish: Callable[[Codes], Release]) -> Release:
        """Merge groups until the published classes meet the model, and publish them.

        Groups with equal published values become one class. It may break a model that each of them
        meets, if people have rows in both.

        publish: returns a release, given the group of each row.
        """
        while True:
            ids = self.merge(ids, model)
            release = publish(ids[self.record])
            published = release.classes.ids
            if int(published.max()) == int(ids.max()) or model.holds(release.classes).all():
                return release
            ids = ids.copy()
            ids[self.record] = published

    def _choose(self, ids: Codes, wanting: Counts, model: Model) -> Counts:
        """Return pairs of groups to merge, each group at most once, the cheapest pairs first."""
        records = self.records
        boxes, sizes, widths = records.boxes(ids, int(ids.max()) + 1)
        few = min(_CHOICE, len(sizes) - 1)
        partners = np.zeros((len(wanting), few), dtype=np.int64)
        costs = np.zeros((len(wanting), few), dtype=np.int64)
        cheapest_partners(records.points, boxes, sizes, widths, wanting, partners, costs)
        holding = np.stack(
            [self._hold(ids, wanting, partners[:, i], model) for i in range(few)], axis=1
        )
        # the cheapest partner with which the model holds; if there is none, the cheapest
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

    def _hold(self, ids: Codes, ones: Counts, others: Counts, model: Model) -> Bools:
        """Return, for each pair, whether both groups together meet the model."""
        by_row = ids[self.record]
        order = np.argsort(by_row, kind="stable")
        ends = np.cumsum(np.bincount(by_row))
        starts = ends - np.bincount(by_row)
        rows, pair = [], []
        for groups in (ones, others):
            lengths = ends[groups] - starts[groups]
            offsets = np.cumsum(lengths) - lengths
            places = np.arange(int(lengths.sum())) - np.repeat(offsets - starts[groups], lengths)
            rows.append(order[places])
            pair.append(np.repeat(np.arange(len(groups), dtype=np.int32), lengths))
        members, both = np.concatenate(rows), np.concatenate(pair)
        return model.holds(Classes.of(self.rows.take(members), both, origin=self.origin))


def _join(ids: Codes, pairs: Counts) -> Codes:
    """Return the groups with each pair merged, numbered without gaps."""
    into = np.arange(int(ids.max()) + 1)
    into[pairs[:, 0]] = pairs[:, 1]
    _, dense = np.unique(into[ids], return_inverse=True)
    return dense.astype(np.int32)
