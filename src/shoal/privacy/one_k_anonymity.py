"""(1,k)-, (k,1)- and (k,k)-anonymity: counts of the pairs of people and records that fit.

Weaker than k-anonymity: a person may fit records that can only belong to other people.
Gionis, Mazza & Tassa, "k-Anonymization revisited", ICDE 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel
from shoal.support.arrays import Bools


@dataclass(frozen=True)
class OneKAnonymity(CoverageModel):
    """(1,k)-anonymity: each person fits released records of at least k people.

    Parameters:
        k: Least number of people whose released records a person fits.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, OneKAnonymity(2))
    >>> release.verify().levels
    {'one-k-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "one-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person fits released records of k people."""
        return coverage.released() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of people whose records a person fits."""
        return float(coverage.released().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people. Weaker than k-anonymity: a record may fit only one person, and an "
            "attacker who knows many people can rule records out."
        )


@dataclass(frozen=True)
class KOneAnonymity(CoverageModel):
    """(k,1)-anonymity: each released record fits at least k people.

    Parameters:
        k: Least number of people that a released record fits.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KOneAnonymity(2))
    >>> release.verify().levels
    {'k-one-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-one-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether k people fit its cells."""
        return coverage.originals() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of people that fit a record."""
        return float(coverage.originals().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Each released record fits at least {self.k} people of the table. Weaker than "
            "k-anonymity: a person may fit only one record, and an attacker who knows many people "
            "can rule some of them out."
        )


@dataclass(frozen=True)
class KKAnonymity(CoverageModel):
    """(k,k)-anonymity: each person fits records of k people, and each record fits k people.

    Parameters:
        k: Least number of people, in both directions.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KKAnonymity(2))
    >>> release.verify().levels
    {'k-k-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person and its cells both fit k people."""
        kept: Bools = (coverage.released() >= self.k) & (coverage.originals() >= self.k)
        return kept

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of partners of a person or a record."""
        return float(min(coverage.released().min(), coverage.originals().min()))

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people, and each record fits at least {self.k} people. Weaker than "
            "k-anonymity: an attacker who knows everyone in the table can rule some of them out."
        )
