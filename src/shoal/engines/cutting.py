"""Cuts of a table into partitions: the top of a Mondrian tree, grown on a sample.

A partition holds neighbours, so classes that never cross partitions lose little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.column import Column
from shoal.support.arrays import Codes, Counts

_FILL = 0.8  # of a partition: sizes are estimated from a sample


@dataclass(frozen=True)
class Side:
    """One side of a cut: codes of a column up to `last`, or above it."""

    column: str
    last: int
    above: bool


Partition = tuple[Side, ...]  # the sides on the way from the root


def cut(
    columns: Sequence[Column], codes: Mapping[str, Codes], counts: Counts, rows: int, most: int
) -> list[Partition]:
    """Return partitions of at most about `most` rows, in the order of the tree.

    Parameters:
        columns: The quasi-identifiers.
        codes: For each of them, (sample,) the codes of sampled tuples.
        counts: (sample,) rows of each sampled tuple.
        rows: Number of rows of the table, which the sample represents.
        most: Rows of a partition.

    >>> age = Column.encode("age", list(range(10)))
    >>> [len(sides) for sides in cut([age], {"age": age.codes}, np.ones(10), 100, 70)]
    [1, 1]
    """
    scale = rows / max(float(counts.sum()), 1.0)
    waiting: list[tuple[Partition, Counts]] = [((), np.arange(len(counts)))]
    done: list[Partition] = []
    while waiting:
        sides, members = waiting.pop()
        found = None
        if float(counts[members].sum()) * scale > most * _FILL:
            found = _best(columns, codes, counts, members)
        if found is None:
            done.append(sides)
            continue
        name, last = found
        low = codes[name][members] <= last
        waiting.append(((*sides, Side(name, last, True)), members[~low]))
        waiting.append(((*sides, Side(name, last, False)), members[low]))
    return done


def _best(
    columns: Sequence[Column], codes: Mapping[str, Codes], counts: Counts, members: Counts
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
        if last < len(totals) - 1 and below[last] > 0:
            return name, last
    return None
