"""Frequencies of frequencies: how many classes of each size a sample shows.

All that estimates of population uniqueness look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.arrays import Counts, frozen
from shoal.core.classes import Classes
from shoal.core.grouping import group
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Sizes of classes, ascending and each once, with the number of classes of that size."""

    sizes: Counts
    classes: Counts

    @classmethod
    def of(
        cls, source: Release | Table | Classes, columns: Sequence[str] | None = None
    ) -> Frequencies:
        """Return those of a release's classes, or of rows alike in some columns of a table.

        columns: of a table; by default its quasi-identifiers.
        """
        return cls.of_sizes(class_sizes(source, columns))

    @classmethod
    def of_sizes(cls, sizes: Counts) -> Frequencies:
        """Return those of classes of these sizes."""
        found, classes = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        return cls(frozen(found), frozen(classes.astype(np.int64)))

    def __repr__(self) -> str:
        return f"Frequencies(records={self.records}, classes={self.groups})"

    @property
    def records(self) -> int:
        """Records in all classes."""
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
        """Records that are alone in their class."""
        return self.having(1)


def class_sizes(source: Release | Table | Classes, columns: Sequence[str] | None = None) -> Counts:
    """(classes,) the records of each class of a release, or of rows alike in a table."""
    if isinstance(source, Table):
        chosen = [source[name] for name in chosen_columns(source, columns)]
        found = group([c.codes for c in chosen], [c.domain for c in chosen])
        return found.sizes(source.counts)
    if columns is not None:
        raise InputError("columns can be chosen of a table only; a release has its classes")
    return source.classes.sizes if isinstance(source, Release) else source.sizes


def chosen_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns asked for, by default the quasi-identifiers."""
    names = table.quasi if columns is None else tuple(dict.fromkeys(columns))
    if not names:
        raise InputError("no columns to go by; name some, or give quasi-identifiers their role")
    for name in names:
        table[name]  # refuses one that is not there
    return names
