"""(1,k)-, (k,1)- and (k,k)-anonymity: counting who fits whom, one by one.

Weaker than k-anonymity: a person may fit records that can only be other people's.
Gionis, Mazza & Tassa, "k-Anonymization revisited", ICDE 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.arrays import Bools
from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel


@dataclass(frozen=True)
class OneKAnonymity(CoverageModel):
    """(1,k)-anonymity: each person fits at least k released records."""

    name: ClassVar[str] = "one-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, row by row, whether its person fits k released records."""
        return coverage.released() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the fewest records that a person fits."""
        return float(coverage.released().min())

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people. Weaker than k-anonymity: a record may fit one person alone, and an "
            "attacker who knows many people can rule records out."
        )


@dataclass(frozen=True)
class KOneAnonymity(CoverageModel):
    """(k,1)-anonymity: each released record fits at least k people."""

    name: ClassVar[str] = "k-one-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, row by row, whether k people fit its cells."""
        return coverage.originals() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the fewest people that fit a record."""
        return float(coverage.originals().min())

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Each released record fits at least {self.k} people of the table. Weaker than "
            "k-anonymity: a person may fit one record alone, and an attacker who knows many people "
            "can rule some out."
        )


@dataclass(frozen=True)
class KKAnonymity(CoverageModel):
    """(k,k)-anonymity: each person fits k released records, each released record k people."""

    name: ClassVar[str] = "k-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, row by row, whether its person fits k records and its cells k people."""
        kept: Bools = (coverage.released() >= self.k) & (coverage.originals() >= self.k)
        return kept

    def level_for(self, coverage: Coverage) -> float:
        """Return the fewest partners that a person or a record has."""
        return float(min(coverage.released().min(), coverage.originals().min()))

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people, and each record fits at least {self.k} people. Weaker than "
            "k-anonymity: an attacker who knows everybody in the table can rule some of them out."
        )
