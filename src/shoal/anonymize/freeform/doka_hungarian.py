"""Doka-Hungarian: rounds of assignments, each the cheapest there is.

Loses least of the three, and holds a number for each pair of records.
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

_MOST = 30_000  # records: 7.2 GB of costs


@dataclass(frozen=True, kw_only=True)
class DokaHungarian(AssignmentRounds):
    """Each record published by a box of its own, in rounds of cheapest assignments.

    weights: how much losing each attribute hurts, by name or in order; the table's own by default.
    seed: repeats the draw of who is published by which box, for testing: who guesses it can undo
        the draw.

    A round is a linear assignment problem over all boxes and records; a pair's cost is what the box
    grows. It is the best for its round, not for all rounds together.
    """

    name: ClassVar[str] = "doka-hungarian"
    play = staticmethod(assign)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of k − 1 cheapest assignments."""
        if len(table) > _MOST:
            raise InputError(
                f"{self.name} holds a number for each pair of records, and {len(table):,} records "
                f"are more than {_MOST:,}; use doka-sort-greedy"
            )
        return super().search(table, model)
