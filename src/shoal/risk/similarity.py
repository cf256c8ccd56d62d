"""Similarity: the sensitive values of a class differ, but mean nearly the same.

Three stomach diseases, or three low incomes, count as diverse, but reveal much.
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.metrics.cells import class_width
from shoal.privacy.model import ROUNDING
from shoal.risk.candidates import Candidates, Source
from shoal.support.arrays import Bools, Floats

NARROW = 0.1  # share of the people of the table inside a narrow range


@dataclass(frozen=True)
class Similarity:
    """Result of `similarity`: people whose candidates have similar sensitive values.

    Attributes:
        column: The sensitive column.
        by: How values are compared: by their order or their hierarchy.
        people: Released people.
        alike: People with only similar values, including equal ones.
        different: Those of them with more than one value, which homogeneity does not count.
        width: Width of the narrowest range of values relative to the column; None by hierarchy.
        between: Smallest share of people of the original inside a range; None by hierarchy.
    """

    column: str
    by: Literal["order", "hierarchy"]
    people: int
    alike: int
    different: int
    width: float | None = None
    between: float | None = None

    @property
    def alike_share(self) -> float:
        """Share of the released people with only similar values."""
        return self.alike / max(self.people, 1)

    @property
    def different_share(self) -> float:
        """Share of the released people with different values that are all similar."""
        return self.different / max(self.people, 1)


def similarity(source: Source, column: str) -> Similarity:
    """Count the people whose candidates have similar values.

    In a numeric or ordinal column, values are similar if at most 10 % of the people of the original
    are in their range. Widths would not do: a tenth of the range of incomes may contain nearly
    everyone. A missing value is similar to no other. In a nominal column with a hierarchy, values
    are similar if one label below the root covers them.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The number of people with similar values.

    Raises:
        InputError: The column is nominal and has no hierarchy.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": range(30, 62), "income": range(20, 52)})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="income")
    >>> similarity(release, "income").different_share
    1.0
    """
    found = Candidates.of(source, column)
    if found.column.ordered:
        return _in_order(found)
    if found.column.hierarchy is None:
        raise InputError(
            f"column {column!r} is nominal and has no hierarchy, so its values have no distances; "
            "give it a hierarchy or an order"
        )
    alike = found.single | _under_one_label(found, found.column.hierarchy)
    return _counted(found, "hierarchy", alike)


def is_comparable(source: Source, column: str) -> bool:
    """Return whether values of a column can be compared: by an order or a hierarchy."""
    table = source.original if isinstance(source, Release) else source.table
    return table[column].ordered or table[column].hierarchy is not None


def _in_order(found: Candidates) -> Similarity:
    widths = class_width(found.column, found.values) if len(found) else np.zeros(0)
    between = _people_between(found)
    return _counted(
        found,
        "order",
        found.single | (between <= NARROW + ROUNDING),
        width=float(widths.min()) if len(found) else None,
        between=float(between.min()) if len(found) else None,
    )


def _people_between(found: Candidates) -> Floats:
    """Return, for each group, the share of people of the original in the range of its values."""
    column, values = found.column, found.values
    usual = found.usual / max(float(found.usual.sum()), 1.0)  # people may have several values
    upto = np.concatenate(([0.0], np.cumsum(usual)))
    first, last = values.codes[values.indptr[:-1]], values.codes[values.indptr[1:] - 1]
    between: Floats = upto[last + 1] - upto[first]
    if column.missing is not None:
        between[(last == column.missing) & (first < last)] = 1.0
    return between


def _under_one_label(found: Candidates, hierarchy: Hierarchy) -> Bools:
    """Return, for each group, whether one label below the root covers all its values.

    The highest level with several labels decides: those below it are finer.
    """
    several = [level for level in hierarchy.levels if len(level) > 1]
    if not several or not len(found):
        return np.zeros(len(found), dtype=np.bool_)
    labels = several[-1].groups[found.values.codes]
    starts = found.values.indptr[:-1]
    same: Bools = np.minimum.reduceat(labels, starts) == np.maximum.reduceat(labels, starts)
    return same


def _counted(
    found: Candidates,
    by: Literal["order", "hierarchy"],
    alike: Bools,
    width: float | None = None,
    between: float | None = None,
) -> Similarity:
    return Similarity(
        found.column.name,
        by,
        people=found.total,
        alike=found.count(alike),
        different=found.count(alike & ~found.single),
        width=width,
        between=between,
    )
