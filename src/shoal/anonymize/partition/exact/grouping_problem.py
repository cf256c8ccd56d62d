"""The problem of an exact search: records, the best grouping so far and the best bound so far.

Everything is counted in whole units of the records. Equal records are of one kind, and a group is
a list of kinds: which of several equal records it holds makes no difference.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.anonymize.partition._random import Near
from shoal.anonymize.partition.annealing.annealing import near_records
from shoal.anonymize.partition.exact._pricing import Space, make_space
from shoal.anonymize.partition.exact.starting import swap_down
from shoal.anonymize.partition.greedy import group_greedily
from shoal.anonymize.partition.records import Records
from shoal.core.arrays import Codes, Counts
from shoal.core.progress import report

FINE = 2**16  # duals are multiples of 1 / FINE
_NEAR = 10  # neighbours of a record
_BLUR = 64  # what rounding a group's duals may come to, generously
_LITTLE = 2_000_000  # a saving of less than this part of the loss is not looked for


class OutOfTime(Exception):  # noqa: N818  a reason to stop, not a fault
    """The time is up, or the search cannot go on, for the reason given."""


@dataclass(eq=False)
class GroupingProblem:
    """Records to be grouped by k at least.

    ids: the best grouping so far; loss: its loss. bound: no grouping loses less.
    deadline: when to stop, on the monotonic clock. stopped: why the search ended early.
    """

    records: Records
    k: int
    ids: Codes
    deadline: float
    loss: int = field(init=False)
    bound: int = 0
    stopped: str = ""

    def __post_init__(self) -> None:
        self.loss = self.records.units(self.ids)

    @cached_property
    def counts(self) -> Counts:
        """(kinds,) how many records are of each kind."""
        return np.bincount(self.records.copies).astype(np.int64)

    @cached_property
    def first(self) -> Counts:
        """(kinds,) the first record of each kind."""
        return np.searchsorted(self.records.copies, np.arange(len(self.counts)))

    @cached_property
    def room(self) -> int:
        """The most records of a group: a larger one can be divided at no loss."""
        return min(2 * self.k - 1, len(self.records))

    @cached_property
    def space(self) -> Space:
        """The records as the search for groups sees them."""
        points = self.records.points
        return make_space(points.line, points.cap, points.name, points.unit, self.records.copies)

    @property
    def slack(self) -> int:
        """What a better grouping must save.

        Positions are rounded to units: groupings of equal loss come out as much as a unit for each
        cell apart, and there is no use in telling them from each other.
        """
        cells = int(self.records.points.line.size + self.records.points.name.size)
        return max(min(cells, self.loss // _LITTLE), 1)

    def tolerance(self, groups: int) -> float:
        """Return a reduced cost that so many groups may fall short by without any effect."""
        return max(self.slack // (2 * groups), _BLUR / FINE)

    @property
    def goal(self) -> int:
        """Where nothing below this bound is left, the best grouping is as good as any."""
        return self.loss - self.slack + 1

    @property
    def seconds_left(self) -> float:
        """Time until the deadline."""
        return self.deadline - time.monotonic()

    def check_time(self) -> None:
        """Report how far the bound is, and stop if the time is up."""
        report("solve", self.bound / max(self.loss, 1), 1.0)
        if self.seconds_left <= 0:
            raise OutOfTime("time is up")

    def raise_bound(self, bound: int) -> None:
        """Note a bound that holds for every grouping."""
        self.bound = max(self.bound, min(bound, self.loss))

    def improve(self, ids: Codes) -> None:
        """Note a grouping if it is better."""
        loss = self.records.units(ids)
        if loss < self.loss and int(np.bincount(ids).min()) >= self.k:
            self.ids, self.loss = ids, loss

    def improve_by(self, groups: Codes) -> bool:
        """Note a grouping made of listed groups if it is better; tell whether they are one."""
        size = len(self.counts)
        known = groups[groups < size]
        if not np.array_equal(np.bincount(known, minlength=size), self.counts):
            return False
        label = np.repeat(np.arange(len(groups), dtype=np.int32), (groups < size).sum(axis=1))
        ids = np.empty(len(self.records), dtype=np.int32)
        ids[:] = label[np.argsort(known, kind="stable")]
        self.improve(ids)
        return True

    def complete(self, groups: Codes) -> None:
        """Put the records that listed groups leave out into groups too, polish, note if better."""
        ids, free = np.full(len(self.records), -1, dtype=np.int32), self.first.copy()
        for group, row in enumerate(groups):
            for kind in row[row < len(self.counts)]:
                ids[free[kind]] = group
                free[kind] += 1
        left = np.flatnonzero(ids < 0)
        if len(left) >= self.k:
            rest = group_greedily(self.records.take(left), self.k, outliers_first=True)
            ids[left] = len(groups) + rest
        elif len(left):
            sizes = np.bincount(ids[ids >= 0], minlength=len(groups))
            open_groups = np.flatnonzero(sizes < self.room)
            if len(open_groups) < len(left):
                return
            ids[left] = open_groups[: len(left)]
        self.improve(swap_down(self.records, self.near, ids, self.k))

    @cached_property
    def near(self) -> Near:
        """Which records lie near which."""
        return near_records(self.records, _NEAR, 1)

    def losses(self, groups: Codes) -> Counts:
        """Return the loss of each listed group."""
        size = len(self.counts)
        ids = np.repeat(np.arange(len(groups), dtype=np.int32), (groups < size).sum(axis=1))
        _, sizes, widths = self.records.take(self.first[groups[groups < size]]).boxes(
            ids, len(groups)
        )
        return sizes * widths

    def listed(self, ids: Codes) -> Codes:
        """Return the groups of a grouping, (groups, room), as lists of kinds, ascending."""
        sizes = np.bincount(ids)
        groups = np.full((len(sizes), self.room), len(self.counts), dtype=np.int32)
        order = np.argsort(ids, kind="stable")
        place = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        groups[ids[order], place] = self.records.copies[order]
        return groups
