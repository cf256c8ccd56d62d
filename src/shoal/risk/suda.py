"""SUDA2: special uniques, the records that few columns suffice to single out.

A minimal sample unique of a record is a set of columns on which it is unique, and on none of whose
parts it is. All of them up to a size are found, exactly. The fewer columns, the higher the score.

    ColumnSets.of   numbers all sets of columns, depth first
    find_minimal    searches them: each pair of first columns is a task of its own; tasks and blocks
                    of rows run in parallel (`_suda.py`)
    suda            scores of records, shares of columns, and DIS, the probability that a link is
                    right

Elliot, Manning & Ford, "A computational algorithm for handling the special uniques problem", IJUFKS
10(5), 2002; Manning, Haglin & Keane, "A recursive search algorithm for statistical disclosure
assessment", DMKD 16(2), 2008; for DIS Skinner & Elliot, "A measure of disclosure risk for
microdata", JRSS B 64(4), 2002.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.risk.graphs import rows_of
from shoal.risk.population.frequencies import classes_by
from shoal.risk.reidentification import by_person, row_weights
from shoal.support.arrays import Codes, Counts, Floats, frozen
from shoal.support.options import check_range, check_whole
from shoal.table.classes import Classes
from shoal.table.table import Table

INTERVALS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)  # of DIS-SUDA scores


@dataclass(frozen=True, eq=False)
class Suda:
    """Result of `suda`: the minimal sample uniques of each record, and their scores.

    Attributes:
        columns: The columns, which others may know.
        most: Largest number of columns in a set.
        people: Number of people.
        scores: (rows,) the SUDA score of each record, 0 if it has no minimal sample unique.
        minimal: (rows, most) the number of minimal sample uniques of each size.
        contributions: (rows, columns) the part of the score from sets that have the column.
        weights: (rows,) how many people have the score; of a person with several rows, only the
            row with the highest score counts.
        uniques: Number of people who are unique on all columns.
        pairs: Number of people whose values exactly one other person has.
        sampling_fraction: Share of the population that the records are, None if it is not stated.
    """

    columns: tuple[str, ...]
    most: int
    people: int
    scores: Floats
    minimal: Counts
    contributions: Floats
    weights: Counts
    uniques: int
    pairs: int
    sampling_fraction: float | None = None

    def __repr__(self) -> str:
        return f"Suda(columns={list(self.columns)}, most={self.most}, at_risk={self.at_risk})"

    @property
    def at_risk(self) -> int:
        """Number of people with a minimal sample unique."""
        return int(self.weights[self.scores > 0].sum())

    @property
    def by_column(self) -> Mapping[str, float]:
        """Share of the total score from sets with each column; the shares add up to more than 1."""
        total = float(self.scores.sum())
        shares = self.contributions.sum(axis=0) / total if total else np.zeros(len(self.columns))
        return dict(zip(self.columns, shares.tolist(), strict=True))

    @property
    def by_size(self) -> tuple[int, ...]:
        """Number of minimal sample uniques of each size, from one column up."""
        return tuple(int(count) for count in self.minimal.sum(axis=0))

    @property
    def dis(self) -> float | None:
        """Probability that a match with a sample unique is correct; None without a fraction."""
        fraction = self.sampling_fraction
        if fraction is None:
            return None
        right = self.uniques * fraction
        return right / (right + self.pairs * (1 - fraction)) if right else 0.0

    @property
    def dis_scores(self) -> Floats | None:
        """(rows,) the DIS-SUDA score: the probability that a match with the record is correct.

        The scores are scaled such that uniques with the same SUDA score have the risk `dis`.
        """
        dis = self.dis
        if dis is None:
            return None
        risks = np.zeros(len(self.scores))
        at_risk = self.scores > 0
        if not dis or not at_risk.any():
            return risks
        powers = self.scores[at_risk] ** (1 + (8 - len(self.columns)) / 20)
        wrong = self.uniques * (1 / dis - 1)
        risks[at_risk] = 1 / (1 + wrong / (powers * (1 / powers).sum()))
        return risks

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        figures: dict[str, Any] = {
            "columns": list(self.columns),
            "most": self.most,
            "people": self.people,
            "at_risk": self.at_risk,
            "uniques": self.uniques,
            "pairs": self.pairs,
            "highest": float(self.scores.max(initial=0.0)),
            "by_size": list(self.by_size),
            "by_column": dict(self.by_column),
            "sampling_fraction": self.sampling_fraction,
            "dis": self.dis,
        }
        scores = self.dis_scores
        if scores is not None:
            figures["dis_highest"] = float(scores.max(initial=0.0))
            figures["dis_intervals"] = [
                {
                    "above": low,
                    "to": high,
                    "people": int(self.weights[(scores > low) & (scores <= high)].sum()),
                }
                for low, high in pairwise(INTERVALS)
            ]
        return figures


def suda(
    source: Release | Table,
    *,
    known: Sequence[str] | None = None,
    most: int | None = None,
    sampling_fraction: float | None = None,
    count_missing: bool = True,
    threads: int | None = None,
) -> Suda:
    """Find the minimal sample uniques of each record, and score the records by them.

    A set of k of the m columns scores (m − k)!, or ∏ (m − i) for i from k to `most` if larger sets
    are not searched. If people have several rows, a row is unique on a set if no other person has
    its values.

    Parameters:
        source: A table, or a release, whose published cells are compared as text.
        known: The columns that others may know; by default the quasi-identifiers.
        most: Largest number of columns in a set; by default all.
        sampling_fraction: Share of the population that the records are, for DIS-SUDA; by default
            people / sum of the sampling weights, if the table has weights.
        count_missing: Whether a missing value is a value like any other. If not, no set with a
            missing value makes a record unique.
        threads: Number of threads, by default one for each core; the result does not depend on it.

    Returns:
        The scores of all records.

    Raises:
        InputError: There are no columns, or too many sets of columns.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [30, 30, 40, 40], "sex": ["f", "m", "f", "f"], "job": list("abbb")})
    >>> found = suda(shoal.read(rows, roles=dict.fromkeys(rows.column_names, "quasi")))
    >>> found.scores.tolist(), found.by_size
    ([3.0, 3.0, 0.0, 0.0], (2, 2, 0))
    """
    table = rows_of(source, known)
    names = table.quasi
    most = len(names) if most is None else most
    check_whole("most", most, 1)
    most = min(most, len(names))
    if threads is not None:
        check_whole("threads", threads, 1)
    fraction = _fraction(table, sampling_fraction)
    minimal = find_minimal(table, most, count_missing, threads or os.cpu_count() or 1)
    classes = classes_by(table, names)
    people = classes.people
    return Suda(
        names,
        most,
        table.people,
        frozen(minimal.scores),
        frozen(minimal.found),
        frozen(minimal.contributions),
        frozen(_counted(table, minimal.scores)),
        int((people == 1).sum()),
        int(2 * (people == 2).sum()),
        fraction,
    )


def _fraction(table: Table, stated: float | None) -> float | None:
    """Return the sampling fraction: the stated one, or people / sum of the weights."""
    if stated is not None:
        check_range("sampling_fraction", stated, 0, 1, above=True)
        return stated
    if table.weights is None:
        return None
    every = Classes.of(table, np.zeros(len(table), dtype=np.int32))
    return min(table.people / float(every.represented[0]), 1.0) if len(table) else None


def _counted(table: Table, scores: Floats) -> Counts:
    """(rows,) how many people have the score of the row; one row counts for each person."""
    weights = row_weights(table)
    person = table.person
    if person is None:
        return weights
    highest, _ = by_person(scores, weights, person, np.maximum)
    best = np.flatnonzero(scores == highest[person.ids])
    once = np.zeros(len(scores), dtype=np.int64)
    once[best[np.unique(person.ids[best], return_index=True)[1]]] = 1
    return once


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
    set_count = _count_sets(len(columns), most) - 1
    if set_count * words > _MAX_WORDS:
        raise InputError(
            f"{set_count:,} sets of up to {most} of {len(columns)} columns are too many for "
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
    # (sets, words) one bit for each row; tasks write the rows of different sets
    unique = np.zeros((len(sets), words), np.int64)

    def find(task: tuple[int, int]) -> None:
        # scratch of one task, named as in the kernel; depth 0 has one group of all rows
        depths = most + 1
        rows = np.empty((depths, len(table)), np.int32)
        starts = np.empty((depths, len(table) + 1), np.int32)
        rows[0] = np.arange(len(table))
        starts[0, :2] = 0, len(table)
        groups, path, numbers = (np.empty(depths, np.int64) for _ in range(3))
        groups[0] = 1
        count, owner, place, touched = (np.zeros(domain, np.int32) for _ in range(4))
        mixed, spare = np.zeros(domain, np.bool_), np.zeros(words, np.int64)
        _suda.find_uniques(
            *shared, *task, int(sets.starts[task[0]]), rows, starts, groups, path, numbers,
            count, owner, mixed, place, touched, spare, unique,
        )  # fmt: skip

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
