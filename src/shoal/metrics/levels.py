"""Losses by hierarchy level, and by squared distance from the original.

    absolute_distance        levels by which the columns are generalized; one level counts the same
                             in flat and deep hierarchies (Samarati & Sweeney, 1998)
    precision                mean of level / height over cells; compares releases of the same
                             hierarchies only (Sweeney, IJUFKS 10(5), 2002)
    relative_distance        the same over columns that have one level each
    squared_distance_error   distance of a record from its original, a cell read as its mean; not
                             monotone: the mean of a wide cell can be nearer than that of a narrow
                             one

A suppressed record counts as fully generalized. Soria-Comas et al., "t-Closeness through
microaggregation", TKDE 27(11), 2015, and de Spoelberch, "The limits of information loss metrics as
measures for utility", 2020, section 2.2.9, do not scale the values of squared distances; here each
attribute is scaled by its extent, or the one in the smallest unit would dominate.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.metrics.divergence import with_hidden_rows
from shoal.metrics.metric import (
    Metric,
    Price,
    known_levels,
    loss_by_attribute,
    loss_by_record,
    over_members,
    paid,
    require,
    scaled,
    without_levels,
    without_one_level,
)
from shoal.release.release import Release
from shoal.support.arrays import Codes, Floats, weighted_sum
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets


def absolute_distance(release: Release, *, raw: bool = False) -> float:
    """Return the sum of the columns' levels divided by the sum of their heights, 0 (best) to 1.

    A suppressed record counts as fully generalized.

    Parameters:
        release: A release that publishes each column at one level of its hierarchy.
        raw: Return the sum of levels, from 0 to the sum of heights.

    Returns:
        The loss.

    Raises:
        InputError: A column has no hierarchy, or is published at several levels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> absolute_distance(release), absolute_distance(release, raw=True)  # level 1 of 2
    (0.5, 1.0)
    """
    require("absolute-distance", without_one_level, release)
    cost = paid(release, _level)
    return cost.mean if raw else scaled(cost.mean, 0.0, cost.suppressed, release)


def absolute_distance_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the level of each column, divided by its height.

    Parameters:
        release: A release that publishes each column at one level of its hierarchy.
        raw: Return the level itself.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    Raises:
        InputError: A column has no hierarchy, or is published at several levels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> absolute_distance_by_attribute(release)
    {'age': 0.5}
    """
    require("absolute-distance", without_one_level, release)
    levels = loss_by_attribute(release, _level, raw=raw)
    records = max(release.original.records, 1)
    return {name: level / records for name, level in levels.items()} if raw else levels


def _level(release: Release, recoding: Recoding) -> Price:
    assert recoding.column.hierarchy is not None
    return Price(known_levels(recoding), float(recoding.column.hierarchy.height))


ABSOLUTE_DISTANCE = Metric(
    "absolute-distance",
    absolute_distance,
    title="Absolute distance",
    scope="cell",
    meaning="levels by which the columns are generalized",
    formula="sum of the columns' levels / sum of the hierarchies' heights",
    use="the height of a node in the lattice",
    source="Samarati & Sweeney 1998",
    published=partial(absolute_distance, raw=True),
    raw_range="0 to the sum of heights",
    requires="every column published at one level of a hierarchy",
    lacking=without_one_level,
    by_attribute=absolute_distance_by_attribute,
)


def precision(release: Release, *, raw: bool = False) -> float:
    """Return the mean of level / height over all cells, from 0 (best) to 1.

    Parameters:
        release: A release whose cells are labels of the columns' hierarchies.
        raw: Return Prec, which is 1 minus that mean; 1 is best.

    Returns:
        The loss.

    Raises:
        InputError: A column has no hierarchy, or a cell is not one of its labels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> precision(release)  # level 1 of 2
    0.5
    """
    require("precision", without_levels, release)
    cost = paid(release, relative_level)
    lost = cost.mean / max(len(release.recodings), 1)
    return 1.0 - lost if raw else lost


