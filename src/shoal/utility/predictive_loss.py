"""Predictive loss: the share of the information in the raw table that a release no longer conveys.

An estimate of learning utility from counts, without training; a census takes a second or two. With
a target, two readers guess the labels of raw records (see `predictive_readers`); without one, it
compares pairs of columns (see `predictive_pairs`).
"""

from __future__ import annotations

import numpy as np

from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.utility.predictive_cells import records, untouched
from shoal.utility.predictive_pairs import gains
from shoal.utility.predictive_readers import Labels, skill
from shoal.utility.targets import Target

_PARTS = 5  # quantile groups in which numbers are guessed


def predictive(release: Release, target: str | None = None) -> float:
    """Return the loss of predictive information, from 0 (as in the raw table) to 1 (none left).

    If the raw table has no predictive information, the loss is 0.

    Parameters:
        release: The release.
        target: The column to predict, as in `evaluate`; by default all pairs of quasi-identifiers
            and sensitive columns count, by how much they predict each other.

    Returns:
        The loss.
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
            float(gains(release, others).sum()), float(gains(untouched(release), others).sum())
        )
    labels = _labels(release, target)
    columns = [name for name in release.recodings if name != target]
    if not columns:
        raise InputError("there are no columns to learn from besides the target")
    return _lost(skill(release, labels, columns), skill(untouched(release), labels, columns))


def _lost(kept: float, there: float) -> float:
    if there <= 0:
        return 0.0
    return float(np.clip(1 - kept / there, 0.0, 1.0))


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
    fifth = np.minimum((middle * _PARTS).astype(np.int64), _PARTS - 1)
    _, dense = np.unique(fifth, return_inverse=True)
    return Labels(dense[np.where(goal.known, codes, 0)], goal.known, int(dense.max()) + 1)
