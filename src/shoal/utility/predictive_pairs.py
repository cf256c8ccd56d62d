"""The information that a release conveys about pairs of columns, for use without a target.

The gain of a pair is the log-likelihood of raw records under the released joint distribution of
both
columns minus that under the two marginals: their mutual information if nothing was changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.support.arrays import Counts, Floats
from shoal.utility.predictive_cells import SpreadColumn, columns_of, records, released, sample

_ASKED = 20_000  # maximum number of records that the gain is averaged over
_DOUBT = 2.0  # pseudo-records of independent columns that smooth the joint distribution


def gains(release: Release, passed_on: Sequence[Recoding]) -> Floats:
    """(pairs,) the gain of each pair of columns in nats per record, at least 0.

    passed_on: columns published unchanged, in addition to the quasi-identifiers.
    """
    columns = columns_of(release, [*release.recodings.values(), *passed_on])
    weights = records(release)
    rows = sample(weights, _ASKED)
    weights = weights * released(release)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[:i]]
    if weights.sum() <= 1:
        return np.zeros(len(pairs))
    return np.array([max(_gain(a, b, weights, rows), 0.0) for a, b in pairs])


def _gain(first: SpreadColumn, second: SpreadColumn, weights: Floats, rows: Counts) -> float:
    total = weights.sum()
    alone = _spread(first, weights)[:, None] * _spread(second, weights) / total
    joint = _joint(first, second, weights) + _DOUBT / total * alone
    ratio = np.ones_like(joint)  # no gain for values that no record may have
    np.divide(joint, (1 + _DOUBT / total) * alone, out=ratio, where=alone > 0)
    return float(np.log(ratio)[first.slots[rows], second.slots[rows]].mean())


def _spread(cells: SpreadColumn, weights: Floats) -> Floats:
    """(slots,) the number of records that may have each value."""
    counts = np.bincount(cells.entries, weights, minlength=len(cells.shares))
    return cells.spread(counts.astype(np.float64))


def _joint(first: SpreadColumn, second: SpreadColumn, weights: Floats) -> Floats:
    """(slots, slots) the number of records that may have both values."""
    used, place = np.unique(
        first.entries * len(second.shares) + second.entries, return_inverse=True
    )
    counts = np.bincount(place, weights, minlength=len(used))
    entries, partners = np.divmod(used, len(second.shares))
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    spread = np.zeros((len(first.shares), second.shares.shape[1]))
    spread[entries[begins]] = np.add.reduceat(second.shares[partners] * counts[:, None], begins)
    return first.spread(spread)
