"""The weight that a release puts on each original tuple: the sum over the boxes that contain it.

Every box is compared with every tuple, 64 boxes at a time; blocks of boxes limit the memory.
"""

from __future__ import annotations

import numpy as np

from shoal.metrics.boxes import Boxes
from shoal.support.arrays import Floats
from shoal.support.progress import report

_MAX_BYTES = 2**26  # of bit sets at a time


def log_weights(boxes: Boxes, tuples: Boxes) -> Floats:
    """(tuples,) logarithm of the weight, in records, on each tuple; −∞ if there is none."""
    from shoal.metrics._covering import WORD, mark_boxes, weigh_tuples

    offsets = np.cumsum([0, *(subsets.domain for subsets in boxes.subsets)])
    rows = np.ascontiguousarray((tuples.entries + offsets[:-1, None]).T)
    logs = np.log(boxes.counts) - boxes.log_volumes()
    top, total = np.full(len(tuples), -np.inf), np.zeros(len(tuples))
    words = max(_MAX_BYTES // (8 * int(offsets[-1])), 1)
    for begin in range(0, len(boxes), words * WORD):
        report("covering", begin, len(boxes))
        part = slice(begin, min(begin + words * WORD, len(boxes)))
        used = -(-(part.stop - begin) // WORD)
        bits = np.zeros((int(offsets[-1]), used), dtype=np.uint64)
        for j, subsets in enumerate(boxes.subsets):
            runs = (subsets.indptr, subsets.starts, subsets.stops)
            mark_boxes(bits, int(offsets[j]), boxes.entries[j, part], *runs)
        weigh_tuples(bits, rows, logs[part], top, total)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, top + np.log(total), -np.inf)
