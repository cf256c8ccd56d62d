"""k-anonymity: every class holds at least k people.

Samarati & Sweeney, "Protecting privacy when disclosing information", 1998;
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.arrays import Bools
from shoal.core.classes import Classes
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model, check_whole


@dataclass(frozen=True)
class KAnonymity(Model):
    """Each record looks like at least k − 1 others in its quasi-identifiers.

    Monotone: merged classes only grow.
    """

    name: ClassVar[str] = "k-anonymity"
    monotone: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether it holds k records."""
        return classes.sizes >= self.k

    def level(self, classes: Classes) -> float:
        """Return the size of the smallest class."""
        return float(classes.sizes.min()) if len(classes) else float("inf")

    def check(self, table: Table) -> None:
        """Refuse a table of fewer than k records."""
        if table.records < self.k:
            raise InputError(
                f"k is {self.k} but the table has {table.records} records; choose a smaller k"
            )

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Who knows a person's quasi-identifiers finds at least {self.k} records that could be "
            "that person's."
        )
