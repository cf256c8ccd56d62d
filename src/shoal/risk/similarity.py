"""Similarity: the sensitive values of a class differ, and yet mean much the same.

Three stomach diseases, or three low incomes, are diverse to a count and one thing to a reader.
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

NARROW = 0.1  # share of the table's people between the ends of a narrow range


@dataclass(frozen=True)
class Similarity:
    """People whose candidates show close sensitive values.

    by: how values are compared, in order or by their hierarchy.
    people: those released; alike: those with close values only, equal ones included.
    different: those among them with more than one value: what homogeneity does not count.
    width: the narrowest range of values against the column's extent; None by hierarchy.
    between: the least share of the input's people between the ends of a range; None likewise.
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
        """Share of the released people with close values only."""
        return self.alike / max(self.people, 1)

    @property
    def different_share(self) -> float:
        """Share of the released people with different values, all of them close."""
        return self.different / max(self.people, 1)


def similarity(source: Source, column: str) -> Similarity:
    """Count the people whose candidates show values close in meaning.

    In a numeric or ordinal column values are close where a tenth of the input's people, or fewer,
    lie between their ends: incomes spread unevenly, so that a tenth of the range may hold nearly
    everybody. A missing value is close to no other. In a nominal column with a hierarchy they are
    close where one label below the root covers them.
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
    """Whether it is known which values of a column are close: by an order or a hierarchy."""
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
    """Return, group by group, the share of the input's people between the ends of its values."""
    column, values = found.column, found.values
    usual = found.usual / max(float(found.usual.sum()), 1.0)  # people may show several values
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
