"""Checks of a model on many divided nodes at once.

A node is a row of five numbers: low, high and records of a range of rows, and, if it was divided,
the middle and the records before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.core.classes import Classes
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model
from shoal.support.arrays import Bools, Codes, Counts


def sides(nodes: Counts) -> Counts:
    """Return the two sides of each divided node as nodes."""
    low, high, records, middle, left = nodes.T
    zero = np.zeros_like(low)
    first = np.stack([low, middle, left, zero, zero], axis=1)
    second = np.stack([middle, high, records - left, zero, zero], axis=1)
    return np.concatenate([first, second])


class Judge:
    """Checks a model on both sides of many divided nodes at once."""

    def __init__(self, tuples: Table, table: Table, model: Model) -> None:
        kept = tuple(tuples[name] for name in model.columns) or tuples.columns[:1]
        self._tuples = replace(tuples, columns=kept)
        self._table, self._model = table, model

    def both_sides(self, where: Codes | Counts, nodes: Counts) -> Bools:
        """Return, for each node, whether both sides meet the model."""
        low, high, middle = nodes[:, 0], nodes[:, 1], nodes[:, 3]
        lengths = np.stack([middle - low, high - middle], axis=1).ravel()
        starts = np.stack([low, middle], axis=1).ravel()
        ids = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        offsets = np.cumsum(lengths) - lengths
        rows = where[np.arange(len(ids)) - np.repeat(offsets - starts, lengths)]
        classes = Classes.of(self._tuples.take(rows), ids, origin=self._table)
        kept = self._model.holds(classes)
        return kept[0::2] & kept[1::2]


def check_feasible(table: Table, model: Model) -> None:
    """Reject a model that the whole table as one class breaks."""
    whole = Classes.of(table, np.zeros(len(table), dtype=np.int32))
    if not model.holds(whole).all():
        broken = next(part for part in model.parts if not part.holds(whole).all())
        raise Infeasible(f"{broken} cannot be met: even the whole table as one class breaks it")
