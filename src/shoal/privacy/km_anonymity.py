"""kᵐ-anonymity: any m rows of a person fit at least k people.

Weaker than k-anonymity of all linked rows together, and keeps far more detail of events.
Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.counted_classes import CountedClasses
from shoal.core.linked_events import EventCounts, count_combinations
from shoal.errors import InputError
from shoal.privacy.model import SizeModel
from shoal.support.arrays import Bools
from shoal.support.options import check_whole

_MAX_EVENTS = 5  # combinations of more cannot be counted


@dataclass(frozen=True)
class KmAnonymity(SizeModel):
    """At least k people have every combination of at most m rows that one person has.

    For tables in which a person has several rows, such as visits, and a pseudonym may link them. If
    each person has one row, it is k-anonymity. The number of a person's rows is not covered.
    Monotone: every combination of merged classes contains one of their parts.

    Parameters:
        k: Least number of people with each combination.
        m: The number of a person's rows that an attacker may know.

    >>> import pyarrow as pa
    >>> import shoal
    >>> visits = pa.table({"who": list("aabbcc"), "ward": ["1", "2", "1", "2", "1", "2"]})
    >>> shoal.check(visits, KmAnonymity(3, 2), quasi="ward", person="who").smallest
    3
    """

    name: ClassVar[str] = "km-anonymity"
    over_rows: ClassVar[bool] = True
    m: int = 2

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)
        check_whole("m", self.m, 1)
        if self.m > _MAX_EVENTS:
            raise InputError(f"m must be {_MAX_EVENTS} or less, not {self.m}")

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether k people have every combination that it is part of."""
        if not _has_several_rows(classes):
            return classes.sizes >= self.k
        kept: Bools = ~self._counted(classes).rare & (classes.sizes >= self.k)
        return kept

    def level(self, classes: Classes) -> float:
        """Return the fewest people with a combination that a person has."""
        if not _has_several_rows(classes) or not len(classes):
            return super().level(classes)
        return float(min(self._counted(classes).fewest, int(classes.sizes.min())))

    def describe(self) -> str:
        """Return what the model guarantees."""
        rows = "one row" if self.m == 1 else f"up to {self.m} rows"
        return f"Anyone who knows {rows} of a person finds at least {self.k} matching people."

    def _counted(self, classes: Classes) -> EventCounts:
        unit = classes.table.unit
        assert unit is not None
        rows = np.flatnonzero(classes.ids >= 0)
        people = unit.take(rows).ids
        return count_combinations(people, classes.ids[rows], events=self.m, k=self.k)


def _has_several_rows(classes: Classes) -> bool:
    """Return whether a person has several rows.

    Raises:
        InputError: Only counts of classes are known, not the rows of each person.
    """
    if isinstance(classes, CountedClasses):
        raise InputError("km-anonymity needs the rows of each person; read the table into memory")
    return classes.table.unit is not None