def precision_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the mean level / height of each attribute.

    Parameters:
        release: A release whose cells are labels of the columns' hierarchies.
        raw: Return Prec, which is 1 minus that mean; 1 is best.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    Raises:
        InputError: A column has no hierarchy, or a cell is not one of its labels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> precision_by_attribute(release)
    {'age': 0.5}
    """
    require("precision", without_levels, release)
    losses = loss_by_attribute(release, relative_level)
    return {name: 1.0 - lost for name, lost in losses.items()} if raw else losses


def precision_by_record(release: Release) -> Floats:
    """Return the mean level / height of each record's cells.

    Parameters:
        release: A release whose cells are labels of the columns' hierarchies.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    Raises:
        InputError: A column has no hierarchy, or a cell is not one of its labels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> precision_by_record(release).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    require("precision", without_levels, release)
    return loss_by_record(release, relative_level)


def relative_level(release: Release, recoding: Recoding) -> Price:
    """Return the cost of a cell: its level / the height of the hierarchy."""
    assert recoding.column.hierarchy is not None
    return Price(known_levels(recoding) / max(recoding.column.hierarchy.height, 1), 1.0)


PRECISION = Metric(
    "precision",
    precision,
    title="Precision",
    scope="cell",
    by_cell=True,
    meaning="how far up their hierarchies the cells are generalized",
    formula="mean over cells: level / height",
    use="full-domain and local recoding with the same hierarchies",
    source="Sweeney 2002",
    published=partial(precision, raw=True),
    raw_best="high",
    requires="every cell is a label of a hierarchy",
    lacking=without_levels,
    by_attribute=precision_by_attribute,
    by_record=precision_by_record,
)


def relative_distance(release: Release, *, raw: bool = False) -> float:
    """Return the mean of level / height over columns, from 0 (best) to 1.

    A suppressed record counts as fully generalized. The value equals that of `precision`.

    Parameters:
        release: A release that publishes each column at one level of its hierarchy.
        raw: Return the sum over columns, from 0 to their number.

    Returns:
        The loss.

    Raises:
        InputError: A column has no hierarchy, or is published at several levels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> relative_distance(release)  # level 1 of 2
    0.5
    """
    require("relative-distance", without_one_level, release)
    cost = paid(release, relative_level)
    return cost.mean if raw else cost.mean / max(len(release.recodings), 1)


def relative_distance_by_attribute(release: Release) -> dict[str, float]:
    """Return the level / height of each column.

    Parameters:
        release: A release that publishes each column at one level of its hierarchy.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    Raises:
        InputError: A column has no hierarchy, or is published at several levels.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 30, 40, 50]})
    >>> recipes = {"age": {"intervals": [20]}}
    >>> release = shoal.anonymize(ages, k=2, method="datafly", quasi="age", hierarchies=recipes)
    >>> relative_distance_by_attribute(release)
    {'age': 0.5}
    """
    require("relative-distance", without_one_level, release)
    return loss_by_attribute(release, relative_level)


RELATIVE_DISTANCE = Metric(
    "relative-distance",
    relative_distance,
    title="Relative distance",
    scope="cell",
    meaning="how far the columns are generalized, each relative to its height",
    formula="mean over columns: level / height",
    use="the same, if hierarchies differ in height",
    source="Sweeney 2002",
    published=partial(relative_distance, raw=True),
    raw_range="0 to the number of attributes",
    requires="every column published at one level of a hierarchy",
    lacking=without_one_level,
    by_attribute=relative_distance_by_attribute,
)


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
    errors = {}
    for name, recoding in with_hidden_rows(release).items():
        column = recoding.column
        total = _total(release, _squares(column, recoding.subsets, recoding.codes))
        most = _total(release, _squares(column, _whole(column), np.zeros_like(column.codes)))
        errors[name] = total if raw else scaled(total, 0.0, most, release)
    return errors


def _total(release: Release, squares: Floats) -> float:
    distances, counts = np.sqrt(squares), release.original.counts
    return float(distances.sum()) if counts is None else weighted_sum(distances, counts)


def _squares(column: Column, subsets: Subsets, entries: Codes) -> Floats:
    """(rows,) squared distance of each cell from its original."""
    if not column.ordered:
        # the centre of n points with pairwise distance 1 is √((1 − 1/n) / 2) away from each of them
        away: Floats = (1 - 1 / np.maximum(subsets.sizes, 1)) / 2
        return away[entries]
    places = places_on_extent(column)
    # a mean is taken over the known values; a cell that may also be missing is handled below
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
