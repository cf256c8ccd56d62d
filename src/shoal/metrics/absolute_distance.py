"""Absolute distance: total number of levels by which the columns are generalized.

One level of a flat hierarchy counts as much as one level of a deep hierarchy.
Samarati & Sweeney, "Protecting privacy when disclosing information", 1998.
"""

from __future__ import annotations

from functools import partial

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.costs import Price, loss_by_attribute, paid
from shoal.metrics.metric import Metric
from shoal.metrics.needs import known_levels, refuse, without_one_level
from shoal.metrics.scale import scaled


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
    _check(release)
    cost = paid(release, _level)
    return cost.mean if raw else scaled(cost.mean, 0.0, cost.whole, release)


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
    _check(release)
    levels = loss_by_attribute(release, _level, raw=raw)
    records = max(release.original.records, 1)
    return {name: level / records for name, level in levels.items()} if raw else levels


def _level(release: Release, recoding: Recoding) -> Price:
    assert recoding.column.hierarchy is not None
    return Price(known_levels(recoding), float(recoding.column.hierarchy.height))


def _check(release: Release) -> None:
    reason = without_one_level(release)
    if reason:
        refuse("absolute-distance", reason)


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
