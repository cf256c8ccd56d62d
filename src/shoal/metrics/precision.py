"""Precision: how far up their hierarchies the cells are generalized.

It depends on the hierarchies and cannot compare releases made with different ones.
Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS
10(5), 2002. A suppressed record counts as fully generalized.
"""

from __future__ import annotations

from functools import partial

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.metrics.costs import Price, loss_by_attribute, loss_by_record, paid
from shoal.metrics.metric import Metric
from shoal.metrics.needs import known_levels, refuse, without_levels
from shoal.support.arrays import Floats


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
    _check(release)
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
    _check(release)
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
    _check(release)
    return loss_by_record(release, relative_level)


def relative_level(release: Release, recoding: Recoding) -> Price:
    """Return the cost of a cell: its level / the height of the hierarchy."""
    assert recoding.column.hierarchy is not None
    return Price(known_levels(recoding) / max(recoding.column.hierarchy.height, 1), 1.0)


def _check(release: Release) -> None:
    reason = without_levels(release)
    if reason:
        refuse("precision", reason)


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
