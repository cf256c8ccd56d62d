"""Classes of single nodes, each counted from the smallest stored table of a finer node.

    find_feasible, find_cheap_minimal    the nodes whose small classes hold few enough records
    NodeCounts                           the tables counted so far, and the room for more
    number_by_lead, levels_of, store_of  how tables of classes are laid out for the kernels

A node above a feasible node is feasible, and a node below an infeasible one is infeasible. So it is
enough to find the boundary: each feasible node is lowered, one attribute at a time and by
bisection, to a minimal one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.methods.lattice.entries import Entries, Ladder, entries_of
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.methods.lattice.lattice import Lattice, Node

_SWEEP_SHARE = 0.15  # of the table's tuples that a node has on average
_READS_OF_CALL = 400  # rows that could be read in the time of counting a node
_LEAST_SWEEP = 2_000_000  # rows; a sweep that reads fewer is always used
_TRIAL = 0.1  # share of the rows of a sweep after which chains must have decided enough nodes
_DECIDED = 0.3  # share of all nodes
_MOST = 0.8  # share of the rows of a sweep after which chains give up
_STEP = 10_000_000  # rows between two reports of progress
_MAX_TABLES = 4096
_STORED_BYTES = 80 << 20  # for stored tables, besides the table itself
_STORED_SHARE = 1.0  # of the rows of the table itself, if that is more
_USEFUL_ENTROPY = float(np.log(16))  # of the leading attribute; more groups are of no use


@dataclass(frozen=True, eq=False)
class Feasible:
    """The feasible nodes of a lattice.

    suppressed: the records that are suppressed at counted nodes. counted: number of counted nodes,
        with those that are not feasible.
    """

    nodes: Bools
    suppressed: dict[Node, int]
    counted: int


def find_feasible(lattice: Lattice, corner: Node, k: int, limit: int) -> Feasible | None:
    """Return the nodes above a corner that suppress no more records than the limit.

    Returns None if a sweep of the lattice is likely to be cheaper: if there are many minimal nodes,
    few nodes are decided early on. Also if people are in several tuples.
    """
    from shoal.methods.lattice._boundary import FEASIBLE

    shape = _shape_above(lattice, corner)
    counts = _counts_for_chains(lattice, corner, k, limit)
    if counts is None:
        return None
    sweep = sweep_reads(counts.rows, prod(shape))
    boundary = unknown_boundary(shape)
    if not search_boundary(counts, boundary, int(_TRIAL * sweep)):
        # few decided nodes early on mean a long boundary: a sweep is cheaper
        if np.count_nonzero(boundary.states) < _DECIDED * len(boundary.states):
            return None
        if not search_boundary(counts, boundary, int(_MOST * sweep)):
            return None
    nodes = np.zeros(lattice.shape, dtype=np.bool_)
    above = tuple(slice(least, None) for least in corner)
    nodes[above] = (boundary.states == FEASIBLE).reshape(shape)
    asked, feasible, _ = boundary.counted.tolist()
    found = boundary.found[:feasible]
    return Feasible(nodes, _suppressed(boundary, found, shape, corner), asked)


def find_cheap_minimal(
    lattice: Lattice, corner: Node, k: int, limit: int, costs: Floats
) -> tuple[dict[Node, int], int] | None:
    """Return minimal nodes with their suppressed records, and the number of counted nodes.

    The cheapest ones are among them: nodes whose levels alone cost more than the best minimal node
    are not counted. Returns None if a sweep of the lattice is likely to be cheaper, or if people
    are in several tuples.

    costs: what the levels of each node of the lattice cost, 0 to 1, more for higher levels; a
        suppressed record costs 1.
    """
    counts = _counts_for_chains(lattice, corner, k, limit)
    if counts is None:
        return None
    shape = _shape_above(lattice, corner)
    above = costs[tuple(slice(least, None) for least in corner)]
    boundary = unknown_boundary(shape, above.ravel(), lattice.table.records)
    if not search_boundary(counts, boundary, int(_MOST * sweep_reads(counts.rows, prod(shape)))):
        return None
    asked, _, minimal = boundary.counted.tolist()
    return _suppressed(boundary, boundary.minimal[:minimal], shape, corner), asked


def _shape_above(lattice: Lattice, corner: Node) -> tuple[int, ...]:
    return tuple(size - least for size, least in zip(lattice.shape, corner, strict=True))


def _counts_for_chains(lattice: Lattice, corner: Node, k: int, limit: int) -> NodeCounts | None:
    """Return the counts of a lattice, None if it is small or people are in several tuples."""
    nodes = prod(_shape_above(lattice, corner))
    if sweep_reads(len(lattice.tuples().table), nodes) < _LEAST_SWEEP:
        return None
    counts = NodeCounts(lattice, corner, k, limit)
    if not counts.additive or sweep_reads(counts.rows, nodes) < _LEAST_SWEEP:
        return None
    return counts


def sweep_reads(rows: int, nodes: int) -> int:
    """Return about how many rows a sweep reads that starts from this many."""
    return int(_SWEEP_SHARE * rows * nodes)


def _suppressed(
    boundary: Any, found: Counts, shape: tuple[int, ...], corner: Node
) -> dict[Node, int]:
    """Return the suppressed records of counted nodes."""
    nodes = np.stack(np.unravel_index(found, shape), axis=1) + corner
    return dict(zip(map(tuple, nodes.tolist()), boundary.suppressed[found].tolist(), strict=True))


def unknown_boundary(shape: tuple[int, ...], costs: Floats | None = None, records: int = 0) -> Any:
    """Return a boundary of which nothing is known; costs: (nodes,) of the levels, if they count."""
    from shoal.methods.lattice._boundary import Boundary

    nodes, attributes = prod(shape), len(shape)
    heights = np.zeros(shape, dtype=np.int32)
    for axis, levels in enumerate(shape):
        heights += np.arange(levels).reshape([-1 if a == axis else 1 for a in range(attributes)])
    return Boundary(
        np.array(shape, np.int64),
        np.zeros(nodes, np.int8),
        np.argsort(-heights, axis=None, kind="stable"),
        np.zeros(1, np.int64),
        np.zeros(3, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(0) if costs is None else np.ascontiguousarray(costs),
        np.full(1, np.inf),
        float(max(records, 1)),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int16),
        np.zeros(attributes, np.int64),
        np.zeros(0),
    )


def search_boundary(counts: NodeCounts, boundary: Any, until: int) -> bool:
    """Search until so many rows are read; returns whether all nodes are decided."""
    from shoal.methods.lattice._boundary import find_boundary

    store = counts.store
    while True:
        spent = int(store.reads[0]) + _READS_OF_CALL * int(boundary.counted[0])
        stop = min(until, spent + _STEP)
        if find_boundary(counts.levels, store, counts.demand, boundary, stop, _READS_OF_CALL):
            return True
        report("search", int(boundary.counted[0]), None)
        if store.refused[0]:
            counts.make_room()
        elif stop >= until:
            return False


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
        from shoal.methods.lattice._class_moves import Demand

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
        from shoal.methods.lattice._class_counts import count_node, find_source

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
        from shoal.methods.lattice._class_counts import count_node

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


def _most_classes(entries: Entries, k: int, limit: int) -> int:
    """Return the largest number of classes of which those below k hold no more than the limit.

    S records in small classes make at most S classes, and the others at most one for each k.
    """
    records = int(entries.records.sum())
    if entries.people is not None or k < 1:
        return records
    return limit + max(records - limit, 0) // k


def number_by_lead(entries: Entries) -> tuple[Entries, int, list[list[Floats]]]:
    """Choose the leading attribute, and number its groups so that rare ones come first.

    Small classes are then met early. The attribute is the one with several groups at most levels.
    Returns the entries, the attribute, and for each attribute and level the records of each group,
    in the numbers before.
    """
    counts = [_group_counts(entries, j) for j in range(len(entries.ladders))]
    # more groups than these do not make small classes turn up any earlier
    useful = [np.mean([min(_entropy(c), _USEFUL_ENTROPY) for c in by_level]) for by_level in counts]
    lead = int(np.argmax(useful))
    if not len(entries):
        return entries, lead, counts
    ladder, numbers = _rare_first(entries.ladders[lead], counts[lead])
    ladders, codes = [*entries.ladders], [*entries.codes]
    ladders[lead], codes[lead] = ladder, numbers.astype(codes[lead].dtype)[codes[lead]]
    return replace(entries, ladders=tuple(ladders), codes=tuple(codes)), lead, counts


def _group_counts(entries: Entries, j: int) -> list[Floats]:
    """Return, for each level of an attribute, the number of records in each group."""
    ladder = entries.ladders[j]
    counts: list[Floats] = [
        np.bincount(entries.codes[j], entries.records, minlength=ladder.domain).astype(np.float64)
    ]
    for step in ladder.steps:
        counts.append(np.bincount(step, counts[-1]).astype(np.float64))
    return counts


def _rare_first(ladder: Ladder, counts: list[Floats]) -> tuple[Ladder, Counts]:
    """Return a ladder with smaller groups first at each level, and the new number of each group.

    Groups of a level stay ranges of groups of the level below.
    """
    at_level = [np.arange(ladder.domain)]
    for step in ladder.steps:
        at_level.append(step[at_level[-1]])
    keys = [
        key
        for groups, count in zip(at_level, counts, strict=True)
        for key in (groups, count[groups])
    ]
    # the coarsest level is the last and so the first key: its count, then its group, then finer
    # levels
    order = np.lexsort(keys)
    numbers = []
    for groups in at_level:
        fresh = np.diff(groups[order], prepend=groups[order[:1]]) != 0
        number = np.empty(ladder.domain, dtype=np.int64)
        number[order] = np.cumsum(fresh)
        numbers.append(number)
    steps = []
    for fine, coarse in pairwise(numbers):
        step = np.zeros(int(fine.max()) + 1, dtype=np.int64)
        step[fine] = coarse
        steps.append(step)
    return Ladder(numbers[0][ladder.numbers], tuple(steps)), numbers[0]


def levels_of(
    entries: Entries,
    lead: int,
    counts: list[list[Floats]],
    corner: Node,
    gains: list[list[Floats]],
) -> Any:
    """Return the levels above a corner for the kernels.

    lead, counts: as `number_by_lead` returns them.
    gains: for each attribute and level, (values,) what suppression adds to the loss of a record.
    """
    from shoal.methods.lattice import _class_moves

    ladders = entries.ladders
    most = max(len(ladder.steps) for ladder in ladders) + 1
    domain, step_first, gain_first = (
        np.ones((len(ladders), most), dtype=np.int64) for _ in range(3)
    )
    entropy = np.zeros((len(ladders), most))
    steps, by_group, at_step, at_gain = [np.zeros(0, np.int64)], [np.zeros(0)], 0, 0
    for j, ladder in enumerate(ladders):
        numbers = ladder.numbers
        for level in range(len(ladder.steps) + 1):
            if level:
                step = ladder.steps[level - 1]
                steps.append(step)
                step_first[j, level], at_step = at_step, at_step + len(step)
                numbers = step[numbers]
            entropy[j, level] = _entropy(counts[j][level])
            groups = int(numbers.max()) + 1 if len(numbers) else 1
            gain = np.zeros(groups)
            np.maximum.at(gain, numbers, gains[j][corner[j] + level])
            by_group.append(gain)
            domain[j, level] = groups
            gain_first[j, level], at_gain = at_gain, at_gain + groups
    bits = np.array([[int(d - 1).bit_length() for d in row] for row in domain], dtype=np.int64)
    return _class_moves.Levels(
        np.array([lead, *(j for j in range(len(ladders)) if j != lead)], dtype=np.int64),
        domain,
        bits,
        entropy,
        step_first,
        np.concatenate(steps),
        gain_first,
        np.concatenate(by_group),
        _class_moves.WORD_BITS,
    )


def _entropy(counts: Floats) -> float:
    """Return the entropy of a distribution that is given by counts."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log(shares)).sum())


