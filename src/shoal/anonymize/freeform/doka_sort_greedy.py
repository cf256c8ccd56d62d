"""Doka-SortGreedy: rounds in which the cheapest pairs are made first.

Between the other two in loss; all pairs are computed but not stored.
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.anonymize.freeform.assignments import AssignmentRounds, blocks
from shoal.support.arrays import Codes
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.anonymize.partition._boxes import Boxes, Points

_LISTED = 32  # candidates in the list of a box


@dataclass(frozen=True, kw_only=True)
class DokaSortGreedy(AssignmentRounds):
    """Each record has its own ranges and sets, chosen by the cheapest pairs.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    The pairs of a round are made as if all were sorted by cost; instead, each box has a short list
    of its cheapest records. Boxes that already have all remaining records make the cheapest trade,
    as in doka-greedy. A table with fewer than 2k records is assigned as by doka-hungarian.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaSortGreedy(seed=1))
    Release(doka-sort-greedy, freeform-anonymity(k=2), rows=7, classes=5, suppressed=0)
    """

    name: ClassVar[str] = "doka-sort-greedy"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record of each box, assigned by the cheapest pairs first."""
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
