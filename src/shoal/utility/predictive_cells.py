"""The cells of a release as a reader sees them: the possible values of each entry, by column.

Values are distinguished as by flags: numbers with more than 20 values by 20 bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.support.arrays import Bools, Counts, Floats
from shoal.utility.encodings import Scale
from shoal.utility.grouped_splits import owners

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    """One column of a release together with the raw values.

    entries: (rows,) the published entry; slots: (rows,) the slot of the raw value.
    shares: (entries, slots) one record of each entry, spread evenly over the slots it covers.
    """

    entries: Counts
    slots: Counts
    shares: Floats

    @classmethod
    def of(cls, recoding: Recoding, rows: Counts) -> SpreadColumn:
        """Return a column as published in these released rows."""
        scale = Scale.fit(recoding, rows, "weights")
        slot_of = scale.of_values(recoding.column).argmax(axis=1)
        return cls(
            recoding.codes.astype(np.int64),
            slot_of[recoding.column.codes].astype(np.int64),
            scale.of_cells(recoding).astype(np.float64),
        )

    def spread(self, counts: Floats) -> Floats:
        """Return (slots, …) the records of all entries, spread over slots; counts: (entries, …)."""
        parts = [
            (self.shares * column[:, None]).sum(axis=0)  # no BLAS: its sums depend on the machine
            for column in counts.reshape(len(counts), -1).T
        ]
        return np.stack(parts, axis=-1).reshape(self.shares.shape[1], *counts.shape[1:])


def columns_of(release: Release, recodings: Sequence[Recoding]) -> list[SpreadColumn]:
    """Return columns as published in the released rows."""
    rows = np.flatnonzero(released(release))
    return [SpreadColumn.of(each, rows) for each in recodings]


def released(release: Release) -> Bools:
    """Return (rows,) whether the row is published."""
    if release.suppressed is None:
        return np.ones(len(release.original), dtype=np.bool_)
    return ~release.suppressed


def records(release: Release) -> Floats:
    """Return (rows,) the number of records that each row stands for."""
    counts = release.original.counts
    return np.ones(len(release.original)) if counts is None else counts.astype(np.float64)


def untouched(release: Release) -> Release:
    """Return the release that changes nothing."""
    same = {name: Recoding.identity(each.column) for name, each in release.recodings.items()}
    return replace(release, recodings=same, suppressed=None, node=None)


def rows_of_same_person(table: Table, rows: Counts, training: Bools) -> tuple[Counts, Counts]:
    """Return pairs of a row, by its index in `rows`, and a training row of the same person.

    training: (table rows,) whether the row is a training row. A row is also paired with itself.
    """
    known, groups = np.flatnonzero(training), owners(table)
    if groups is None:
        indices = np.flatnonzero(training[rows])
        return indices, rows[indices]
    known = known[np.argsort(groups[known], kind="stable")]
    starts, stops = (np.searchsorted(groups[known], groups[rows], side) for side in _SIDES)
    lengths = stops - starts
    indices = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(indices)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return indices, known[np.repeat(starts, lengths) + within]


def sample(weights: Floats, limit: int) -> Counts:
    """Return the row of each record, or of a random sample of `limit` records if there are more.

    The sample depends only on the number of records.
    """
    ends = np.cumsum(weights)
    total = int(ends[-1]) if len(ends) else 0
    if total > limit:
        drawn = np.sort(np.random.default_rng(total).choice(total, limit, replace=False))
    else:
        drawn = np.arange(total)
    return np.searchsorted(ends, drawn, side="right")
