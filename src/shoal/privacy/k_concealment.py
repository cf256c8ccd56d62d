"""k-concealment: each person could have k records, even if everyone else must have one as well.

Stronger than (k,k)-anonymity for a person, weaker than k-anonymity: the k records differ.
Tassa, Mazza & Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions on
Data Privacy 5(1), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel
from shoal.support.arrays import Bools


@dataclass(frozen=True)
class KConcealment(CoverageModel):
    """Each person can be matched to k released records while everyone else is matched to one too.

    Parameters:
        k: Least number of records that a person can be matched to.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KConcealment(2))
    >>> release.verify().levels
    {'k-concealment(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-concealment"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person can be matched to k different records."""
        return coverage.matchable() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of records that a person can be matched to."""
        return float(coverage.matchable().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Even an attacker who knows everyone's quasi-identifiers finds records of at least "
            f"{self.k} people that could belong to a person, with everyone else matched to some "
            "record. Weaker than k-anonymity: the records differ, and some may be more likely."
        )
