"""The search for minimal sample uniques: sets of columns, threads and scores.

Each pair of first columns is a task of its own; tasks and blocks of rows run in parallel.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.table import Table
from shoal.errors import InputError
from shoal.risk.people import row_weights
from shoal.support.arrays import Codes, Counts, Floats

_MAX_WORDS = 2**28  # of 64 rows each, over all sets: 2 GiB


@dataclass(frozen=True, eq=False)
class Minimal:
    """The scores, contributions and numbers of minimal sets of each row."""

    scores: Floats
    contributions: Floats
    found: Counts


@dataclass(frozen=True, eq=False)
class ColumnSets:
    """The sets of columns, numbered depth first; arrays as in `_suda.score_rows`.

    below: (columns, most) number of sets in a subtree, as in `_suda.find_uniques`.
    starts: (columns,) the number of the set of each single column.
    """

    members: Codes
    sizes: Codes
    parents: Codes
    subsets: Codes
    below: Counts
    starts: Counts

    def __len__(self) -> int:
        return len(self.sizes)

    @classmethod
    def of(cls, columns: int, most: int) -> ColumnSets:
        """Return all sets of at most so many columns."""
        listed: list[tuple[int, ...]] = []
        pending: list[tuple[int, ...]] = [(column,) for column in reversed(range(columns))]
        while pending:
            chosen = pending.pop()
            listed.append(chosen)
            if len(chosen) < most:
                pending += [(*chosen, later) for later in range(columns - 1, chosen[-1], -1)]
        number = {chosen: i for i, chosen in enumerate(listed)}
        shape = len(listed), most
        members, subsets = np.full(shape, -1, np.int32), np.full(shape, -1, np.int32)
        for i, chosen in enumerate(listed):
            members[i, : len(chosen)] = chosen
            if len(chosen) > 1:
                parts = [chosen[:j] + chosen[j + 1 :] for j in range(len(chosen))]
                subsets[i, : len(chosen)] = [number[part] for part in parts]
        sizes = np.array([len(chosen) for chosen in listed], np.int32)
        parents = np.array([number.get(chosen[:-1], -1) for chosen in listed], np.int32)
        below = [
            [_count_sets(columns - 1 - column, depth) for depth in range(most)]
            for column in range(columns)
        ]
        starts = np.array([number[(column,)] for column in range(columns)], np.int64)
        return cls(members, sizes, parents, subsets, np.array(below, np.int64), starts)


def _count_sets(columns: int, most: int) -> int:
    """Return the number of sets of at most so many columns, the empty one included."""
    return sum(math.comb(columns, size) for size in range(most + 1))


def find_minimal(table: Table, most: int, count_missing: bool, threads: int) -> Minimal:
    """Return the minimal sets of all rows."""
    from shoal.risk import _suda

    columns = table.quasi_columns
    words = len(table) // 64 + 1
    count = _count_sets(len(columns), most) - 1
    if count * words > _MAX_WORDS:
        raise InputError(
            f"{count:,} sets of up to {most} of {len(columns)} columns are too many for "
            f"{len(table):,} rows; choose a smaller most, or fewer columns"
        )
    order = sorted(range(len(columns)), key=lambda j: -columns[j].domain)  # uniques leave early
    sets = ColumnSets.of(len(columns), most)
    codes = np.stack([columns[j].codes for j in order])
    missing = [columns[j].missing for j in order]
    blanks = [-1 if count_missing or code is None else code for code in missing]
    person, domain = table.person, max(column.domain for column in columns)
    shared = (
        codes,
        np.arange(len(table), dtype=np.int32) if person is None else person.ids,
        row_weights(table) > 1 if person is None else np.zeros(len(table), np.bool_),
        np.array(blanks, np.int32),
        sets.below,
    )
    unique = np.zeros((len(sets), words), np.int64)

    def find(task: tuple[int, int]) -> None:
        depths = most + 1
        rows = np.empty((depths, len(table)), np.int32)
        starts = np.empty((depths, len(table) + 1), np.int32)
        rows[0] = np.arange(len(table))
        starts[0, :2] = 0, len(table)
        small = [np.empty(depths, np.int64) for _ in range(3)]
        small[0][0] = 1
        scratch: list[NDArray[Any]] = [np.zeros(domain, np.int32) for _ in range(2)]
        scratch += [np.zeros(domain, np.bool_)] + [np.zeros(domain, np.int32) for _ in range(2)]
        scratch.append(np.zeros(words, np.int64))
        number = int(sets.starts[task[0]])
        _suda.find_uniques(*shared, *task, number, rows, starts, *small, *scratch, unique)

    tasks = [(i, -1) for i in range(len(columns))]
    if most > 1:
        tasks += [(i, j) for i in range(len(columns)) for j in range(i + 1, len(columns))]
    points = np.array([0.0, *(_points(len(columns), k, most) for k in range(1, most + 1))])
    padded = words * 64
    scores, found = np.zeros(padded), np.zeros((padded, most), np.int64)
    contributions = np.zeros((padded, len(columns)))
    steps = np.linspace(0, words, threads + 1).astype(np.int64)

    def score(block: tuple[int, int]) -> None:
        _suda.score_rows(
            unique, sets.parents, sets.subsets, sets.members, sets.sizes, points, *block,
            scores, contributions, found,
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(find, tasks))
        list(pool.map(score, pairwise(steps)))
    rows = len(table)
    by_name = np.empty((rows, len(columns)))
    by_name[:, order] = contributions[:rows]
    return Minimal(scores[:rows], by_name, found[:rows])


def _points(columns: int, size: int, most: int) -> float:
    """Return the score of a minimal sample unique of some columns."""
    return float(math.prod(columns - i for i in range(size, min(most, columns - 1) + 1)))
