"""Diameter: number of attributes in which the two most different released records differ.

Crude: cells either differ or do not, and two records determine the value.
Meyerson & Williams, "On the complexity of optimal k-anonymity", PODS 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from shoal.core.release import Release
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Codes, Counts

_CELLS = 4_000_000  # compared at a time


def diameter(release: Release, *, raw: bool = False) -> float:
    """Return the loss in the greatest Hamming distance, 0 (as in the original) to 1 (all equal).

    Cells differ if their published texts differ. A suppressed record has distance 0 to all others.

    Parameters:
        release: The release to measure.
        raw: Return the distance, from 0 to the number of attributes; higher is better.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> diameter(release), diameter(release, raw=True)  # classes differ in age and in sex
    (0.0, 2.0)
    """
    found = _greatest_distance(_released_tuples(release))
    if raw:
        return float(found)
    tuples = release.original.distinct().table
    before = _greatest_distance([column.codes for column in tuples.quasi_columns])
    return scaled(-found, -before, 0.0, release)


def _released_tuples(release: Release) -> list[Codes]:
    """For each attribute (classes,) the published text of each class, encoded as a number."""
    _, rows = np.unique(release.classes.ids, return_index=True)
    rows = rows[len(rows) - len(release.classes) :]  # without the suppressed ones
    columns = []
    for recoding in release.recodings.values():
        number: dict[str | None, int] = {}
        same = [number.setdefault(text, len(number)) for text in recoding.labels]
        columns.append(np.array(same, dtype=np.int32)[recoding.codes[rows]])
    return columns


def _greatest_distance(columns: Sequence[Codes]) -> int:
    """Return the greatest Hamming distance between two of the distinct tuples.

    Two tuples that differ everywhere cannot both have the most frequent value of an attribute, so
    comparing the other tuples with all of them is enough; the tuples with that value, which agree
    in one attribute, are then compared among themselves. The rarest tuples come first and usually
    end the search early.
    """
    best = 0
    while True:
        counts = [np.bincount(column) for column in columns]
        varied = [j for j, count in enumerate(counts) if np.count_nonzero(count) > 1]
        if best >= len(varied):
            return best
        columns = [columns[j] for j in varied]
        counts = [counts[j] for j in varied]
        most = int(np.argmax([count.max() for count in counts]))
        common = int(counts[most].argmax())
        few = np.flatnonzero(columns[most] != common)
        rarity = np.zeros(len(few), dtype=np.int64)
        for count, column in zip(counts, columns, strict=True):
            rarity += count[column[few]]
        few = few[np.argsort(rarity, kind="stable")]
        best = max(best, _distance_between(columns, few))
        rest = columns[most] == common
        columns = [column[rest] for column in columns]


def _distance_between(columns: Sequence[Codes], few: Counts) -> int:
    """Return the greatest distance between one of a few tuples and any of all tuples.

    few: the positions of the few tuples.
    """
    every = len(columns[0])
    best, begin, step = 0, 0, 1
    while begin < len(few) and best < len(columns):
        part = few[begin : begin + step]
        apart = np.zeros((len(part), every), dtype=np.int16)
        for column in columns:
            apart += column[part][:, None] != column[None, :]
        best = max(best, int(apart.max()))
        begin += step
        step = min(2 * step, max(_CELLS // every, 1))
    return best


DIAMETER = Metric(
    "diameter",
    diameter,
    title="Diameter",
    meaning="attributes in which the most different records differ",
    formula="greatest Hamming distance between two released records",
    use="rarely; two records determine the value",
    source="Meyerson & Williams 2004",
    published=partial(diameter, raw=True),
    raw_range="0 to the number of attributes",
    raw_best="high",
)
