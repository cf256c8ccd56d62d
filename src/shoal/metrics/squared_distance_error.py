"""Squared distance error: distance of records from their originals, reading a cell as its mean.

Not monotone: the mean of a wide cell can be closer to the value than the mean of a narrow one.
Soria-Comas et al., "t-Closeness through microaggregation", TKDE 27(11), 2015; de Spoelberch, "The
limits of information loss metrics as measures for utility", 2020, section 2.2.9, which does not
scale the values. Here every attribute is scaled by its extent; otherwise the attribute in the
smallest unit would dominate.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.column import Column
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.metrics.boxes import with_hidden_rows
from shoal.metrics.cells import over_members
from shoal.metrics.metric import Metric
from shoal.metrics.scale import scaled
from shoal.support.arrays import Codes, Floats, weighted_sum


def squared_distance_error(release: Release, *, raw: bool = False) -> float:
    """Return the distance of records from their originals, 0 (best) to 1 (all suppressed).

    The distance of a record is the root of the sum of its cells' squared distances. The position of
    an ordered cell is the mean of its values, as a share of the extent. Nominal values have
    distance 1 from each other, and the position of a cell is the centre of its values. A cell that
    may be missing or some other value has distance 1.

    Parameters:
        release: The release to measure.
        raw: Return the sum over records.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> round(squared_distance_error(release), 3)
    0.506
    """
    moved = np.zeros(len(release.original))
    furthest = np.zeros(len(release.original))
    for recoding in with_hidden_rows(release).values():
        column = recoding.column
        moved += _squares(column, recoding.subsets, recoding.codes)
        furthest += _squares(column, _whole(column), np.zeros_like(column.codes))
    total, most = (_total(release, squares) for squares in (moved, furthest))
    return total if raw else scaled(total, 0.0, most, release)


def squared_distance_error_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the error of each attribute, as if it were the only one.

    Parameters:
        release: The release to measure.
        raw: Return the sum over records.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> squared_distance_error_by_attribute(release, raw=True)["age"]  # 4 · 5 / 40
    0.5
    """
    found = {}
    for name, recoding in with_hidden_rows(release).items():
        column = recoding.column
        total = _total(release, _squares(column, recoding.subsets, recoding.codes))
        most = _total(release, _squares(column, _whole(column), np.zeros_like(column.codes)))
        found[name] = total if raw else scaled(total, 0.0, most, release)
    return found


def _total(release: Release, squares: Floats) -> float:
    distances, counts = np.sqrt(squares), release.original.counts
    return float(distances.sum()) if counts is None else weighted_sum(distances, counts)


def _squares(column: Column, subsets: Subsets, entries: Codes) -> Floats:
    """(rows,) squared distance of each cell from its original."""
    if not column.ordered:
        # the centre of n points with pairwise distance 1 is √((1 − 1/n) / 2) away from each
        away: Floats = (1 - 1 / np.maximum(subsets.sizes, 1)) / 2
        return away[entries]
    places = places_on_extent(column)
    known = over_members(subsets, (np.arange(column.domain) < column.known).astype(np.int64))
    means = over_members(subsets, places) / np.maximum(known, 1)
    squares: Floats = (places[column.codes] - means[entries]) ** 2
    if column.missing is None:
        return squares
    mixed = (subsets.last == column.missing) & (subsets.sizes > 1)
    return np.where(mixed[entries], 1.0, squares)


def places_on_extent(column: Column) -> Floats:
    """(domain,) position of each value on the column's extent, 0 to 1; 0 for missing."""
    low, high = column.extent
    if not high > low:
        return np.zeros(column.domain)
    return np.nan_to_num((column.positions - low) / (high - low))


def _whole(column: Column) -> Subsets:
    last = np.full(1, column.domain - 1, dtype=np.int32)
    return Subsets.ranges(column.domain, np.zeros(1, dtype=np.int32), last)


SQUARED_DISTANCE_ERROR = Metric(
    "squared-distance-error",
    squared_distance_error,
    title="Squared distance error",
    meaning="distance of records from their originals, reading a cell as its mean",
    formula="sum over records: root of the summed squares of value − mean of the cell's values",
    use="numbers read as the middle of their ranges",
    source="Soria-Comas et al. 2015",
    published=partial(squared_distance_error, raw=True),
    raw_range="0 to records · √attributes",
    by_attribute=squared_distance_error_by_attribute,
)
