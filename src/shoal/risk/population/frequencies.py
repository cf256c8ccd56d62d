"""Frequencies of frequencies: the number of classes of each size in a sample.

Estimates of population uniqueness depend on nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.grouping import group
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Counts, frozen


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Sizes of classes, ascending and distinct, with the number of classes of each size.

    A size is a number of people. A person with rows in several classes counts once in each, so
    `records` is a number of people only if no one has two different rows.

    Parameters:
        sizes: The distinct sizes.
        classes: The number of classes of each size.
    """

    sizes: Counts
    classes: Counts

    @classmethod
    def of(
        cls, source: Release | Table | Classes, columns: Sequence[str] | None = None
    ) -> Frequencies:
        """Return the frequencies of the classes of a release, or of equal rows of a table.

        Classes are counted by people, not by rows.

        Parameters:
            source: A release, a table, or classes.
            columns: For a table, the columns to compare; by default its quasi-identifiers.
        """
        return cls.of_sizes(class_sizes(source, columns))

    @classmethod
    def of_sizes(cls, sizes: Counts) -> Frequencies:
        """Return the frequencies of classes of these sizes."""
        found, classes = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        return cls(frozen(found), frozen(classes.astype(np.int64)))

    def __repr__(self) -> str:
        return f"Frequencies(records={self.records}, classes={self.groups})"

    @property
    def records(self) -> int:
        """People in all classes, counted once for each class; records if each row is a person."""
        return int((self.sizes * self.classes).sum())

    @property
    def groups(self) -> int:
        """Number of classes."""
        return int(self.classes.sum())

    def having(self, size: int) -> int:
        """Return the number of classes of one size."""
        return int(self.classes[self.sizes == size].sum())

    @property
    def uniques(self) -> int:
        """People who are alone in a class, counted once for each such class."""
        return self.having(1)


def class_sizes(source: Release | Table | Classes, columns: Sequence[str] | None = None) -> Counts:
    """(classes,) the number of people in each class of a release, or of equal rows of a table.

    Raises:
        InputError: Columns are given for something other than a table.
    """
    if isinstance(source, Table):
        return classes_by(source, columns).people
    if columns is not None:
        raise InputError("columns can only be chosen for a table; a release has fixed classes")
    return source.classes.people if isinstance(source, Release) else source.people


def classes_by(table: Table, columns: Sequence[str] | None = None) -> Classes:
    """Return the classes of equal rows in some columns, by default the quasi-identifiers."""
    chosen = [table[name] for name in chosen_columns(table, columns)]
    return Classes.of(table, group([c.codes for c in chosen], [c.domain for c in chosen]).ids)


def chosen_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given columns, by default the quasi-identifiers.

    Raises:
        InputError: There are no columns to compare, or a column does not exist.
    """
    names = table.quasi if columns is None else tuple(dict.fromkeys(columns))
    if not names:
        raise InputError("no columns to compare; name columns, or declare quasi-identifiers")
    for name in names:
        table[name]  # raises if it does not exist
    return names
