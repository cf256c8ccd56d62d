"""Losses by the width of a cell: granularity, information loss, and the certainty penalties.

Each metric is a price, a cost for each dictionary entry, and its sums over all cells, by attribute
and by record. An ordered cell costs its range / the extent, except in granularity, where all
columns count values. They differ in what a nominal cell costs:

    granularity        (values − 1) / domain
    ncp, gcp           (values − 1) / domain, attributes weighted; gcp is the sum over a record
    hierarchy_ncp      (values under the lowest label that covers the cell − 1) / (domain − 1), so
                       that methods with and without hierarchies compare
    information_loss   level of the lowest common ancestor / height

Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002 (granularity). Xu et al.,
"Utility-based anonymization using local recoding", KDD 2006, and Liang, "Algorithms in privacy &
security for data analytics and machine learning", 2020, definitions 8 and 9 (NCP, GCP). Byun et
al., "Efficient k-anonymization using clustering techniques", DASFAA 2007 (information loss): a
range costs its published bounds here, not the values of its class, and a nominal column without a
hierarchy has the flat tree of the paper.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.metrics.metric import (
    Metric,
    Price,
    loss,
    loss_by_attribute,
    loss_by_record,
    over_members,
    set_share,
)
from shoal.release.release import Release
from shoal.support.arrays import Bools, Floats
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import NO_LEVEL, Recoding
from shoal.table.subsets import Subsets


def granularity(release: Release, *, raw: bool = False) -> float:
    """Return the other values that cells may stand for, from 0 (best) to 1 (all suppressed).

    A cell costs (values − 1) / domain, whatever the kind of its column.

    Parameters:
        release: The release to measure.
        raw: Return the sum over all cells.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity(release), granularity(release, raw=True)
    (0.4, 2.0)
    """
    return loss(release, _granularity_price, raw=raw)


def granularity_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the granularity of each attribute's cells.

    Parameters:
        release: The release to measure.
        raw: Return the sum over the cells.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity_by_attribute(release, raw=True)
    {'age': 1.0, 'sex': 1.0}
    """
    return loss_by_attribute(release, _granularity_price, raw=raw)


def granularity_by_record(release: Release) -> Floats:
    """Return the cost of each record's cells, divided by that of a suppressed record.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> granularity_by_record(release).round(3).tolist()
    [0.2, 0.2, 0.6, 0.6]
    """
    return loss_by_record(release, _granularity_price)


def _granularity_price(release: Release, recoding: Recoding) -> Price:
    domain = max(recoding.column.domain, 1)
    others = recoding.subsets.sizes - 1
    return Price(np.asarray(others / domain, dtype=np.float64), (domain - 1) / domain)


GRANULARITY = Metric(
    "granularity",
    granularity,
    title="Granularity",
    scope="cell",
    by_cell=True,
    meaning="other values that a cell may stand for",
    formula="sum over cells: (values − 1) / domain",
    use="nominal data, or numbers without meaningful distances",
    source="Iyengar 2002",
    published=partial(granularity, raw=True),
    raw_range="0 to cells",
    by_attribute=granularity_by_attribute,
    by_record=granularity_by_record,
)


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
    penalty = sum(column.weight * by_attribute[column.name] for column in columns)
    return penalty / total if total else 0.0


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
    return loss_by_attribute(release, _hierarchy_price)


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
    return loss_by_record(release, _hierarchy_price, weights)


def uses_hierarchies(release: Release) -> bool | None:
    """Return whether cells are published by the table's hierarchies, None if it has none.

    A method that publishes its own ranges and sets does not use them.
    """
    named = [column.name for column in release.original.quasi_columns if column.hierarchy]
    if not named:
        return None
    for name in named:
        recoding = release.recodings[name]
        if recoding.levels is None or (recoding.levels[recoding.usage() > 0] == NO_LEVEL).any():
            return False
    return True


def _hierarchy_price(release: Release, recoding: Recoding) -> Price:
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
    """
    sizes = np.full(len(subsets), float(domain))
    # a subset is settled at the first level where it lies within one group: higher ones are wider
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


def information_loss(release: Release, *, raw: bool = False) -> float:
    """Return the mean loss of a cell, from 0 (best) to 1.

    Ordered: width of the published bounds / extent of the column; nominal: level / height of the
    hierarchy, where a set counts as its lowest common ancestor; a suppressed record counts 1.

    Parameters:
        release: The release to measure.
        raw: Return the sum over all cells.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> information_loss(release), information_loss(release, raw=True)
    (0.375, 3.0)
    """
    return loss(release, _range_price, raw=raw)


def information_loss_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the mean loss of each attribute's cells.

    Parameters:
        release: The release to measure.
        raw: Return the sum over the cells.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> information_loss_by_attribute(release)
    {'age': 0.25, 'sex': 0.5}
    """
    return loss_by_attribute(release, _range_price, raw=raw)


