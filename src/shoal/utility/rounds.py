"""Training and test rows: folds of one table, or a table of other people.

No person is in both: all rows of a person are in the same fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_whole
from shoal.support.wording import counted
from shoal.utility.grouped_splits import TestedPeople, assign_folds, owners
from shoal.utility.matrices import columns_of
from shoal.utility.targets import Target


@dataclass(frozen=True, eq=False)
class Round:
    """One round of training and testing; rows are positions, repeated by multiplicity.

    released: released training rows; raw: these and the suppressed training rows.
    columns: the columns of the test table; tested: the test rows.
    truth: (test rows,) their labels.
    weights: (test rows,) their sampling weights, None if there are none.
    """

    released: Counts
    raw: Counts
    columns: Sequence[Column]
    tested: Counts
    truth: Any
    weights: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.released):
            raise InputError("no released record has a label to learn from")
        if not len(self.tested):
            raise InputError("no raw record has a label to test on")


@dataclass(frozen=True, eq=False)
class Split:
    """The rounds of an evaluation.

    groups: (test table's rows,) the person of each row, None if each row is a different person.
    left_out: rows of a test table that are about people of the training table.
    """

    rounds: Sequence[Round]
    groups: Codes | None
    left_out: int = 0

    @property
    def tested(self) -> Counts:
        """(tests,) the test rows of all rounds."""
        return np.concatenate([part.tested for part in self.rounds])

    @property
    def tested_groups(self) -> Codes | None:
        """(tests,) the person of each test row, None if each row is a different person."""
        return None if self.groups is None else self.groups[self.tested]


def people_of(rows: Counts, groups: Codes | None) -> int:
    """Return how many people some rows are about."""
    return len(rows) if groups is None else len(np.unique(groups[rows]))


def split_folds(
    release: Release, target: Target, cells: Sequence[Recoding], folds: int, seed: int
) -> Split:
    """Return the rounds of a cross-validation; labels are balanced over the folds.

    The records of a weighted table are assigned individually unless they belong to one person.
    """
    check_whole("folds", folds, 2)
    rows = labelled(release.original, target)
    groups = owners(release.original)
    people = people_of(rows, groups)
    if people < 2 * folds:
        one, many = ("record", "records") if groups is None else ("person", "people")
        raise InputError(
            f"{counted(people, f'{one} has', f'{many} have')} a label; {folds} folds need at least "
            f"{2 * folds}"
        )
    if groups is None:
        fold = _assign_rows(target.labels[rows], folds, seed)
    else:
        fold = assign_folds(target.labels[rows], groups[rows], folds, seed)
    columns = [each.column for each in cells]
    rounds = []
    for number in range(folds):
        train, tested = rows[fold != number], rows[fold == number]
        truth = target.labels[tested]
        weights = weights_at(release.original, tested)
        released = released_among(release, train)
        rounds.append(Round(released, train, columns, tested, truth, weights))
    return Split(rounds, groups)


# As balanced as scikit-learn's StratifiedKFold in a quarter of the time. Numbers are balanced too,
# where StratifiedKFold accepts only classes, and rare classes cause no warning.
def _assign_rows(labels: Any, folds: int, seed: int) -> Counts:
    """Return (rows,) the fold of each row: rows are shuffled, sorted by label, dealt in turn."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def split_by_table(
    release: Release, target: Target, cells: Sequence[Recoding], test: Table
) -> Split:
    """Return the single round of a given test table: training on all rows, tests on new people."""
    people = TestedPeople.of(test, release.original)
    people.check()
    rows = labelled(release.original, target)
    columns = columns_of(test, [each.name for each in cells])
    truth, tested = target.labels_of(columns_of(test, [target.column.name])[0])
    new = people.new[tested]
    truth, tested, known = truth[new], tested[new], np.flatnonzero(~people.new)
    if test.counts is not None:
        times = test.counts[tested]
        truth, tested = np.repeat(truth, times), np.repeat(tested, times)
        known = np.repeat(known, test.counts[known])
    weights = weights_at(test, tested)
    single = Round(released_among(release, rows), rows, columns, tested, truth, weights)
    return Split([single], people.groups, len(known))


def weights_at(table: Table, rows: Counts) -> Floats | None:
    """Return the sampling weights of some rows, None if the table has none."""
    return None if table.weights is None else table.weights.values[rows]


def labelled(table: Table, target: Target) -> Counts:
    """Return the row of each record that has a label."""
    rows = np.arange(len(table))
    if table.counts is not None:
        rows = np.repeat(rows, table.counts)
    return rows[target.known[rows]]


def released_among(release: Release, rows: Counts) -> Counts:
    """Return the released rows among some rows."""
    return rows if release.suppressed is None else rows[~release.suppressed[rows]]
