"""Scores: an order for values that have none, so that alike ones stand side by side.

Reciprocal averaging: a value's score is the average of the other columns' scores where it stands.
Hill, "Reciprocal averaging: an eigenvector method of ordination", Journal of Ecology 61(1), 1973.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.column import Column
from shoal.support.arrays import Codes, Counts, Floats

_ROUNDS = 30


def ranks(columns: Sequence[Column], counts: Counts | None = None) -> tuple[Codes, ...]:
    """Return, for each column, the place of each of its values: as it is where it is ordered."""
    weights = np.ones(len(columns[0])) if counts is None else counts.astype(np.float64)
    scores = [_spread(_start(column, weights), column, weights) for column in columns]
    rows = np.stack([s[c.codes] for s, c in zip(scores, columns, strict=True)])
    free = [j for j, column in enumerate(columns) if not column.ordered]
    for _ in range(_ROUNDS if len(columns) > 1 else 0):
        for j in free:
            others = rows.sum(axis=0) - rows[j]
            held = np.bincount(columns[j].codes, weights, columns[j].domain)
            sums = np.bincount(columns[j].codes, weights * others, columns[j].domain)
            scores[j] = _spread(sums / np.maximum(held, 1), columns[j], weights)
            rows[j] = scores[j][columns[j].codes]
    found = []
    for j, column in enumerate(columns):
        order = np.argsort(scores[j], kind="stable") if j in free else np.arange(column.domain)
        place = np.empty(column.domain, dtype=np.int32)
        place[order] = np.arange(column.domain, dtype=np.int32)
        found.append(place)
    return tuple(found)


def _start(column: Column, weights: Floats) -> Floats:
    shares = np.bincount(column.codes, weights, column.domain) / weights.sum()
    return np.asarray(np.cumsum(shares) - shares / 2, dtype=np.float64)


def _spread(scores: Floats, column: Column, weights: Floats) -> Floats:
    """Return scores with mean 0 and deviation 1 over the rows, all 0 where they do not differ."""
    shares = np.bincount(column.codes, weights, column.domain) / weights.sum()
    centred = scores - (scores * shares).sum()
    deviation = float(np.sqrt((centred**2 * shares).sum()))
    return np.asarray(centred / deviation if deviation > 1e-12 else 0 * centred, dtype=np.float64)
