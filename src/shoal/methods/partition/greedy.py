"""Greedy Search and K-Member: gather groups of k around one seed after the other.

    greedy      seeds in the published order: the first groups are tight and the last ones take the
                remaining records
    k-member    each seed is the record furthest from the previous one, so seeds alternate between
                the edges of the table

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, algorithm
2; also Liang & Samavi, "Optimization-based k-anonymity algorithms", 2020. Byun, Kamra, Bertino &
Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007: there the search begins at
a record drawn at random; here it begins at the first in the published order, so that the same table
gives the same release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.methods.partition.bound import add_bound, check_bound, check_bound_options
from shoal.methods.partition.groups import Weights, release_groups
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.arrays import Codes
from shoal.support.options import check_choice
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.records import Records


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Groups of k around one record after the other; ties go to the earlier record.

    weights: cost of losing each quasi-identifier, by name or in order.
    expand: count a nominal column as one boolean column for each of its values, each with a share
        of the weight: a second value then costs twice as much as a third.
    outliers_first: start with records far from the mean instead of the published order; loses
        less.
    bound: also find a lower bound of the loss of any division into classes of k; `release.proof`
        then says how far the release is from the best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=Greedy(outliers_first=True))
    Release(greedy, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "greedy"
    weights: Weights = None
    expand: bool = False
    outliers_first: bool = False
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        for option in ("expand", "outliers_first"):
            check_choice(option, getattr(self, option), (True, False))
        check_bound_options(self)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of the groups that Greedy Search finds."""
        check_bound(self, table, model)

        def cluster(records: Records, k: int, _: Table) -> Codes:
            return group_greedily(
                records, k, outliers_first=self.outliers_first, expand=self.expand
            )

        return add_bound(self, release_groups(table, model, cluster, self.weights))


def group_greedily(
    records: Records, k: int, *, outliers_first: bool = False, expand: bool = False
) -> Codes:
    """Return the group of each record, from 0 without gaps, with at least k records each."""
    from shoal.methods.partition.nearest import first_copies, gather

    starts = first_copies(records)
    seeds = np.arange(len(starts))
    if outliers_first:
        from shoal.methods.partition.records import remoteness

        seeds = np.argsort(-remoteness(records)[starts], kind="stable")
    unit = records.points.unit
    return gather(records, k, seeds, 2 * unit if expand else unit)


@dataclass(frozen=True, kw_only=True)
class KMember:
    """Groups of k around distant records; ties go to the earlier record.

    weights: cost of losing each quasi-identifier, by name or in order.
    bound: also find a lower bound of the loss of any division into classes of k; `release.proof`
        then says how far the release is from the best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=KMember(weights={"age": 2, "sex": 1, "zipcode": 1}))
    Release(k-member, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "k-member"
    weights: Weights = None
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        check_bound_options(self)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of the groups that K-Member finds."""
        check_bound(self, table, model)

        def cluster(records: Records, k: int, _: Table) -> Codes:
            return group_by_members(records, k)

        return add_bound(self, release_groups(table, model, cluster, self.weights))


def group_by_members(records: Records, k: int) -> Codes:
    """Return the group of each record, from 0 without gaps, with at least k records each.

    The first seed is the record furthest from the first in the published order. Leftovers go, one
    after the other, to the group whose loss grows least.
    """
    from shoal.methods.partition.nearest import gather

    return gather(records, k, None, settle=True)
