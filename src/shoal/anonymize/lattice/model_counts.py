"""A model at single nodes: which classes break it, and how many records any finer node suppresses.

Let C be a class of a node. At a finer node C is divided, and the parts that meet the model are
kept. If merged classes keep meeting the model, so does the union K of the kept parts. So a finer
node suppresses at least as many records of C as must leave C before the rest meets the model, which
`Model.fewest_removed` bounds from below. The number of records in classes that break the model is
itself no such bound: a class beyond t can contain many records whose classes were within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.anonymize.lattice.count_layout import levels_of, number_by_lead, store_of
from shoal.anonymize.lattice.entries import Ladder, entries_of
from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.core.classes import Classes
from shoal.core.grouping import group_keys
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.support.arrays import Counts, Floats


@dataclass(frozen=True, eq=False)
class Judged:
    """One node under a model.

    suppressed: records in classes that break the model; lost: (attributes,) what their suppression
        adds to the loss of each attribute, summed over records.
    least: lower bound of the records that a node below suppresses; least_lost: (attributes,) the
        same of what this adds.
    """

    suppressed: int
    lost: Floats
    least: int
    least_lost: Floats


class ModelCounts:
    """The classes of single nodes with their values of the model's columns.

    A class is counted as its combinations with these values: the columns are further attributes of
    the tables, with a single level.

    Parameters:
        gains: For each attribute and level, (values,) what suppression adds to the loss of a
            record.
    """

    def __init__(
        self, lattice: Lattice, corner: Node, model: Model, gains: list[list[Floats]]
    ) -> None:
        from shoal.anonymize.lattice._class_moves import Demand

        self._model, self._origin = model, lattice.origin
        tuples = lattice.tuples(*model.columns).table
        self._columns = [tuples[name] for name in model.columns]
        with_values = Lattice(lattice.table, lattice.columns, lattice.origin, model.columns)
        entries, lead, counts = number_by_lead(entries_of(with_values, corner))
        records = entries.records
        entries = replace(
            entries,
            ladders=(
                *entries.ladders,
                *(Ladder(np.arange(c.domain), ()) for c in self._columns),
            ),
            codes=(*entries.codes, *(c.codes.astype(np.int64) for c in self._columns)),
        )
        values = [
            [np.bincount(c.codes, records, c.domain).astype(np.float64)] for c in self._columns
        ]
        nothing = [[np.zeros(c.domain)] for c in self._columns]
        self._attributes, extended = len(corner), (*corner, *(0 for _ in self._columns))
        self._levels = levels_of(entries, lead, [*counts, *values], extended, [*gains, *nothing])
        self._store = store_of(entries, self._levels)
        every = int(records.sum())
        self._demand = Demand(0, every, 0, every)

    def judge(self, node: Any) -> Judged:
        """Return what the model says of a node, relative to the corner."""
        from shoal.anonymize.lattice._class_counts import count_node
        from shoal.anonymize.lattice._class_sources import add_source, find_source

        levels, store, demand = self._levels, self._store, self._demand
        extended = np.zeros(len(levels.domain), np.int16)
        extended[: self._attributes] = node
        source, nothing = find_source(store, extended), np.zeros(0)
        most = len(store.to_counts)
        rows, _, words, _ = count_node(levels, store, demand, source, extended, nothing, most)
        judged = self._judge(extended, rows, words)
        below = np.zeros_like(extended)
        add_source(levels, store, demand, source, extended, rows, below, nothing)
        return judged

    def _judge(self, node: Any, rows: int, words: int) -> Judged:
        """Judge the node that was counted last."""
        levels, store, d = self._levels, self._store, self._attributes
        keys = store.to_keys[: rows * words].reshape(rows, words)
        word, shift, mask = store.fields[3], store.fields[4], store.fields[5]
        codes = [(keys[:, word[j]] >> shift[j]) & mask[j] for j in range(len(node))]
        hidden = keys.copy()
        for j in range(d, len(node)):
            hidden[:, word[j]] &= ~(mask[j] << shift[j])
        alike = group_keys(hidden[:, 0])
        for at in range(1, words):
            alike = group_keys(alike.ids * (np.int64(1) << 32) + group_keys(hidden[:, at]).ids)
        counts = store.to_counts[:rows]
        sizes = alike.sizes(counts)
        removed = np.where(sizes < self._model.least_size, sizes, 0)
        out = removed.copy()
        large = np.flatnonzero(removed == 0)  # classes that the model is asked about
        if len(large):
            number = np.full(len(sizes), -1, dtype=np.int32)
            number[large] = np.arange(len(large), dtype=np.int32)
            ids = number[alike.ids]
            kept = np.flatnonzero(ids >= 0)
            columns = tuple(
                replace(column, codes=found[kept].astype(np.int32))
                for column, found in zip(self._columns, codes[d:], strict=True)
            )
            classes = Classes.of(Table(columns, counts[kept]), ids[kept], origin=self._origin)
            removed[large] = self._model.fewest_removed(classes)
            out[large] = np.where(removed[large] > 0, sizes[large], 0)
        gains = [
            levels.gains[levels.gain_first[j, node[j]] + codes[j][alike.first]] for j in range(d)
        ]
        return Judged(
            int(out.sum()),
            np.array([_paid(out, gain) for gain in gains]),
            int(removed.sum()),
            np.array([_paid(removed, gain) for gain in gains]),
        )

    def make_room(self) -> None:
        """Forget all tables but the first, if a table found no room."""
        if self._store.refused[0]:
            self._store.tables[0], self._store.refused[0], self._store.by_rows[0] = 1, 0, 0


def _paid(records: Counts, gain: Floats) -> float:
    return float((records * gain).sum())


def can_judge(lattice: Lattice, model: Model) -> bool:
    """Return whether a model can be judged from the classes of single nodes.

    Every record must be a different person, and every part of the model must be a condition on the
    sizes and the values of single classes that merged classes keep.
    """
    return (
        lattice.table.unit is None
        and lattice.origin is lattice.table
        and bool(model.columns)
        and all(
            part.monotone
            and part.by_class
            and not (part.by_release or part.over_rows or part.needs_population)
            for part in model.parts
        )
    )
