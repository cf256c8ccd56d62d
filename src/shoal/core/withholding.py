"""What a release with claims keeps back: all that depends on records which are not released.

A claim of differential privacy speaks of the published rows and of nothing else. The order in which
these came would say something about the others, for one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.core import values as ground
from shoal.core.arrays import Codes, Counts
from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.table import Table


def sorted_rows(table: Table, recodings: Mapping[str, Recoding], rows: Counts) -> Counts:
    """Return rows in the order of what is published of them, column by column.

    Equal rows come together, so that the order follows from the published rows alone.
    """
    keys = []
    for column in table:
        if column.role is Role.QUASI:
            keys.append(_ranks(recodings[column.name], rows))
        elif column.role is not Role.IDENTIFIER:
            keys.append(ground.encode(column.take(rows).to_arrow(), column.name)[0])
    return rows[np.lexsort(keys[::-1])]


def _ranks(recoding: Recoding, rows: Counts) -> Codes:
    """(rows,) where what is published of each row comes: values by their order, labels by text."""
    used, place = np.unique(recoding.codes[rows], return_inverse=True)
    if recoding.levels is not None and not recoding.levels[used].any():
        return recoding.codes[rows]
    labels = [recoding.labels[entry] for entry in used.tolist()]
    order = sorted(range(len(labels)), key=lambda i: (labels[i] is None, labels[i]))
    ranks = np.empty(len(labels), dtype=np.int32)
    ranks[order] = np.arange(len(labels), dtype=np.int32)
    return ranks[place]
