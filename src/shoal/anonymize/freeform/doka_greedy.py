"""Doka-Greedy: rounds in which each box, in turn, takes the cheapest remaining record.

Fast and with little memory; the last boxes of a round take expensive records.
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


@dataclass(frozen=True, kw_only=True)
class DokaGreedy(AssignmentRounds):
    """Each record has its own ranges and sets, chosen greedily in turn.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    Boxes take turns in the lexicographic order of their records. A box that already has all
    remaining records makes the cheapest trade: another box gives its record and takes a remaining
    one. A table with fewer than 2k records is assigned as by doka-hungarian.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaGreedy(seed=1))
    Release(doka-greedy, freeform-anonymity(k=2), rows=7, classes=6, suppressed=0)
    """

    name: ClassVar[str] = "doka-greedy"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record that each box takes in its turn."""
        from shoal.anonymize.freeform._edges import take_in_turn

        count, k = partners.shape
        given, owner = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        left = np.arange(count, dtype=np.int32)
        for first, last in blocks(count):
            report("assign", done - 1 + first / count, k - 1)
            take_in_turn(points, boxes, partners, done, first, last, left, given, owner)
        return given
