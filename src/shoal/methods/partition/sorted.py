"""Sorted: sort the records and group neighbours.

The fastest method and the start of others; its loss depends on the order.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §3.2.3 (the
initial feasible solution); a curve instead of a sort as in Ghinita, Karras, Kalnis & Mamoulis,
"Fast data anonymization with low information loss", VLDB 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from shoal.methods.partition.bound import add_bound, check_bound, check_bound_options
from shoal.methods.partition.groups import Weights, release_groups
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts
from shoal.support.options import check_choice
from shoal.support.progress import report
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.records import Records

Order = Literal["variance", "hilbert"]
Sizes = Literal["consecutive", "best"]
_BUDGET = 2_000_000  # comparisons between two progress reports


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """Groups of neighbours in an order; as published with order=variance, grouping=consecutive.

    order: variance sorts lexicographically with the attribute of least variance first; hilbert
        follows a curve that keeps similar records together.
    grouping: consecutive makes groups of k with the rest in the last group; best minimizes the loss
        over groups of k to 2k − 1 neighbours.
    weights: cost of losing each quasi-identifier, by name or in order.
    bound: also find a lower bound of the loss of any division into classes of k; `release.proof`
        then says how far the release is from the best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=Sorted(grouping="consecutive"))
    Release(sorted, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "sorted"
    order: Order = "hilbert"
    grouping: Sizes = "best"
    weights: Weights = None
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        check_choice("order", self.order, get_args(Order))
        check_choice("grouping", self.grouping, get_args(Sizes))
        check_bound_options(self)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of groups of neighbours."""
        check_bound(self, table, model)

        def cluster(records: Records, k: int, _: Table) -> Codes:
            order = np.arange(len(records))
            if self.order == "hilbert":
                from shoal.methods.partition.records import hilbert_order

                order = hilbert_order(records)
            divide = group_best if self.grouping == "best" else group_evenly
            return divide(records, k, order)

        return add_bound(self, release_groups(table, model, cluster, self.weights))


def group_evenly(records: Records, k: int, order: Counts) -> Codes:
    """Return groups of k consecutive records; the last group takes the rest.

    order: (records,) the records in order.
    """
    ids = np.empty(len(records), dtype=np.int32)
    ids[order] = np.minimum(np.arange(len(records)) // k, max(len(records) // k - 1, 0))
    return ids


def group_best(records: Records, k: int, order: Counts) -> Codes:
    """Return the groups of k to 2k − 1 consecutive records with the least loss."""
    from shoal.methods.partition._boxes import make_boxes
    from shoal.methods.partition._runs import choose_runs, number_runs

    count = len(records)
    ids = np.zeros(count, dtype=np.int32)
    if count < 2 * k:
        return ids
    costs, sizes = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    box = make_boxes(records.points, 1)
    step = max(_BUDGET // k, 1)
    for begin in range(0, count, step):
        end = min(begin + step, count)
        choose_runs(records.points, order, k, begin, end, costs, sizes, box)
        report("group", end, count)
    number_runs(order, sizes, ids)
    return ids
