"""Relative distance: how far the columns are generalized, each relative to its own height.

Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS
10(5), 2002.
"""

from __future__ import annotations

from functools import partial

from shoal.core.release import Release
from shoal.metrics.costs import loss_by_attribute, paid
from shoal.metrics.metric import Metric
from shoal.metrics.needs import refuse, without_one_level
from shoal.metrics.precision import relative_level


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
    _check(release)
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
    _check(release)
    return loss_by_attribute(release, relative_level)


def _check(release: Release) -> None:
    reason = without_one_level(release)
    if reason:
        refuse("relative-distance", reason)


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
