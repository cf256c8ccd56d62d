# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: φ² of contingency tables that are computed row by row, and weights of boxes on tuples.

    add_margin → count_holders → list_holders → sum_of_ratios   correlation of two attributes
    mark_boxes → weigh_tuples                                   Kullback–Leibler divergence

Boxes are weighed 64 at a time: for each value of each attribute a row of bits marks the boxes that
contain it, and the rows of a tuple's values are combined with a bitwise and.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit


class Side(NamedTuple):
    """One attribute of a table.

    An atom is a range of values that no entry divides.
    indptr: (entries + 1,) start of each entry's runs in the next two arrays.
    starts, stops: (runs,) first atom of each run, and the atom after its last.
    lengths: (atoms,) number of values; weights: (entries,) 1 / number of values.
    margin: (atoms,) share of all records.
    """

    indptr: Any
    starts: Any
    stops: Any
    lengths: Any
    weights: Any
    margin: Any


@njit(cache=True, error_model="numpy")
def add_margin(side, shares):
    """Spread the share of records at each entry over its atoms. shares: (entries,)."""
    for entry in range(len(shares)):
        for run in range(side.indptr[entry], side.indptr[entry + 1]):
            for atom in range(side.starts[run], side.stops[run]):
                side.margin[atom] += shares[entry] * side.weights[entry] * side.lengths[atom]


@njit(cache=True, error_model="numpy")
def count_holders(side, counts):
    """Count the entries that contain each atom. counts: (atoms,) zeros, receive the result."""
    for entry in range(len(side.weights)):
        for run in range(side.indptr[entry], side.indptr[entry + 1]):
            for atom in range(side.starts[run], side.stops[run]):
                counts[atom] += 1


@njit(cache=True, error_model="numpy")
def list_holders(side, free, holders):
    """List the entries that contain each atom.

    free: (atoms,) where the next entry of each atom is written; at first the start of its list.
    holders: (pairs of entry and atom,) receives the lists.
    """
    for entry in range(len(side.weights)):
        for run in range(side.indptr[entry], side.indptr[entry + 1]):
            for atom in range(side.starts[run], side.stops[run]):
                holders[free[atom]] = entry
                free[atom] += 1


@njit(cache=True, error_model="numpy")
def sum_of_ratios(first, second, holders_of, holders, boxes_of, partners, shares, row, met):
    """Return Σ share² / expected share over all pairs of atoms.

    holders_of: (first's atoms + 1,) start of each atom's list in `holders`, the entries of the
        first side that contain it.
    boxes_of: (first's entries + 1,) start of each entry's boxes in the next two arrays.
    partners, shares: (boxes,) entry on the other side, and share of records.
    row, met: (second's atoms,) scratch: one row of the table, which is 0 between atoms, and the
        indices of its nonzero cells.
    Invariant: `row` is the part of the atom's row from the boxes read so far; met[:count] are its
    nonzero cells.
    """
    total = 0.0
    for atom in range(len(first.margin)):
        count = 0
        for index in range(holders_of[atom], holders_of[atom + 1]):
            entry = holders[index]
            here = first.weights[entry] * first.lengths[atom]
            for box in range(boxes_of[entry], boxes_of[entry + 1]):
                partner = partners[box]
                part = here * shares[box] * second.weights[partner]
                for run in range(second.indptr[partner], second.indptr[partner + 1]):
                    for other in range(second.starts[run], second.stops[run]):
                        if row[other] == 0.0:
                            met[count] = other
                            count += 1
                        row[other] += part * second.lengths[other]
        for index in range(count):
            other = met[index]
            total += row[other] ** 2 / (first.margin[atom] * second.margin[other])
            row[other] = 0.0
    return total


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
