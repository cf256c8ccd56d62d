"""Split & Carry: a chain of small problems, each solved exactly and linked to the next.

Sorted records are read a few at a time and grouped optimally; the groups of the last records are
not final but are carried into the next problem. Good for small k.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, algorithm
1; its future work (§5.2) as `boundary`, `carry` and `order`. Its letters are S for `sets_read`,
l for `boundary`, P for `problem_size` and A for `accepted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.bound import add_bound, check_bound, check_bound_options
from shoal.methods.partition.groups import Weights, release_groups
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.arrays import Codes
from shoal.support.options import check_choice, check_range, check_whole
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.carrying import Links
    from shoal.methods.partition.records import Records

Carry = Literal["published", "least-loss", "bubble"]
Order = Literal["variance", "hilbert"]


@dataclass(frozen=True, kw_only=True)
class SplitCarry:
    """Exact grouping of neighbours in a chain of small problems along an order of the records.

    sets_read: number of k-sets read into each problem; higher values lose less and take longer.
    boundary: number of records at the end of a problem whose groups are carried into the next; by
        default k.
    time_limit: seconds for all problems, divided among them; unused time goes to the remaining
        problems, and a problem that runs out of time keeps its best grouping so far.
    carry: published carries these groups completely; least-loss carries only their records beyond
        k, those that add least; bubble accepts a few groups and carries all other records.
    problem_size: number of records of a problem with bubble; by default 4k.
    accepted: number of groups accepted from a problem with bubble, those of least loss; by default
        2.
    order: variance sorts by the attribute of least variance, then the next; hilbert follows a curve
        that keeps neighbours together in all attributes.
    weights: weights of attributes, by name or in order; they override those of the table.
    bound: also find a lower bound of the loss of any division into classes of k; `release.proof`
        then says how far the release is from the best possible.
    bound_seconds: time limit of the search for the bound; two runs that stop early may differ.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=3, method=SplitCarry(order="hilbert"))
    Release(split-carry, k-anonymity(k=3), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "split-carry"
    sets_read: int = 3
    boundary: int | None = None
    time_limit: float | None = None
    carry: Carry = "published"
    problem_size: int | None = None
    accepted: int | None = None
    order: Order = "variance"
    weights: Weights = None
    bound: bool = False
    bound_seconds: float | None = 300.0

    def __post_init__(self) -> None:
        check_whole("sets_read", self.sets_read, 2)
        check_choice("carry", self.carry, get_args(Carry))
        check_choice("order", self.order, get_args(Order))
        for option, least in (("boundary", 1), ("problem_size", 4), ("accepted", 1)):
            if getattr(self, option) is not None:
                check_whole(option, getattr(self, option), least)
        if self.carry != "bubble" and (self.problem_size, self.accepted) != (None, None):
            raise InputError(
                "problem_size and accepted need carry='bubble'; use sets_read and boundary with "
                "other values of carry"
            )
        if self.time_limit is not None:
            check_range("time_limit", self.time_limit, 0)
        check_bound_options(self)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of the groups found along the chain."""
        check_bound(self, table, model)
        notes: list[str] = []

        def cluster(records: Records, k: int, _: Table) -> Codes:
            from shoal.methods.partition.carrying import Chain
            from shoal.methods.partition.records import hilbert_order

            chain = Chain(records, k, link(self, k))
            along = np.arange(len(records)) if self.order == "variance" else hilbert_order(records)
            ids = chain.solve(along, self.time_limit)
            notes.append(chain.summary())
            return ids

        return add_bound(self, release_groups(table, model, cluster, self.weights, notes))


def link(method: SplitCarry, k: int) -> Links:
    """Return the links between the problems of a method for this k."""
    from shoal.methods.partition.carrying import Links

    size = 4 * k if method.problem_size is None else method.problem_size
    if method.carry == "bubble" and size < 2 * k:
        raise InputError(
            f"problem_size must be {2 * k} or more, twice the size of a group, not {size}"
        )
    return Links(
        method.carry,
        read=k * method.sets_read,
        boundary=k if method.boundary is None else method.boundary,
        size=size,
        accepted=2 if method.accepted is None else method.accepted,
    )
