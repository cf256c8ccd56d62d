# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: the total weight that boxes put on each tuple.

Boxes are processed 64 at a time: for each value of each attribute a row of bits marks the boxes
that contain it, and the rows of a tuple's values are combined with a bitwise and.
"""

from __future__ import annotations

import numpy as np

from shoal.support.compiling import njit

WORD = 64


@njit(cache=True, error_model="numpy")
def mark_boxes(bits, offset, entries, indptr, starts, stops):
    """Set the bit of each box at every value that its subset contains.

    bits: (values of all attributes, words); offset: first row of the attribute.
    entries: (boxes,) the subset of each box; indptr, starts, stops: the runs of each subset.
    """
    for box in range(len(entries)):
        word, bit = box // WORD, np.uint64(1) << np.uint64(box % WORD)
        for run in range(indptr[entries[box]], indptr[entries[box] + 1]):
            for code in range(starts[run], stops[run]):
                bits[offset + code, word] |= bit


@njit(cache=True, error_model="numpy")
def weigh_tuples(bits, rows, logs, top, total):
    """Add the weight of these boxes to each tuple that they contain.

    rows: (tuples, attributes) rows of `bits`; logs: (boxes,) the logarithm of a box's weight.
    top, total: (tuples,) the weight so far is total · exp(top).
    Invariant of the inner loop: `met` has the remaining boxes of the word that contain the tuple,
    and its lowest bit stands for `box`; top is the greatest logarithm so far.
    """
    one, none = np.uint64(1), np.uint64(0)
    for t in range(len(rows)):
        for word in range(bits.shape[1]):
            met = bits[rows[t, 0], word]
            for j in range(1, rows.shape[1]):
                met &= bits[rows[t, j], word]
            box = word * WORD
            while met != none:
                if met & one:
                    log = logs[box]
                    if log <= top[t]:
                        total[t] += np.exp(log - top[t])
                    else:
                        total[t] = total[t] * np.exp(top[t] - log) + 1.0
                        top[t] = log
                met >>= one
                box += 1
