"""The order in which records are drawn: by their published values, and by those of their person.

A seed then gives the same release whatever the order of the rows, and whether or not equal records
are stored as one row with a count. Without a seed the order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice
from shoal.core.grouping import group
from shoal.core.people import Unit
from shoal.support.arrays import Codes, Counts

_BLOCK = 1 << 22  # records that are in memory at once


def order_tuples(lattice: Lattice) -> Codes:
    """(rows,) the rank of each row's tuple of published values."""
    columns = lattice.table.columns
    return group([c.codes for c in columns], [c.domain for c in columns]).ids


def order_units(unit: Unit, tuples: Codes, counts: Counts | None) -> Counts:
    """(units,) the rank of each unit by the tuples of its records, equal units in any order.

    The tuples of a unit are compared like the letters of a word, in ascending order, each with its
    number of records. As in a radix sort, units are sorted by their last tuple first.
    """
    pairs = group([unit.ids, tuples], [unit.count, int(tuples.max(initial=0)) + 1])
    of_unit, of_tuple, records = unit.ids[pairs.first], tuples[pairs.first], pairs.sizes(counts)
    domains = [int(each.max(initial=0)) + 1 for each in (of_tuple, records)]
    letters = group([of_tuple, records], domains).ids
    lengths = np.bincount(of_unit, minlength=unit.count)
    first = np.cumsum(lengths) - lengths
    by_length = np.argsort(lengths, kind="stable")
    ends = np.searchsorted(lengths[by_length], np.arange(int(lengths.max(initial=0)) + 2))
    second = int(lengths[by_length[-2]]) if unit.count > 1 else 0
    order = by_length[ends[second + 1] :]  # at most one unit, which needs no sorting
    for place in range(second - 1, -1, -1):
        # units that end here precede those that begin alike and are longer
        order = np.concatenate((by_length[ends[place + 1] : ends[place + 2]], order))
        order = order[np.argsort(letters[first[order] + place], kind="stable")]
    ranks = np.empty(unit.count, dtype=np.int64)
    ranks[order] = np.arange(unit.count)
    return ranks


def blocks_of_units(units: Counts, counts: Counts) -> Iterator[slice]:
    """Yield ranges of rows with the records of whole units.

    A range has at most `_BLOCK` records, or those of one unit.

    units: (rows,) the unit of each row, in ascending order. counts: (rows,) its records.
    """
    starts = np.flatnonzero(np.append(True, units[1:] != units[:-1])) if len(units) else units
    ends = np.append(starts[1:], len(units)) if len(units) else units
    before = np.append(0, np.cumsum(counts))
    first = 0
    while first < len(starts):
        most = before[starts[first]] + _BLOCK
        last = max(int(np.searchsorted(before[ends], most, side="right")), first + 1)
        yield slice(int(starts[first]), int(ends[last - 1]))
        first = last
