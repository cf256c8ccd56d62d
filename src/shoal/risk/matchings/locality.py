"""Renumbering of records, types and classes, so that a random walk reads memory close together.

A loop of the walk stays in one component. If the numbers of its classes, types and records are
close, it finds them in the cache of the processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from shoal.support.arrays import Counts, Floats


class Arranged(NamedTuple):
    """A problem of the walk with new numbers; the arrays are those of `worm.sample`.

    Parameters:
        records: (records,) the old number of each record.
    """

    indptr: Counts
    indices: Counts
    weights: Floats
    row_type: Counts
    capacity: Counts
    truth: Counts
    start: Counts
    records: Counts


def arrange(
    indptr: Counts,
    indices: Counts,
    weights: Floats,
    row_type: Counts,
    capacity: Counts,
    truth: Counts,
    start: Counts,
) -> Arranged:
    """Return the problem with classes numbered by component, and types and records by class.

    Parameters:
        indptr, indices, weights: For each type its classes, ascending, and the weight of a slot
            there.
        row_type: (records,) the type of each record.
        capacity: (classes,) the slots of each class.
        truth: (records,) the true class of each record, −1 if it cannot be found.
        start: (records,) the classes of one possible matching.
    """
    classes = len(capacity)
    kept = np.argsort(_components(indptr, indices, classes), kind="stable")
    new_class = _ranks(kept)
    moved = new_class[indices]
    order = np.argsort(np.minimum.reduceat(moved, indptr[:-1]), kind="stable")
    new_type = _ranks(order)
    heads = np.repeat(new_type, np.diff(indptr))
    edges = np.argsort(heads * classes + moved)
    counts = np.diff(indptr)[order]
    records = np.argsort(new_class[start], kind="stable")
    return Arranged(
        np.concatenate(([0], np.cumsum(counts))),
        moved[edges],
        weights[edges],
        new_type[row_type[records]],
        capacity[kept],
        np.where(truth < 0, truth, new_class[truth])[records],
        new_class[start[records]],
        records,
    )


def _components(indptr: Counts, indices: Counts, classes: int) -> Counts:
    """(classes,) the component of each class."""
    types = len(indptr) - 1
    ends = np.concatenate([indptr, np.full(classes, indptr[-1])])
    edges = csr_array(
        (np.ones(len(indices), dtype=np.int8), types + indices, ends),
        shape=(types + classes, types + classes),
    )
    return np.asarray(connected_components(edges, directed=False)[1][types:])


def _ranks(order: Counts) -> Counts:
    """Return the position of each number in an order."""
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
