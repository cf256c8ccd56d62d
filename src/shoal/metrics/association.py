"""Dependence of two attributes: φ² of their contingency table in a release.

Records are spread evenly over their boxes. Adjacent values that no box separates form one atom, and
φ² is summed over pairs of atoms instead of pairs of values: within a pair all cells are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from shoal.metrics.boxes import Atoms, Boxes

if TYPE_CHECKING:
    from shoal.metrics._association import Side


def work(boxes: Boxes, pairs: Iterable[tuple[int, int]]) -> int:
    """Return the number of cells that the boxes cover in the tables of these pairs."""
    touched = [
        Atoms.of(subsets).subsets.sizes[entries].astype(np.float64)
        for subsets, entries in zip(boxes.subsets, boxes.entries, strict=True)
    ]
    return int(sum(float((touched[i] * touched[j]).sum()) for i, j in pairs))


def side(boxes: Boxes, attribute: int) -> Side:
    """Return one attribute as a side of contingency tables, with its margin."""
    from shoal.metrics._association import Side, add_margin

    subsets = boxes.subsets[attribute]
    atoms = Atoms.of(subsets)
    made = Side(
        atoms.subsets.indptr,
        atoms.subsets.starts,
        atoms.subsets.stops,
        atoms.lengths,
        1 / subsets.sizes,
        np.zeros(len(atoms.lengths)),
    )
    add_margin(made, boxes.usage(attribute) / boxes.counts.sum())
    return made


def phi_squared(boxes: Boxes, pair: tuple[int, int], sides: tuple[Side, Side]) -> float:
    """Return φ² of two attributes, which is χ² / records."""
    from shoal.metrics._association import count_holders, list_holders, sum_of_ratios

    first, second = sides
    counts = np.zeros(len(first.margin), dtype=np.int64)
    count_holders(first, counts)
    holders_of = np.concatenate(([0], np.cumsum(counts)))
    holders = np.empty(int(holders_of[-1]), dtype=np.int32)
    list_holders(first, holders_of[:-1].copy(), holders)
    mine, theirs = (boxes.entries[j] for j in pair)
    order = np.argsort(mine, kind="stable")
    at = np.bincount(mine, minlength=len(first.weights))
    room = len(second.margin)
    found = sum_of_ratios(
        first,
        second,
        holders_of,
        holders,
        np.concatenate(([0], np.cumsum(at))),
        theirs[order],
        boxes.counts[order] / boxes.counts.sum(),
        np.zeros(room),
        np.empty(room, dtype=np.int64),
    )
    return float(found) - 1.0
