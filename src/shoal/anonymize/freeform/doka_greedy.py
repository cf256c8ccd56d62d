"""Doka-Greedy: rounds in which each box, in turn, takes the cheapest record that is left.

Quick and in little memory; who comes last takes what nobody wanted.
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


@dataclass(frozen=True, kw_only=True)
class DokaGreedy(AssignmentRounds):
    """Each record published by a box of its own, filled in turn.

    weights: how much losing each attribute hurts, by name or in order; the table's own by default.
    seed: repeats the draw of who is published by which box, for testing: who guesses it can undo
        the draw.

    Boxes take turns in the lexicographic order of their records. Where a box finds only records
    that it has, it goes back to the cheapest trade: another box hands its record over and takes
    one that is left. A table of fewer than 2k records is assigned as by doka-hungarian.
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
