"""Equivalence classes: rows that look alike, and what each class shows of sensitive columns.

Privacy models and metrics ask their questions here, class by class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.core.arrays import Codes, Counts, Floats, frozen
from shoal.core.grouping import group, sum_by
from shoal.core.histogram import Histogram, count_values
from shoal.core.table import Table

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table's rows.

    table: the rows; its sensitive columns are read class by class.
    ids: (rows,) the class of each row, SUPPRESSED for a row that is not released.
    origin: the table whose distributions count as known to everybody: the input, suppressed rows
        included.
    """

    table: Table
    ids: Codes
    origin: Table

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozen(self.ids))
        object.__setattr__(self, "_histograms", {})

    @classmethod
    def of(cls, table: Table, ids: Codes, origin: Table | None = None) -> Classes:
        """Return the classes that the ids describe, 0 … without gaps."""
        return cls(table, ids, table if origin is None else origin)

    @classmethod
    def by_quasi(cls, table: Table, origin: Table | None = None) -> Classes:
        """Return the classes of rows with equal quasi-identifiers."""
        quasi = table.quasi_columns
        grouping = group([c.codes for c in quasi], [c.domain for c in quasi])
        return cls.of(table, grouping.ids, origin)

    def __repr__(self) -> str:
        return f"Classes({len(self)} classes of {len(self.ids)} rows)"

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def sizes(self) -> Counts:
        """(classes,) records in each class."""
        classes = int(self.ids.max()) + 1 if len(self.ids) else 0
        sizes = sum_by(self.ids, classes, self.table.counts)
        if not sizes.all():
            raise ValueError("class ids must run from 0 without gaps")
        return frozen(sizes)

    @cached_property
    def suppressed(self) -> int:
        """Number of records that are not released."""
        return self.table.records - int(self.sizes.sum())

    def histogram(self, name: str) -> Histogram:
        """Return the counts of a column's values, class by class."""
        cache: dict[str, Histogram] = self.__dict__["_histograms"]
        if name not in cache:
            column = self.table[name]
            cache[name] = count_values(column, self.ids, len(self), self.table.counts)
        return cache[name]

    def distinct(self, name: str) -> Counts:
        """(classes,) how many different values of a column each class shows."""
        return np.diff(self.histogram(name).indptr)

    def shares(self, name: str) -> Floats:
        """Return, beside each histogram entry, its share of the class."""
        histogram = self.histogram(name)
        sizes = np.repeat(self.sizes, np.diff(histogram.indptr))
        return histogram.counts / sizes

    def reference(self, name: str) -> Floats:
        """(domain,) the share of each value in the input table."""
        return self.origin.shares(name)
