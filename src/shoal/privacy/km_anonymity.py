"""kᵐ-anonymity: any m rows of a person fit at least k people, equal rows included.

Weaker than k-anonymity of all linked rows together, and keeps far more detail of events.
Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008,
define it for sets of items. Rows of a person can be equal, so here it is a condition on multisets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import InputError
from shoal.privacy.model import SizeModel
from shoal.support.arrays import Bools
from shoal.support.options import check_whole
from shoal.table.classes import Classes, CountedClasses

_MAX_EVENTS = 5  # multisets of more cannot be counted


@dataclass(frozen=True)
class KmAnonymity(SizeModel):
    """At least k people have every multiset of at most m rows that one person has.

    For tables in which a person has several rows, such as visits, and a pseudonym may link them. A
    person has a multiset of rows if she has, for each row in it, at least as many rows with the
    same quasi-identifiers. An attacker who knows two visits to ward 1 finds k people with at least
    two visits to ward 1. If each person has one row, it is k-anonymity. The exact number of a
    person's rows, and rows that a person does not have, are not covered.

    Monotone: let f map each class to the class that it is merged into, and let A' be at most m rows
    of a person after merging. The same rows before merging are a multiset A with f(A) = A'. At
    least k people have A, so each of them has f(A) = A' after merging.

    Parameters:
        k: Minimum number of people with each multiset.
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

    @property
    def equivalent_size(self) -> int:
        """The least class size that is the same condition if each person has one row: k."""
        return self.k

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether k people have every multiset that it is part of."""
        if not _has_several_rows(classes):
            return classes.sizes >= self.k
        meets: Bools = ~classes.combinations(self.m, self.k).rare & (classes.sizes >= self.k)
        return meets

    def level(self, classes: Classes) -> float:
        """Return the fewest people with a multiset that a person has."""
        if not _has_several_rows(classes) or not len(classes):
            return super().level(classes)
        fewest = classes.combinations(self.m, self.k).fewest
        return float(min(fewest, int(classes.sizes.min())))

    def describe(self) -> str:
        """Return what the model guarantees."""
        rows = "one row" if self.m == 1 else f"up to {self.m} rows"
        return f"Anyone who knows {rows} of a person finds at least {self.k} matching people."


def _has_several_rows(classes: Classes) -> bool:
    """Return whether a person has several rows.

    Raises:
        InputError: Only counts of classes are known, not the rows of each person.
    """
    if isinstance(classes, CountedClasses):
        raise InputError("km-anonymity needs the rows of each person; read the table into memory")
    return classes.table.unit is not None
