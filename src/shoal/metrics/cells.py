"""The loss of a single cell, shared by several metrics.

An ordered cell loses the width of its range relative to the column's extent, a nominal cell the
number of values that it may stand for. A cell that may be missing or some other value has
lost everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.column import Column
from shoal.core.histogram import Histogram
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.support.arrays import Floats, weighted_sum


def class_width(column: Column, values: Histogram) -> Floats:
    """(classes,) range of the values in each class divided by the column's extent, 0 to 1."""
    first = values.codes[values.indptr[:-1]]
    last = values.codes[values.indptr[1:] - 1]
    width = column.share_of_extent(column.positions[last] - column.positions[first])
    if column.missing is not None:
        width[(last == column.missing) & (first < last)] = 1.0
    return width


def set_share(sizes: Floats, domain: int) -> Floats:
    """Return (values − 1) / (domain − 1): 0 for one value, 1 for all."""
    return (sizes - 1) / (domain - 1) if domain > 1 else np.zeros(len(sizes))


def over_members(subsets: Subsets, values: NDArray[Any], combine: np.ufunc = np.add) -> Any:
    """(subsets,) the values of each subset's members, summed or combined with another function.

    Parameters:
        values: (domain,) one number for each code.
    """
    if not len(subsets):
        return np.zeros(0, dtype=values.dtype)
    if combine is np.add and np.issubdtype(values.dtype, np.integer):
        upto = np.concatenate(([0], np.cumsum(values)))  # exact, and as quick for wide runs
        by_run = upto[subsets.stops] - upto[subsets.starts]
    else:
        ends = np.stack([subsets.starts, subsets.stops], axis=1).ravel()
        padded = np.append(values, values[:1])  # a run may end behind the last code
        by_run = combine.reduceat(padded, ends)[::2] if len(padded) else np.zeros(len(subsets))
    return combine.reduceat(by_run, subsets.indptr[:-1])


def mean_over_records(release: Release, name: str, losses: Floats, whole: float = 1.0) -> float:
    """Average the losses of a column's dictionary entries over all records.

    Parameters:
        whole: Loss of a suppressed record.
    """
    counts = release.original.counts
    usage = release.recodings[name].usage(counts).astype(np.float64)
    lost = 0.0
    if release.suppressed is not None:
        hidden = release.suppressed
        weights = None if counts is None else counts[hidden].astype(np.float64)
        codes = release.recodings[name].codes[hidden]
        usage -= np.bincount(codes, weights, minlength=len(usage))
        lost = float(hidden.sum() if counts is None else counts[hidden].sum())
    return (weighted_sum(usage, losses) + lost * whole) / max(release.original.records, 1)
