"""Certainty penalty by hierarchy: sets of values cost as much as the label that covers them.

One function of the published cells for methods with and without hierarchies: the table's
hierarchies define which values belong together, so a set of values from different branches costs as
much as their common label. In the paper a nominal cell costs as much as the closest common
ancestor of its values.
Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
"""

from __future__ import annotations

import numpy as np

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.metrics.cells import over_members, set_share
from shoal.metrics.costs import Price, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Bools, Floats


def hierarchy_ncp(release: Release) -> float:
    """Return the mean penalty of a cell by the table's hierarchies, weighted by attribute, 0 to 1.

    An ordered cell costs the width of its range divided by the column's extent. A nominal cell
    costs (values − 1) / (domain − 1), where the values are those of the lowest label of the
    column's hierarchy that covers the cell, or its own if the column has no hierarchy. A suppressed
    record costs 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> hierarchy_ncp(release)
    0.375
    """
    columns = release.original.quasi_columns
    total, by_attribute = sum(c.weight for c in columns), hierarchy_ncp_by_attribute(release)
    paid = sum(column.weight * by_attribute[column.name] for column in columns)
    return paid / total if total else 0.0


def hierarchy_ncp_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean penalty of each attribute's cells by the table's hierarchies.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> hierarchy_ncp_by_attribute(release)
    {'age': 0.25, 'sex': 0.5}
    """
    return loss_by_attribute(release, _price)


def hierarchy_ncp_by_record(release: Release) -> Floats:
    """Return the mean penalty of each record's cells by the hierarchies, weighted by attribute.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> hierarchy_ncp_by_record(release).tolist()
    [0.125, 0.125, 0.625, 0.625]
    """
    weights = {column.name: column.weight for column in release.original.quasi_columns}
    return loss_by_record(release, _price, weights)


def uses_hierarchies(release: Release) -> bool | None:
    """Return whether cells are published by the table's hierarchies, None if it has none.

    A method that publishes its own ranges and sets does not use them.
    """
    named = [column.name for column in release.original.quasi_columns if column.hierarchy]
    if not named:
        return None
    return all(_by_label(release.recodings[name]) for name in named)


def _by_label(recoding: Recoding) -> bool:
    """Return whether all published entries are labels of a hierarchy."""
    used = recoding.usage() > 0
    return recoding.levels is not None and bool((recoding.levels[used] >= 0).all())


def _price(release: Release, recoding: Recoding) -> Price:
    column = release.original[recoding.name]
    if column.ordered:
        return Price(recoding.widths(), 1.0)
    sizes = recoding.subsets.sizes.astype(np.float64)
    if column.hierarchy is not None:
        sizes = _sizes_of_labels(recoding.subsets, column.hierarchy, column.domain)
    return Price(set_share(sizes, column.domain), 1.0)


def _sizes_of_labels(subsets: Subsets, hierarchy: Hierarchy, domain: int) -> Floats:
    """(subsets,) number of values under the lowest label that covers each subset.

    All values if only the root covers it.
    Invariant: a subset is settled once it lies within one group, as higher groups are wider.
    """
    sizes = np.full(len(subsets), float(domain))
    open_ones: Bools = subsets.sizes > 1
    sizes[~open_ones] = 1.0
    for level in hierarchy.levels:
        first = over_members(subsets, level.groups, np.minimum)
        together = open_ones & (first == over_members(subsets, level.groups, np.maximum))
        sizes[together] = np.bincount(level.groups, minlength=len(level))[first[together]]
        open_ones = open_ones & ~together
    return sizes


HIERARCHY_NCP = Metric(
    "hierarchy-ncp",
    hierarchy_ncp,
    title="Certainty penalty by hierarchy",
    scope="cell",
    by_cell=True,
    meaning="uncertainty of a published cell, with sets counted by the label that covers them",
    formula="mean over cells: width of a range / extent, or "
    "(values under the covering label − 1) / (domain − 1)",
    use="comparing methods that use hierarchies with methods that do not",
    source="Xu et al. 2006",
    by_attribute=hierarchy_ncp_by_attribute,
    by_record=hierarchy_ncp_by_record,
)
