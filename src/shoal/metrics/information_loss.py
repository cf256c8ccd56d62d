"""Information loss: ranges by their width, categories by the height of their common ancestor.

Byun et al., "Efficient k-anonymization using clustering techniques", DASFAA 2007. A nominal column
without a hierarchy has the flat tree of the paper: a cell is one value or the whole domain. Departs
from the paper in a range, which costs the bounds that are published, not the values of its class.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.recoding import NO_LEVEL, Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.metrics.cells import over_members
from shoal.metrics.costs import Price, loss, loss_by_attribute, loss_by_record
from shoal.metrics.metric import Metric
from shoal.support.arrays import Floats


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
    return loss(release, _price, raw=raw)


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
    return loss_by_attribute(release, _price, raw=raw)


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
    return loss_by_record(release, _price)


def _price(release: Release, recoding: Recoding) -> Price:
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
    found = np.full(len(subsets), float(tree.height))
    for height in range(tree.height - 1, -1, -1):
        groups = tree.levels[height].groups
        least = over_members(subsets, groups, np.minimum)
        found[least == over_members(subsets, groups, np.maximum)] = height
    return found


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
