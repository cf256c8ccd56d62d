"""Doka-SortGreedy: rounds in which the cheapest pairs of all are made first.

Between the other two in loss; no pairs are stored, though as many are looked at.
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.anonymize.freeform.assignments import AssignmentRounds, blocks
from shoal.core.arrays import Codes
from shoal.core.progress import report

if TYPE_CHECKING:
    from shoal.anonymize.partition._boxes import Boxes, Points

_LISTED = 32  # candidates that a box keeps at hand


@dataclass(frozen=True, kw_only=True)
class DokaSortGreedy(AssignmentRounds):
    """Each record published by a box of its own, filled by the cheapest pairs.

    weights: how much losing each attribute hurts, by name or in order; the table's own by default.
    seed: repeats the draw of who is published by which box, for testing: who guesses it can undo
        the draw.

    The pairs of a round are made as if all were sorted by cost; each box holds a short list of its
    cheapest instead. Boxes left with records that they have go back to the cheapest trade, as in
    doka-greedy. A table of fewer than 2k records is assigned as by doka-hungarian.
    """

    name: ClassVar[str] = "doka-sort-greedy"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record that each box is given, the cheapest pairs first."""
        from shoal.anonymize.freeform._edges import list_all_nearest, take_by_cost

        count, k = partners.shape
        given, owner = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        room = min(_LISTED, count)
        near, costs = np.zeros((count, room), np.int32), np.zeros((count, room), np.int64)
        found = np.zeros(count, dtype=np.int64)
        for first, last in blocks(count):
            report("assign", done - 1 + first / count, k - 1)
            list_all_nearest(points, boxes, partners, done, first, last, owner, near, costs, found)
        take_by_cost(points, boxes, partners, done, near, costs, found, given, owner)
        return given
