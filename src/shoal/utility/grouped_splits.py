"""Splits that keep all rows of one person on the same side.

A model that is tested on people from its training rows recognizes them instead of predicting, so
its score says nothing about new people.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.people import Unit
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.wording import counted

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
