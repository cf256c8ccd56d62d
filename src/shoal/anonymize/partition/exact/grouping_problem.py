"""The problem of an exact search: records, the best grouping so far and the best bound so far.

Everything is counted in whole units of the records. Equal records are of one kind, and a group is
a list of kinds: equal records are interchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.anonymize.partition._neighbours import Near
from shoal.anonymize.partition.annealing.annealing import near_records
from shoal.anonymize.partition.exact._pricing import Space, make_space
from shoal.anonymize.partition.exact.starting import swap_down
from shoal.anonymize.partition.greedy import group_greedily
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report
from shoal.support.stopwatch import working_time

FINE = 2**16  # duals are multiples of 1 / FINE
_NEAR = 10  # neighbours of a record
_BLUR = 64  # generous bound on the rounding error of a group's duals
_LITTLE = 2_000_000  # a saving below the loss divided by this is not searched for


class OutOfTime(Exception):  # noqa: N818  a reason to stop, not an error
    """The time is up, or the search cannot go on, for the reason given."""


@dataclass(eq=False)
class GroupingProblem:
    """Records to be divided into groups of at least k.

    ids: the best grouping so far; loss: its loss. bound: no grouping loses less.
    deadline: when to stop, by `working_time`. stopped: why the search ended early.
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
        """(kinds,) number of records of each kind."""
        return np.bincount(self.records.copies).astype(np.int64)

    @cached_property
    def first(self) -> Counts:
        """(kinds,) the first record of each kind."""
        return np.searchsorted(self.records.copies, np.arange(len(self.counts)))

    @cached_property
    def room(self) -> int:
        """Largest number of records of a group: a larger group can be divided without loss."""
        return min(2 * self.k - 1, len(self.records))

    @cached_property
    def space(self) -> Space:
        """The records in the layout of the search for groups."""
        points = self.records.points
        return make_space(points.line, points.cap, points.name, points.unit, self.records.copies)

    @property
    def cells(self) -> int:
        """Number of cells; a computed loss is off by at most one unit for each."""
        return int(self.records.points.line.size + self.records.points.name.size)

    @property
    def slack(self) -> int:
        """Least saving of a better grouping.

        Positions are rounded to units: the computed losses of equal groupings can differ by up to
        one unit per cell, so smaller differences are ignored.
        """
        return max(min(self.cells, self.loss // _LITTLE), 1)

    def tolerance(self, groups: int) -> float:
        """Return the reduced cost that this many groups may fall short of without an effect."""
        return max(self.slack // (2 * groups), _BLUR / FINE)

    @property
    def goal(self) -> int:
        """The best grouping is optimal if nothing below this bound is left."""
        return self.loss - self.slack + 1

    @property
    def seconds_left(self) -> float:
        """Time until the deadline."""
        return self.deadline - working_time()

    def check_time(self) -> None:
        """Report the progress of the bound, and stop if the time is up."""
        report("solve", self.bound / max(self.loss, 1), 1.0)
        if self.seconds_left <= 0:
            raise OutOfTime("time is up")

    def raise_bound(self, bound: int) -> None:
        """Store a bound that holds for every grouping."""
        self.bound = max(self.bound, min(bound, self.loss))

    def improve(self, ids: Codes) -> None:
        """Store a grouping if it is better."""
        loss = self.records.units(ids)
        if loss < self.loss and int(np.bincount(ids).min()) >= self.k:
            self.ids, self.loss = ids, loss

    def improve_by(self, groups: Codes) -> bool:
        """Store a grouping of listed groups if it is better; return whether they are a grouping."""
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
        """Group the records outside the listed groups, polish the result, store it if better."""
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
        """The nearest neighbours of records."""
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