def information_loss_by_record(release: Release) -> Floats:
    """Return the mean loss of each record's cells.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> information_loss_by_record(release).tolist()
    [0.125, 0.125, 0.625, 0.625]
    """
    return loss_by_record(release, _range_price)


def _range_price(release: Release, recoding: Recoding) -> Price:
    if recoding.column.ordered:
        return Price(recoding.widths(), 1.0)
    tree = recoding.column.hierarchy
    if tree is None:
        return Price((recoding.subsets.sizes > 1).astype(np.float64), 1.0)
    levels = _ancestor_levels(tree, recoding.subsets)
    if recoding.levels is not None:
        levels = np.where(recoding.levels == NO_LEVEL, levels, recoding.levels)
    return Price(levels / max(tree.height, 1), 1.0)


def _ancestor_levels(tree: Hierarchy, subsets: Subsets) -> Floats:
    """(subsets,) level of the lowest group that contains all members."""
    lowest = np.full(len(subsets), float(tree.height))
    for height in range(tree.height - 1, -1, -1):
        groups = tree.levels[height].groups
        least = over_members(subsets, groups, np.minimum)
        lowest[least == over_members(subsets, groups, np.maximum)] = height
    return lowest


INFORMATION_LOSS = Metric(
    "information-loss",
    information_loss,
    title="Information loss",
    scope="cell",
    meaning="width of ranges, height of categories",
    formula="sum over cells: width of a range / extent, or level / height of the hierarchy",
    use="mixed data with hierarchies for its categories",
    source="Byun et al. 2007",
    published=partial(information_loss, raw=True),
    raw_range="0 to cells",
    by_attribute=information_loss_by_attribute,
    by_record=information_loss_by_record,
)


def ncp(release: Release) -> float:
    """Return the mean penalty of a cell, weighted by attribute, from 0 (best) to 1.

    An ordered cell costs the width of its range divided by the column's extent, a nominal cell
    (values − 1) / domain; a suppressed record costs 1. Attribute weights are scaled to sum to 1.

    Parameters:
        release: The release to measure.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp(release)
    0.25
    """
    total = sum(column.weight for column in release.original.quasi_columns)
    return gcp(release) / total if total else 0.0


def gcp(release: Release) -> float:
    """Return the mean over records of the weighted sum of cell penalties, 0 (best) and up.

    Parameters:
        release: The release to measure.

    Returns:
        The penalty, from 0 to the sum of the attributes' weights.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> gcp(release)  # each of the two columns costs 0.25 on average
    0.5
    """
    by_attribute = ncp_by_attribute(release)
    return sum(
        column.weight * by_attribute[column.name] for column in release.original.quasi_columns
    )


def ncp_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean penalty of each attribute's cells.

    Parameters:
        release: The release to measure.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp_by_attribute(release)
    {'age': 0.25, 'sex': 0.25}
    """
    return loss_by_attribute(release, _ncp_price)


def ncp_by_record(release: Release) -> Floats:
    """Return the mean penalty of each record's cells, weighted by attribute.

    Parameters:
        release: The release to measure.

    Returns:
        (rows,) the loss of each record, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> ncp_by_record(release).tolist()
    [0.125, 0.125, 0.375, 0.375]
    """
    weights = {column.name: column.weight for column in release.original.quasi_columns}
    return loss_by_record(release, _ncp_price, weights)


def _ncp_price(release: Release, recoding: Recoding) -> Price:
    if recoding.column.ordered:
        return Price(recoding.widths(), 1.0)
    sizes = recoding.subsets.sizes
    return Price(np.asarray((sizes - 1) / max(recoding.column.domain, 1), dtype=np.float64), 1.0)


NCP = Metric(
    "ncp",
    ncp,
    title="Normalized certainty penalty",
    scope="cell",
    by_cell=True,
    meaning="normalized certainty penalty, weighted by attribute",
    formula="mean over cells: width of a range / extent, or (values − 1) / domain",
    use="the usual single figure; uses the weights of attributes",
    source="Xu et al. 2006; Liang 2020",
    published=gcp,
    raw_range="0 to the sum of weights",
    by_attribute=ncp_by_attribute,
    by_record=ncp_by_record,
)
