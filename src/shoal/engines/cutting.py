"""Cuts of a table into partitions: the top of a Mondrian tree, grown on exact counts.

A partition holds neighbours, so classes that never cross partitions lose little. Neighbouring
values are counted together if there are too many different tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.column import Column
from shoal.support.arrays import Codes, Counts

_MAX_BINS = (0, 512, 256, 128, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)  # of a column; 0: no bins


@dataclass(frozen=True)
class Side:
    """One side of a cut: codes of a column up to `last`, or above it."""

    column: str
    last: int
    above: bool


Partition = tuple[Side, ...]  # the sides on the way from the root


def bins(counts: Mapping[str, Counts]) -> list[dict[str, Codes]]:
    """Return maps of codes to the last code of their bin, from single codes to two bins a column.

    A bin holds neighbouring codes of about as many rows as the other bins of the column.

    Parameters:
        counts: For each column, (codes,) the rows with each code.

    >>> [found["age"].tolist() for found in bins({"age": np.array([1, 1, 1, 1])})[-2:]]
    [[1, 1, 2, 3], [1, 1, 3, 3]]
    """
    return [
        {name: _last_codes(rows, most) for name, rows in counts.items() if 0 < most < len(rows)}
        for most in _MAX_BINS
    ]


def _last_codes(rows: Counts, most: int) -> Codes:
    """(codes,) the last code of the bin of each code, with at most this many bins."""
    below = np.cumsum(rows)
    number = np.minimum((below - 1) * most // max(int(below[-1]), 1), most - 1)
    last = np.searchsorted(number, number, side="right") - 1
    found: Codes = last.astype(np.int32)
    return found


def cut(
    columns: Sequence[Column],
    codes: Mapping[str, Codes],
    counts: Counts,
    most: int,
    least: int = 1,
) -> list[Partition]:
    """Return partitions of at most `most` rows, in the order of the tree.

    A partition has more rows if no cut leaves `least` rows on both sides, as with rows that are all
    alike.

    Parameters:
        columns: The quasi-identifiers.
        codes: For each of them, (tuples,) the code of each tuple, or the last code of its bin.
        counts: (tuples,) rows of each tuple.
        most: Rows of a partition.
        least: Rows of a partition, at least, if the table has so many.

    >>> age = Column.encode("age", list(range(10)))
    >>> [len(sides) for sides in cut([age], {"age": age.codes}, np.full(10, 10), 70)]
    [1, 1]
    """
    waiting: list[tuple[Partition, Counts]] = [((), np.arange(len(counts)))]
    done: list[Partition] = []
    while waiting:
        sides, members = waiting.pop()
        found = None
        if int(counts[members].sum()) > most:
            found = _best(columns, codes, counts, members, least)
        if found is None:
            done.append(sides)
            continue
        name, last = found
        low = codes[name][members] <= last
        waiting.append(((*sides, Side(name, last, True)), members[~low]))
        waiting.append(((*sides, Side(name, last, False)), members[low]))
    return done


def _best(
    columns: Sequence[Column],
    codes: Mapping[str, Codes],
    counts: Counts,
    members: Counts,
    least: int,
) -> tuple[str, int] | None:
    """Return the cut of the attribute with the widest share of its domain, near its median."""
    widths = []
    for column in columns:
        here = codes[column.name][members]
        spread = int(here.max(initial=0)) - int(here.min(initial=0))
        widths.append(column.weight * spread / max(column.domain - 1, 1))
    for place in np.argsort(-np.array(widths), kind="stable").tolist():
        name = columns[place].name
        here = codes[name][members]
        totals = np.bincount(here, counts[members])
        below = np.cumsum(totals)
        last = int(np.argmin(np.abs(below - below[-1] / 2)))
        if min(below[last], below[-1] - below[last]) >= least:
            return name, last
    return None
