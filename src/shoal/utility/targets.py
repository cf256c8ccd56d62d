"""What is predicted, and splits that keep all rows of one person on the same side.

    Target          classes or numbers of a column that the release publishes unchanged
    assign_folds    folds with balanced labels; no person is in two folds
    tune_by_group   the same for estimators that split rows themselves
    TestedPeople    the people of a test table, and which of them the training table has

A model that is tested on people from its training rows recognizes them instead of predicting, so
its score says nothing about new people.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.options import check_choice
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table.column import Column, Kind, Role
from shoal.table.people import Unit
from shoal.table.table import Table
from shoal.utility.encodings import studied

Task = Literal["classification", "regression"]
TASKS: tuple[str, ...] = get_args(Task)
CLASSES = 20  # numbers with up to this many distinct values are treated as classes
_MAX_CLASSES = 100


@dataclass(frozen=True, eq=False)
class Target:
    """A column to predict.

    column: the original column, with one code per value.
    """

    column: Column
    task: str

    @classmethod
    def of(cls, release: Release, name: str, task: str | None) -> Target:
        """Return the target; numbers with more than 20 distinct values are a regression target."""
        if task is not None:
            check_choice("task", task, TASKS)
        column = release.original[name]
        if column.role is Role.IDENTIFIER:
            raise InputError(f"target {name!r} is an identifier, which is not released")
        if column.role is Role.QUASI and not _untouched(release, name):
            raise InputError(
                f"target {name!r} is a quasi-identifier that the release generalizes, so its cells "
                "cannot be used as labels; choose a sensitive or insensitive column"
            )
        column = studied(column)
        many = column.kind is Kind.NUMERIC and column.known > CLASSES
        chosen = task or ("regression" if many else "classification")
        if chosen == "regression" and column.kind is not Kind.NUMERIC:
            raise InputError(f"target {name!r} is {column.kind}; regression needs numbers")
        if chosen == "regression" and column.ruler.exponent:
            raise InputError(
                f"target {name!r} contains numbers that are too large or too small to compute "
                "errors; use another unit, or choose classification"
            )
        if column.known < 2:
            raise InputError(f"target {name!r} has fewer than two values; nothing can be learned")
        if chosen == "classification" and column.known > _MAX_CLASSES:
            raise InputError(
                f"target {name!r} has {column.known:,} values, more than the limit of "
                f"{_MAX_CLASSES} classes; choose another column, or one with numbers"
            )
        return cls(column, chosen)

    @property
    def regressed(self) -> bool:
        """Whether the task is regression, not classification."""
        return self.task == "regression"

    @property
    def classes(self) -> int:
        """Number of classes, 0 for regression."""
        return 0 if self.regressed else self.column.known

    @property
    def known(self) -> Bools:
        """(rows,) whether the row has a label; rows without one are ignored."""
        return self.column.codes < self.column.known

    @property
    def labels(self) -> Any:
        """(rows,) numbers, or class codes."""
        if self.regressed:
            return self.column.positions[self.column.codes]
        return self.column.codes.astype(np.int64)

    def labels_of(self, column: Column) -> tuple[Any, Counts]:
        """Return the labels of another table, and its rows that have one.

        A class that the original does not have is −1: no model can predict it.
        """
        null = column.values.is_null().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(~null[column.codes])
        if self.regressed:
            if not encoding.is_numeric(column.values.type):
                raise InputError(f"test: column {column.name!r} must contain numbers")
            return self.column.ruler.positions(column.values)[column.codes[rows]], rows
        code_of = {text: code for code, text in enumerate(self.column.labels[: self.classes])}
        codes = np.array([code_of.get(text, -1) for text in encoding.texts(column.values)])
        return codes[column.codes[rows]], rows


def _untouched(release: Release, name: str) -> bool:
    """Return whether every released cell of a quasi-identifier is a single value."""
    cells = release.recodings[name]
    codes = cells.codes if release.suppressed is None else cells.codes[~release.suppressed]
    return bool((cells.subsets.sizes[codes] == 1).all())


_MAX_STRATA = 10  # for numeric labels
_FOLDS = 5  # of an estimator that tunes itself without a number of folds


def owners(table: Table) -> Codes | None:
    """Return (rows,) the person of each row, or the household; None if no two rows share one."""
    unit = table.person or table.household
    alone = unit is None or (table.counts is None and unit.count == len(table))
    return None if alone or unit is None else unit.ids


def assign_folds(labels: Any, groups: Codes, folds: int, seed: int) -> Counts:
    """Return (rows,) the fold of each row: labels are balanced, and no group is in two folds."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    fold = np.empty(len(labels), dtype=np.int64)
    parts = splitter.split(np.zeros(len(labels)), _strata(labels, folds), groups)
    for number, (_, tested) in enumerate(parts):
        fold[tested] = number
    return fold


