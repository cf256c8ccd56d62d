"""Classes of single nodes, each counted from the smallest stored table of a finer node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.lattice.count_layout import levels_of, number_by_lead, store_of
from shoal.anonymize.lattice.entries import Entries, entries_of
from shoal.support.arrays import Floats

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice, Node

_SWEEP_SHARE = 0.15  # of the table's tuples that a node has on average


class NodeCounts:
    """The nodes of a lattice above a corner, with the tables counted so far.

    Nodes are relative to the corner. If people are in several tuples, each class counts them once
    for each tuple, so its size is an upper bound.

    additive: whether no person is in several tuples.
    levels, demand, store: the arguments of the kernels.

    Parameters:
        k: Least number of people of a class.
        limit: Number of records that may be suppressed.
        gains: For each attribute and level, (values,) what suppression adds to the loss of a
            record; not needed to count suppressed records.
    """

    def __init__(
        self,
        lattice: Lattice,
        corner: Node,
        k: int,
        limit: int,
        gains: list[list[Floats]] | None = None,
    ) -> None:
        from shoal.anonymize.lattice._class_moves import Demand

        entries, lead, counts = number_by_lead(entries_of(lattice, corner))
        levels = zip(lattice.columns, lattice.shape, strict=True)
        gains = gains or [[np.zeros(column.domain)] * size for column, size in levels]
        self.limit = limit
        self.additive = entries.followed == 0
        self.levels = levels_of(entries, lead, counts, corner, gains)
        self.demand = Demand(k, limit, entries.size_at, _most_classes(entries, k, limit))
        self.store = store_of(entries, self.levels)
        merged = any(corner) or entries.people is not None
        if merged or len(lattice.columns) < len(lattice.table.quasi_columns):
            self._merge_equal_tuples()

    @property
    def rows(self) -> int:
        """Number of distinct tuples at the corner."""
        return int(self.store.rows[0])

    @property
    def reads(self) -> int:
        """Number of rows read so far."""
        return int(self.store.reads[0])

    def suppressed(self, node: Any) -> int:
        """Return the number of records in classes that are too small at a node.

        If it exceeds the limit, a smaller number above the limit may be returned.
        """
        from shoal.anonymize.lattice._class_counts import count_node
        from shoal.anonymize.lattice._class_sources import find_source

        source = find_source(self.store, node)
        lost = np.zeros(0)
        return int(count_node(self.levels, self.store, self.demand, source, node, lost, 0)[1])

    def make_room(self) -> None:
        """Forget the tables that were not read for longest, until half of the room is free."""
        store = self.store
        tables = int(store.tables[0])
        recent = sorted(range(1, tables), key=lambda t: -store.used[t])
        room = (len(store.counts) - int(store.rows[0])) // 2
        kept, rows = [0], 0
        for table in recent[: len(store.rows) // 2]:
            rows += int(store.rows[table])
            if rows > room:
                break
            kept.append(table)
        kept.sort()
        self._compact(kept)

    def _compact(self, kept: list[int]) -> None:
        """Keep some tables only, which move to the front in their order."""
        store, at_key, at = self.store, 0, 0
        for new, old in enumerate(kept):
            rows, words = int(store.rows[old]), int(store.words[old])
            key, first = int(store.first_key[old]), int(store.first[old])
            store.keys[at_key : at_key + rows * words] = store.keys[key : key + rows * words]
            store.counts[at : at + rows] = store.counts[first : first + rows]
            store.first_key[new], store.first[new] = at_key, at
            store.rows[new], store.words[new] = rows, words
            store.node[new], store.used[new] = store.node[old], store.used[old]
            store.debt[new] = store.debt[old]
            at_key, at = at_key + rows * words, at + rows
        store.tables[0], store.refused[0] = len(kept), 0
        store.by_rows[: len(kept)] = np.argsort(store.rows[: len(kept)], kind="stable")

    def _merge_equal_tuples(self) -> None:
        """Merge tuples of the table that are equal at the corner."""
        from shoal.anonymize.lattice._class_counts import count_node

        store = self.store
        rows, _, words, _ = count_node(
            self.levels,
            store,
            self.demand,
            0,
            np.zeros(len(self.levels.domain), np.int16),
            np.zeros(0),
            len(store.to_counts),
        )
        store.keys[: rows * words] = store.to_keys[: rows * words]
        store.counts[:rows] = store.to_counts[:rows]
        store.rows[0] = rows


def sweep_reads(rows: int, nodes: int) -> int:
    """Return about how many rows a sweep reads that starts from this many."""
    return int(_SWEEP_SHARE * rows * nodes)


def _most_classes(entries: Entries, k: int, limit: int) -> int:
    """Return the largest number of classes of which those below k hold no more than the limit.

    S records in small classes make at most S classes, and the others at most one for each k.
    """
    records = int(entries.records.sum())
    if entries.people is not None or k < 1:
        return records
    return limit + max(records - limit, 0) // k
