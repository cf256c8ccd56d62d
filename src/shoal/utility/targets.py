"""Prediction targets: classes or numbers of a column that the release publishes unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from shoal.core.column import Column, Kind, Role
from shoal.core.release import Release
from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts
from shoal.support.options import check_choice
from shoal.utility.matrices import studied

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
