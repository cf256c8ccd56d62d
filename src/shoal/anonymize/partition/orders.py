"""Orders of records other than the published one."""

from __future__ import annotations

import numpy as np

from shoal.anonymize.partition._runs import write_curve_keys
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Counts

_BITS = 16  # of a coordinate on the curve


def remoteness(records: Records) -> Counts:
    """Return the distance of each record from the mean, in units.

    A missing value is one extent away, and the distance of a nominal value is the share of records
    with another value.
    """
    points, count = records.points, max(len(records), 1)
    away = np.zeros(len(records), dtype=np.int64)
    for place, cap in zip(points.line.T, points.cap, strict=True):
        known = place <= cap
        mean = int(place[known].sum(dtype=np.int64)) // max(int(known.sum()), 1)
        away += np.where(known, np.abs(place - mean), cap)
    for codes, unit in zip(points.name.T, points.unit, strict=True):
        same = np.bincount(codes)[codes]
        away += unit * (count - same) // count
    return away


def hilbert_order(records: Records) -> Counts:
    """Return the records along a Hilbert curve; records in one cell keep the published order.

    The codes of a nominal column are coordinates like others, spread over its whole weight.
    """
    points = records.points
    last = points.name.max(axis=0, initial=1)
    spread = points.name * (points.unit * (last + 1)) // last
    places = np.concatenate([points.line, spread], axis=1, dtype=np.int64)
    places = places * (2**_BITS - 1) // max(int(places.max(initial=0)), 1)
    keys = np.zeros((len(places), -(-_BITS * places.shape[1] // 64)), dtype=np.uint64)
    write_curve_keys(places, _BITS, keys)
    return np.lexsort(keys.T[::-1])


def along_curve(records: Records) -> Counts:
    """Return the order of all records along a Hilbert curve, with equal records adjacent."""
    first = np.flatnonzero(np.diff(records.copies, prepend=-1))
    rank = np.empty(len(records), dtype=np.int64)
    rank[hilbert_order(records)] = np.arange(len(records))
    return np.argsort(rank[first][records.copies], kind="stable")
