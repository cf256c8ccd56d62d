"""K-Member: gather groups of k, each around the record furthest from the previous one.

Similar to Greedy Search, but its seeds alternate between the edges of the table.
Byun, Kamra, Bertino & Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007.
There the search begins at a record drawn at random; here it begins at the first in the published
order, so that the same table gives the same release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.anonymize.partition.bounding.bound import add_bound, check_bound, check_bound_options
from shoal.anonymize.partition.groups import Weights, release_groups
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.support.arrays import Codes

if TYPE_CHECKING:
    from shoal.anonymize.partition.records import Records


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
    from shoal.anonymize.partition.neighbours.gathering import gather

    return gather(records, k, None, settle=True)