def _strata(labels: Any, folds: int) -> Counts:
    """Return (rows,) the class of each row, or its rank; rare classes join the most common one."""
    # numbers are balanced by tenths of their ranks
    if labels.dtype.kind == "f":
        ranks = np.empty(len(labels), dtype=np.int64)
        ranks[np.argsort(labels, kind="stable")] = np.arange(len(labels))
        strata: Counts = ranks * min(_MAX_STRATA, max(len(labels) // folds, 1)) // len(labels)
    else:
        strata = np.unique(labels, return_inverse=True)[1]
    counts = np.bincount(strata)
    return np.where(counts[strata] < folds, counts.argmax(), strata)


def tune_by_group(name: str, model: Any, features: Any, labels: Any, groups: Codes) -> None:
    """Give an estimator that tunes itself by cross-validation splits that keep groups together.

    Every parameter `cv` that is a number or None becomes a list of grouped splits; any other
    splitter raises an error if its splits divide a group.
    """
    options = model.get_params()
    tuned = [key for key in options if key == "cv" or key.endswith("__cv")]
    for key in tuned:
        outer = [other for other in tuned if other != key and key.startswith(other[:-2])]
        if outer:
            raise InputError(
                f"model {name!r}: {key} splits rows inside the splits of {outer[0]}, so the rows "
                "of one person cannot be kept together; remove one of the two splits"
            )
        if not isinstance(options[key], str):
            parts = _inner_splits(options[key], features, labels, groups)
            if any(len(np.intersect1d(groups[train], groups[test])) for train, test in parts):
                raise InputError(
                    f"model {name!r}: {key} puts rows of one person into both training and test; "
                    "use a number of folds, GroupKFold or StratifiedGroupKFold"
                )
            model.set_params(**{key: parts})


def _inner_splits(cv: Any, features: Any, labels: Any, groups: Codes) -> list[tuple[Any, Any]]:
    """Return the training and test rows of each inner split."""
    from sklearn.model_selection import check_cv

    if cv is None or isinstance(cv, int):
        folds = max(min(cv or _FOLDS, len(np.unique(groups))), 2)
        fold = assign_folds(labels, groups, folds, seed=0)
        return [(np.flatnonzero(fold != n), np.flatnonzero(fold == n)) for n in range(folds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # KFold warns that it ignores groups
        return list(check_cv(cv).split(features, labels, groups))


@dataclass(frozen=True, eq=False)
class TestedPeople:
    """The people of a test table.

    groups: (rows,) the person of each row, None if each row is a different person.
    new: (rows,) whether the row is about a person who is not in the training table.
    known: number of people of the test table who are in the training table.
    """

    groups: Codes | None
    new: Bools
    known: int

    @classmethod
    def of(cls, test: Table, original: Table) -> TestedPeople:
        """Compare the people of two tables by the values of the columns that identify them."""
        unit = original.person or original.household
        if unit is None:
            return cls(owners(test), np.ones(len(test), dtype=np.bool_), 0)
        for table, role in ((original, "the table"), (test, "the test table")):
            absent = [name for name in unit.columns if name not in table]
            if absent:
                raise InputError(
                    f"test: {role} does not have column {absent[0]!r}, which identifies people, so "
                    "people who are in both tables cannot be recognized; read it with the same "
                    "person columns"
                )
        both = Unit.of(_stacked(test, original, unit.columns), unit.columns, "person")
        ours, theirs = both.ids[: len(test)], both.ids[len(test) :]
        new = ~np.isin(ours, theirs)
        return cls(ours, new, len(np.unique(ours[~new])))

    def check(self) -> None:
        """Raise an error if the test table has no new person."""
        if not self.new.any():
            raise InputError(
                f"test: {counted(self.known, 'person is', 'people are')} also in the training "
                "table, and there is no one else to test on; give rows about other people"
            )


def _stacked(test: Table, original: Table, columns: Sequence[str]) -> Any:
    """Return the columns of both tables as one Arrow table, the test rows first."""
    cells = {}
    for name in columns:
        both = [encoding.combined(table[name].to_arrow(), name) for table in (test, original)]
        if both[0].type != both[1].type:
            both = [pa.array(encoding.texts(each), pa.string()) for each in both]
        cells[name] = pa.concat_arrays(both)
    return pa.table(cells)
