"""k-concealment: k records for each person, none of which can be ruled out by the others' needs.

Stronger than (k,k)-anonymity for a person, weaker than k-anonymity: the k records differ.
Tassa, Mazza & Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions on
Data Privacy 5(1), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.arrays import Bools
from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel


@dataclass(frozen=True)
class KConcealment(CoverageModel):
    """Each person fits k released records with everybody else still matched to one of theirs."""

    name: ClassVar[str] = "k-concealment"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, row by row, whether its person can have k different records."""
        return coverage.matchable() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the fewest records that a person can have."""
        return float(coverage.matchable().min())

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Even an attacker who knows everybody's quasi-identifiers finds records of at least "
            f"{self.k} people that could be a person's, with everybody else matched to some "
            "record. Weaker than k-anonymity: the records differ, and some may be more likely."
        )
