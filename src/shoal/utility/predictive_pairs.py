"""What a release still tells of columns two by two, where no target is named.

The gain of a pair is how much likelier a raw record is by what the release says of both columns
together than by what it says of each alone: their mutual information where nothing was changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.arrays import Counts, Floats
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.utility.predictive_cells import Cells, columns_of, records, released, sample

_ASKED = 20_000  # records that the gain is taken over at most
_DOUBT = 2.0  # records without any relation that are added to what is told


def gains(release: Release, passed_on: Sequence[Recoding]) -> Floats:
    """(pairs,) the gain of each pair of columns in nats a record, not below 0.

    passed_on: columns beside the quasi-identifiers.
    """
    columns = columns_of(release, [*release.recodings.values(), *passed_on])
    weights = records(release)
    rows = sample(weights, _ASKED)
    weights = weights * released(release)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[:i]]
    if weights.sum() <= 1:
        return np.zeros(len(pairs))
    return np.array([max(_gain(a, b, weights, rows), 0.0) for a, b in pairs])


def _gain(first: Cells, second: Cells, weights: Floats, rows: Counts) -> float:
    total = weights.sum()
    alone = _spread(first, weights)[:, None] * _spread(second, weights) / total
    told = _joint(first, second, weights) + _DOUBT / total * alone
    ratio = np.ones_like(told)  # a value that nobody may have tells nothing
    np.divide(told, (1 + _DOUBT / total) * alone, out=ratio, where=alone > 0)
    return float(np.log(ratio)[first.slots[rows], second.slots[rows]].mean())


def _spread(cells: Cells, weights: Floats) -> Floats:
    """(slots,) the records that may have a value."""
    counts = np.bincount(cells.entries, weights, minlength=len(cells.shares))
    return cells.spread(counts.astype(np.float64))


def _joint(first: Cells, second: Cells, weights: Floats) -> Floats:
    """(slots, slots) the records that may have both values."""
    used, place = np.unique(
        first.entries * len(second.shares) + second.entries, return_inverse=True
    )
    counts = np.bincount(place, weights, minlength=len(used))
    entries, partners = np.divmod(used, len(second.shares))
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    spread = np.zeros((len(first.shares), second.shares.shape[1]))
    spread[entries[begins]] = np.add.reduceat(second.shares[partners] * counts[:, None], begins)
    return first.spread(spread)
