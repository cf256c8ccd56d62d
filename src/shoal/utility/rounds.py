"""Who is learned from and who is tested: folds of one table, or a table of other people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Counts
from shoal.core.column import Column
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.wording import counted
from shoal.errors import InputError
from shoal.privacy.model import check_whole
from shoal.utility.matrices import columns_of
from shoal.utility.targets import Target


@dataclass(frozen=True, eq=False)
class Round:
    """One training and its test; rows are positions, repeated by multiplicity.

    released: training rows that were released; raw: these and those that were suppressed.
    columns, tested: the columns of the test rows, and which these are.
    truth: (test rows,) their labels.
    """

    released: Counts
    raw: Counts
    columns: Sequence[Column]
    tested: Counts
    truth: Any

    def __post_init__(self) -> None:
        if not len(self.released):
            raise InputError("no released record has a label to learn from")
        if not len(self.tested):
            raise InputError("no raw record has a label to test on")


def folded(
    release: Release, target: Target, cells: Sequence[Recoding], folds: int, seed: int
) -> list[Round]:
    """Return the rounds of a cross-validation; labels are spread evenly over the folds.

    The records of a weighted table are dealt one by one.
    """
    check_whole("folds", folds, 2)
    people = _people(release.original)
    people = people[target.known[people]]
    if len(people) < 2 * folds:
        raise InputError(
            f"{counted(len(people), 'record has', 'records have')} a label; {folds} folds need "
            f"{2 * folds} or more"
        )
    order = np.random.default_rng(seed).permutation(len(people))
    order = order[np.argsort(target.labels[people[order]], kind="stable")]
    fold = np.empty(len(people), dtype=np.int64)
    fold[order] = np.arange(len(people)) % folds
    columns = [each.column for each in cells]
    rounds = []
    for number in range(folds):
        train, tested = people[fold != number], people[fold == number]
        truth = target.labels[tested]
        rounds.append(Round(_released(release, train), train, columns, tested, truth))
    return rounds


def held_out(
    release: Release, target: Target, cells: Sequence[Recoding], test: Table
) -> list[Round]:
    """Return the only round of a given test table: trained on all, tested on its rows."""
    people = _people(release.original)
    people = people[target.known[people]]
    columns = columns_of(test, [each.name for each in cells])
    truth, labelled = target.labels_of(columns_of(test, [target.column.name])[0])
    if test.counts is not None:
        times = test.counts[labelled]
        truth, labelled = np.repeat(truth, times), np.repeat(labelled, times)
    return [Round(_released(release, people), people, columns, labelled, truth)]


def _people(table: Table) -> Counts:
    """Return the row of each record."""
    every = np.arange(len(table))
    return every if table.counts is None else np.repeat(every, table.counts)


def _released(release: Release, rows: Counts) -> Counts:
    return rows if release.suppressed is None else rows[~release.suppressed[rows]]
