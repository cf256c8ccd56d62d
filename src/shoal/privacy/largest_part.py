"""The largest part of a class in which no value is too frequent.

Bounds how many records must leave a class before the rest meets a model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.support.arrays import Counts, Floats

_STEPS = 5
_SLACK = 1e-9  # of the records of a class, for rounding errors


def removed_by_caps(classes: Classes, name: str, caps: Floats, share: float = 1.0) -> Counts:
    """(classes,) lower bound of the records to remove until the values below their caps suffice.

    At least 1 for each class; see `largest_parts`.

    Parameters:
        caps: (domain,) largest share of a part that counts for each value.
        share: Share of a part that must count.
    """
    found = classes.histogram(name)
    whole = classes.rows.astype(np.float64)
    kept = largest_parts(found.counts, caps[found.codes], found.indptr[:-1], whole, share)
    return at_least(whole - kept, classes.rows)


def largest_parts(
    counts: Counts | Floats, caps: Floats, starts: NDArray[np.integer], whole: Floats, share: float
) -> Floats:
    """(classes,) upper bound of the records N of a part with Σ min(count, cap · N) ≥ share · N.

    Let g(N) = Σ min(count, cap · N) − share · N. It is concave and g(0) = 0, so if g(N) < 0 for all
    records of the class, it falls there, and every tangent is above it. So Newton's steps from
    there come down to the largest N with g(N) ≥ 0, and are never below it.

    Parameters:
        counts, caps: Of each value of each class.
        starts: (classes,) the first value of each class.
        whole: (classes,) records of each class.
        share: Share of a part that must count.
    """
    widths = np.diff(np.append(starts, len(counts)))
    kept = whole
    for _ in range(_STEPS):
        most = caps * np.repeat(kept, widths)
        excess = np.add.reduceat(np.minimum(counts, most), starts) - share * kept
        slope = np.add.reduceat(np.where(most < counts, caps, 0.0), starts) - share
        down = (excess < 0) & (slope < 0)
        kept = np.where(down, kept - np.divide(excess, slope, where=down, out=whole * 0), kept)
    return np.clip(kept, 0.0, whole)


def at_least(removed: Floats, rows: Counts) -> Counts:
    """(classes,) the least whole number, from 1 to all records of a class, that a bound implies."""
    least = np.ceil(removed - _SLACK * np.maximum(rows, 1)).astype(np.int64)
    return np.clip(least, 1, np.maximum(rows, 1))
