"""Predictive loss: the share of the information in the raw table that a release no longer conveys.

An estimate of learning utility from counts, without training; a census takes a second or two. With
a target, two readers guess the labels of raw records (see `predictive_readers`). Without one, the
gains of all pairs of columns count: the log-likelihood of raw records under the released joint
distribution of two columns minus that under their marginals, which is the mutual information of the
columns if nothing was changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.support.arrays import Counts, Floats
from shoal.utility.predictive_cells import (
    SpreadColumn,
    columns_of,
    records,
    released,
    sample,
    untouched,
)
from shoal.utility.predictive_readers import Labels, skill
from shoal.utility.targets import Target

_MAX_RECORDS = 20_000  # that the gain of a pair is averaged over
_SMOOTHING = 2.0  # pseudo-records of independent columns that smooth the joint distribution
_QUANTILES = 5  # groups in which numbers are guessed


def predictive(release: Release, target: str | None = None) -> float:
    """Return the loss of predictive information, from 0 (as in the raw table) to 1 (none left).

    If the raw table has no predictive information, the loss is 0.

    Parameters:
        release: The release.
        target: The column to predict, as in `evaluate`; by default all pairs of quasi-identifiers
            and sensitive columns count, by how much they predict each other.

    Returns:
        The loss.

    Raises:
        InputError: There are too few columns, or the target cannot be predicted.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48] * 5, "ill": ["no", "no", "yes", "yes"] * 5})
    >>> release = shoal.anonymize(rows, k=6, quasi="age", sensitive="ill")
    >>> predictive(release, "ill")
    0.0
    """
    if not release.original.records:
        return 0.0
    if target is None:
        others = [
            Recoding.identity(column)
            for column in release.original.columns
            if column.role is Role.SENSITIVE
        ]
        if len(release.recodings) + len(others) < 2:
            raise InputError("predictive needs at least two columns or a target; name a target")
        return _lost(
            float(_gains(release, others).sum()), float(_gains(untouched(release), others).sum())
        )
    labels = _labels(release, target)
    columns = [name for name in release.recodings if name != target]
    if not columns:
        raise InputError("there are no columns to learn from besides the target")
    return _lost(skill(release, labels, columns), skill(untouched(release), labels, columns))


def _lost(kept: float, available: float) -> float:
    if available <= 0:
        return 0.0
    return float(np.clip(1 - kept / available, 0.0, 1.0))


def _labels(release: Release, name: str) -> Labels:
    """Return the classes of a target; numbers are grouped into fifths."""
    goal = Target.of(release, name, None)
    codes = goal.column.codes.astype(np.int64)
    if not goal.regressed:
        return Labels(np.where(goal.known, codes, 0), goal.known, goal.classes)
    counts = np.bincount(
        codes[goal.known], records(release)[goal.known], minlength=goal.column.known
    )
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    fifth = np.minimum((middle * _QUANTILES).astype(np.int64), _QUANTILES - 1)
    _, dense = np.unique(fifth, return_inverse=True)
    return Labels(dense[np.where(goal.known, codes, 0)], goal.known, int(dense.max()) + 1)


def _gains(release: Release, unchanged: Sequence[Recoding]) -> Floats:
    """Return (pairs,) the gain of each pair of columns in nats per record, at least 0.

    unchanged: columns published unchanged, in addition to the quasi-identifiers.
    """
    columns = columns_of(release, [*release.recodings.values(), *unchanged])
    weights = records(release)
    rows = sample(weights, _MAX_RECORDS)
    weights = weights * released(release)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[:i]]
    if weights.sum() <= 1:
        return np.zeros(len(pairs))
    return np.array([max(_gain(a, b, weights, rows), 0.0) for a, b in pairs])


def _gain(first: SpreadColumn, second: SpreadColumn, weights: Floats, rows: Counts) -> float:
    total = weights.sum()
    alone = _spread(first, weights)[:, None] * _spread(second, weights) / total
    joint = _joint(first, second, weights) + _SMOOTHING / total * alone
    ratio = np.ones_like(joint)  # no gain for values that no record may have
    np.divide(joint, (1 + _SMOOTHING / total) * alone, out=ratio, where=alone > 0)
    return float(np.log(ratio)[first.slots[rows], second.slots[rows]].mean())


def _spread(cells: SpreadColumn, weights: Floats) -> Floats:
    """Return (slots,) the number of records that may have each value."""
    counts = np.bincount(cells.entries, weights, minlength=len(cells.shares))
    return cells.spread(counts.astype(np.float64))


def _joint(first: SpreadColumn, second: SpreadColumn, weights: Floats) -> Floats:
    """Return (slots, slots) the number of records that may have both values."""
    used, pair = np.unique(first.entries * len(second.shares) + second.entries, return_inverse=True)
    counts = np.bincount(pair, weights, minlength=len(used))
    entries, partners = np.divmod(used, len(second.shares))
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    spread = np.zeros((len(first.shares), second.shares.shape[1]))
    spread[entries[begins]] = np.add.reduceat(second.shares[partners] * counts[:, None], begins)
    return first.spread(spread)
