"""How tables of classes are laid out for the kernels: levels, keys, and the leading attribute."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.lattice.entries import Entries, Ladder
from shoal.support.arrays import Counts, Floats

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Node

_MAX_TABLES = 4096
_STORED_BYTES = 80 << 20  # for stored tables, besides the table itself
_STORED_SHARE = 1.0  # of the rows of the table itself, if that is more
_USEFUL_ENTROPY = float(np.log(16))  # of the leading attribute; more groups are of no use


def number_by_lead(entries: Entries) -> tuple[Entries, int, list[list[Floats]]]:
    """Choose the leading attribute, and number its groups so that rare ones come first.

    Small classes are then met early. The attribute is the one with several groups at most levels.
    Returns the entries, the attribute, and for each attribute and level the records of each group,
    in the numbers before.
    """
    counts = [_group_counts(entries, j) for j in range(len(entries.ladders))]
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
    from shoal.anonymize.lattice import _class_moves

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
    from shoal.anonymize.lattice._class_counts import CELLS_A_ROW, DENSE, SUFFIXES
    from shoal.anonymize.lattice._class_moves import BLOCK, CHUNK_BITS, Store, lay_out

    attributes, rows = len(entries.ladders), len(entries)
    bottom, fields = np.zeros(attributes, np.int16), np.zeros((7, attributes), np.int64)
    words = lay_out(levels, bottom, fields[0], fields[1], fields[2])
    stored = max(int(_STORED_SHARE * rows), _STORED_BYTES // (8 * (words + 1)))
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
