"""Freeform k-anonymity: k perfect matchings between people and records, no pair in two of them.

Each record is published by ranges and sets of its own, so that no two need look alike. It implies
k-concealment and (k,k)-anonymity, and is implied by k-anonymity.
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools
from shoal.core.coverage import Coverage
from shoal.privacy.model import CoverageModel


@dataclass(frozen=True)
class FreeformAnonymity(CoverageModel):
    """People and records can be paired so that each has k different partners.

    Such a pairing is k perfect matchings without a common pair (König): any of them may be true.
    """

    name: ClassVar[str] = "freeform-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, row by row, whether its person and its cells get k partners each."""
        return np.logical_not(coverage.short_of(self.k))

    def level_for(self, coverage: Coverage) -> float:
        """Return the largest k that everybody gets."""
        return float(coverage.most_partners())

    def describe(self) -> str:
        """Say what a reader cannot do."""
        return (
            f"Even an attacker who knows everybody's quasi-identifiers finds {self.k} ways to "
            f"match people to records, in which each record belongs to {self.k} different people. "
            "Weaker than k-anonymity: the records differ, and other knowledge may favour one."
        )