def store_of(entries: Entries, levels: Any) -> Any:
    """Return a store whose first table has the entries."""
    from shoal.methods.lattice._class_counts import CELLS_A_ROW, DENSE, SUFFIXES
    from shoal.methods.lattice._class_moves import BLOCK, CHUNK_BITS, Store, lay_out

    attributes, rows = len(entries.ladders), len(entries)
    bottom, fields = np.zeros(attributes, np.int16), np.zeros((7, attributes), np.int64)
    words = lay_out(levels, bottom, fields[0], fields[1], fields[2])
    stored = max(int(_STORED_SHARE * rows), _STORED_BYTES // (8 * (words + 1)))
    # stored tables may take as much room as the table itself, or some tens of megabytes
    room = rows + min(8 * rows + (1 << 16), stored)
    by_table = [np.zeros(_MAX_TABLES, np.int64) for _ in range(7)]
    numbers = [np.zeros(1, np.int64) for _ in range(4)]
    chunks = [np.zeros(attributes + 1, np.int64) for _ in range(5)]
    moves = (attributes << CHUNK_BITS) + int((1 << levels.bits[:, 0]).sum())
    arrays = [
        np.empty(room * words, np.int64),
        np.empty(room, np.int64),
        np.zeros((_MAX_TABLES, attributes), np.int16),
        *by_table,
        *numbers,
        np.empty(max(rows, 1) * words, np.int64),
        np.empty(max(rows, 1), np.int64),
        np.zeros(1 << max(4, (2 * rows - 1).bit_length()), np.int64),
        np.zeros(min(DENSE, CELLS_A_ROW * rows + 64), np.int64),
        np.empty(max(SUFFIXES, int(levels.domain.max())), np.int64),
        fields,
        np.empty(moves, np.int64),
        *chunks,
        np.empty((attributes, BLOCK), np.int64),
    ]
    store = Store(*arrays)
    lead = entries.codes[levels.order[0]]
    in_order = np.argsort(lead, kind="stable")
    for word in range(words):
        keys = np.zeros(rows, np.int64)
        for j in np.flatnonzero(fields[0] == word):
            keys |= entries.codes[j] << fields[1, j]
        store.keys[word : rows * words : words] = keys[in_order]
    counts = entries.records
    if entries.people is not None:
        counts = counts | (entries.people << entries.size_at)
    store.counts[:rows] = counts[in_order]
    store.rows[0], store.words[0], store.tables[0] = rows, words, 1
    return store
