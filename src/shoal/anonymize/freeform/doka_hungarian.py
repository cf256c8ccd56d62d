"""Doka-Hungarian: rounds of assignments of minimum cost.

Loses least of the three, and stores a number for each pair of records.
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.anonymize.freeform.assignments import AssignmentRounds, assign
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model

_MAX_RECORDS = 30_000  # 7.2 GB of costs


@dataclass(frozen=True, kw_only=True)
class DokaHungarian(AssignmentRounds):
    """Each record has its own ranges and sets, chosen in rounds of minimum-cost assignments.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    A round is a linear assignment problem over all boxes and records; the cost of a pair is the
    growth of the box. Each round is optimal, the rounds together need not be.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaHungarian(seed=1))
    Release(doka-hungarian, freeform-anonymity(k=2), rows=7, classes=5, suppressed=0)
    """

    name: ClassVar[str] = "doka-hungarian"
    play = staticmethod(assign)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of k − 1 cheapest assignments."""
        if len(table) > _MAX_RECORDS:
            raise InputError(
                f"{self.name} takes at most {_MAX_RECORDS:,} records, as it stores a number for "
                f"each pair, not {len(table):,}; use doka-sort-greedy"
            )
        return super().search(table, model)
