"""Freeform k-anonymity: k perfect matchings between people and records, no pair in two of them.

Each record has its own ranges and sets, so no two records need to look alike. It implies
k-concealment and (k,k)-anonymity, and k-anonymity implies it.
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel
from shoal.support.arrays import Bools


@dataclass(frozen=True)
class FreeformAnonymity(CoverageModel):
    """People and records can be paired so that each has k different partners.

    Such a pairing consists of k perfect matchings without a common pair (König's theorem). Each of
    them could be the true one.

    Parameters:
        k: Number of partners of each person and each record.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, FreeformAnonymity(2), "doka-greedy", seed=1)
    >>> release.verify().levels
    {'freeform-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "freeform-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person and its cells get k partners each."""
        return np.logical_not(coverage.short_of(self.k))

    def level_for(self, coverage: Coverage) -> float:
        """Return the largest k that holds for everyone."""
        return float(coverage.most_partners())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Even an attacker who knows everyone's quasi-identifiers finds {self.k} ways to "
            f"match people to records, in which each record belongs to {self.k} different people. "
            "Weaker than k-anonymity: the records differ, and other knowledge may favour one."
        )
