"""Methods that publish each record with its own ranges and sets: three ways to assign boxes.

Every record has a box, which at first contains only its own values. In each of k − 1 rounds every
record is given to one box, every box takes one record, and never one that it already has:

    doka-greedy         each box, in turn, takes the cheapest remaining record: fast, with little
                        memory, but the last boxes of a round take expensive records
    doka-sort-greedy    the cheapest pairs first: in between; all pairs are computed but not stored
    doka-hungarian      assignments of minimum cost: the least loss, and a number for each pair

The k rounds, including the first one, are perfect matchings without a common pair. An attacker who
knows the method and everyone's quasi-identifiers can repeat the rounds. So the round whose boxes
are published is drawn at random: each person is equally likely in any of their k boxes.

Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.groups import Weights, check_divisible, reweighted
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts
from shoal.support.options import check_whole
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition._boxes import Boxes, Points
    from shoal.methods.partition.records import Records

# given points, boxes, partners and the rounds done: a record for every box
Round = Callable[["Points", "Boxes", Codes, Any], Codes]
BY_CLASS = "each record has its own ranges, so measures of classes say little about this release"
_EDGES = 50_000_000  # processed between two progress reports
_MAX_RECORDS = 30_000  # 7.2 GB of costs
_LISTED = 32  # candidates in the list of a box


@dataclass(frozen=True, kw_only=True)
class AssignmentRounds(ABC):
    """Base of the methods that assign records to boxes in rounds."""

    name: ClassVar[str]
    weights: Weights = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_whole("seed", self.seed, 0)

    @staticmethod
    @abstractmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return a record for every box, given the partners of the finished rounds."""

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of k − 1 rounds."""
        return release_boxes(self.name, table, model, self.play, self.weights, self.seed)


@dataclass(frozen=True, kw_only=True)
class DokaGreedy(AssignmentRounds):
    """Each record has its own ranges and sets, chosen greedily in turn.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    Boxes take turns in the lexicographic order of their records. A box that already has all
    remaining records makes the cheapest trade: another box gives its record and takes a remaining
    one. A table with fewer than 2k records is assigned as by doka-hungarian.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaGreedy(seed=1))
    Release(doka-greedy, freeform-anonymity(k=2), rows=7, classes=6, suppressed=0)
    """

    name: ClassVar[str] = "doka-greedy"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record that each box takes in its turn."""
        from shoal.methods.freeform._edges import take_in_turn

        count, k = partners.shape
        given, owner = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        left = np.arange(count, dtype=np.int32)
        for first, last in blocks(count):
            report("assign", done - 1 + first / count, k - 1)
            take_in_turn(points, boxes, partners, done, first, last, left, given, owner)
        return given


@dataclass(frozen=True, kw_only=True)
class DokaHungarian(AssignmentRounds):
    """Each record has its own ranges and sets, chosen in rounds of minimum-cost assignments.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    A round is a linear assignment problem over all boxes and records; the cost of a pair is the
    growth of the box. Each round is optimal, the rounds together need not be.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaHungarian(seed=1))
    Release(doka-hungarian, freeform-anonymity(k=2), rows=7, classes=5, suppressed=0)
    """

    name: ClassVar[str] = "doka-hungarian"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record of each box in the cheapest assignment."""
        return assign(points, boxes, partners, done)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of k − 1 cheapest assignments."""
        if len(table) > _MAX_RECORDS:
            raise InputError(
                f"{self.name} takes at most {_MAX_RECORDS:,} records, as it stores a number for "
                f"each pair, not {len(table):,}; use doka-sort-greedy"
            )
        return super().search(table, model)


@dataclass(frozen=True, kw_only=True)
class DokaSortGreedy(AssignmentRounds):
    """Each record has its own ranges and sets, chosen by the cheapest pairs.

    weights: cost of losing each attribute, by name or in order; by default those of the table.
    seed: repeats the random draw of the published boxes, for testing only: anyone who guesses the
        seed can undo the draw.

    The pairs of a round are made as if all were sorted by cost; instead, each box has a short list
    of its cheapest records. Boxes that already have all remaining records make the cheapest trade,
    as in doka-greedy. A table with fewer than 2k records is assigned as by doka-hungarian.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, "freeform-anonymity(2)", DokaSortGreedy(seed=1))
    Release(doka-sort-greedy, freeform-anonymity(k=2), rows=7, classes=5, suppressed=0)
    """

    name: ClassVar[str] = "doka-sort-greedy"

    @staticmethod
    def play(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
        """Return the record of each box, assigned by the cheapest pairs first."""
        from shoal.methods.freeform._edges import list_all_nearest, take_by_cost

        count, k = partners.shape
        given, owner = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        room = min(_LISTED, count)
        near, costs = np.zeros((count, room), np.int32), np.zeros((count, room), np.int64)
        found = np.zeros(count, dtype=np.int64)
        for first, last in blocks(count):
            report("assign", done - 1 + first / count, k - 1)
            list_all_nearest(points, boxes, partners, done, first, last, owner, near, costs, found)
        take_by_cost(points, boxes, partners, done, near, costs, found, given, owner)
        return given


def release_boxes(
    name: str,
    table: Table,
    model: Model,
    play: Round,
    weights: Weights = None,
    seed: int | None = None,
) -> Release:
    """Give every record a box over k records, and publish it with one of the boxes that cover it.

    play: returns the pairs of one round.
    """
    check_freeform(name, model)
    table = reweighted(table, weights)
    check_divisible(table)
    boxes = _Boxes(len(table))
    parts = [np.arange(len(table))] if table.unit is None else _one_row_each(table, model, boxes)
    for rows in parts:
        boxes.play(table, rows, model.least_size, play, seed)
    recodings = {c.name: boxes.recoding(c) for c in table.quasi_columns}
    return Release(table, recodings, model, run=Run(notes=(BY_CLASS,)))


def check_freeform(name: str, model: Model) -> None:
    """Reject a model of classes: freeform records are rarely equal."""
    asked = [part for part in model.parts if part.by_class]
    if asked:
        k = max(model.least_size, 2)
        raise InputError(
            f"{name} publishes freeform boxes, which cannot meet {asked[0]}; "
            f"use only freeform-anonymity(k={k}), or choose another method"
        )


def play_rounds(records: Records, k: int, play: Round) -> Codes:
    """Return (records, k) the records that each box covers, its own first."""
    from shoal.methods.freeform._edges import stretch

    if len(records) < 2 * k:  # too few records for trades to complete a greedy round
        play = assign
    count = len(records)
    partners = np.full((count, k), -1, dtype=np.int32)
    partners[:, 0] = own = np.arange(count, dtype=np.int32)
    boxes, _, _ = records.boxes(own, count)
    for done in range(1, k):
        report("assign", done - 1, k - 1)
        given = play(records.points, boxes, partners, np.int64(done))
        partners[:, done] = given
        stretch(records.points, boxes, given)
    return partners


def assign(points: Points, boxes: Boxes, partners: Codes, done: Any) -> Codes:
    """Return the cheapest assignment of all records to all boxes."""
    from scipy.optimize import linear_sum_assignment

    from shoal.methods.freeform._edges import fill_costs

    count = len(partners)
    costs = np.empty((count, count))  # integers below 2**53, so sums are exact
    forbidden = float(2**30) * count  # more than all growths together, each about 2**29 at most
    for first, last in blocks(count):
        report("assign", done - 1, partners.shape[1] - 1)
        fill_costs(points, boxes, partners, done, first, last, forbidden, costs)
    given: Codes = linear_sum_assignment(costs)[1].astype(np.int32)
    return given


def blocks(count: int) -> list[tuple[int, int]]:
    """Return ranges of boxes that are processed between two progress reports."""
    size = max(_EDGES // count, 1)
    ends = [*range(size, count, size), count]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def draw_boxes(partners: Codes, seed: int | None = None) -> Codes:
    """Return the published box of each record: that of one round, the same for all records.

    Connected components of partners draw their rounds independently.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, k = partners.shape
    ends = np.arange(0, count * k + 1, k)
    pairs = csr_array((np.ones(count * k, np.int8), partners.ravel(), ends), shape=(count, count))
    parts, part = connected_components(pairs, directed=False)
    # one round for each component: its boxes cover each record exactly once
    rounds = np.random.default_rng(seed).integers(k, size=parts)[part]
    chosen = np.empty(count, dtype=np.int32)
    every = np.arange(count)
    chosen[partners[every, rounds]] = every
    return chosen


class _Boxes:
    """The rows that each box covers, and the published box of each row."""

    def __init__(self, rows: int) -> None:
        self.chosen = np.full(rows, -1, dtype=np.int32)
        self._members: list[Counts] = []
        self._sizes: list[Counts] = []
        self._count = 0

    def play(self, table: Table, rows: Counts, k: int, play: Round, seed: int | None) -> None:
        """Add a box for each of these rows, which belong to different people."""
        from shoal.methods.partition.records import lay_out

        records = lay_out(table.take(rows))
        partners = play_rounds(records, k, play)
        self.chosen[rows] = self._count + records.by_row(draw_boxes(partners, seed))
        self._add(rows[records.rows[partners]].ravel(), np.full(len(rows), k))

    def share(self, rows: Counts) -> None:
        """Add one box that publishes all of these rows."""
        self.chosen[rows] = self._count
        self._add(rows, np.array([len(rows)]))

    def _add(self, members: Counts, sizes: Counts) -> None:
        self._members.append(members)
        self._sizes.append(sizes)
        self._count += len(sizes)

    def recoding(self, column: Column) -> Recoding:
        """Publish each row with the range or set of its box."""
        from shoal.table import recoding as summaries
        from shoal.table.classes import count_values

        members, sizes = np.concatenate(self._members), np.concatenate(self._sizes)
        boxes = np.repeat(np.arange(self._count, dtype=np.int32), sizes)
        pairs = count_values(column.take(members), boxes, self._count)
        publish = summaries.ranges if column.ordered else summaries.sets
        return publish(column, self.chosen, pairs)


def _one_row_each(table: Table, model: Model, boxes: _Boxes) -> list[Counts]:
    """Return parts of a table with one row per person and at least k people each.

    Further rows, of fewer than k people, share one box with the nearest rows of k others.
    """
    from shoal.methods.partition.greedy import group_greedily
    from shoal.methods.partition.merging import Merger
    from shoal.methods.partition.records import Appearances, lay_out
    from shoal.privacy.k_anonymity import KAnonymity

    def gather(records: Records, k: int, _: Table) -> Codes:
        return group_greedily(records, k)

    people, k = Appearances.of(table, row_by_row=True), model.least_size
    slices = people.slices[people.of_row]
    full = int((np.bincount(slices) >= k).sum())
    if not full:  # people share households, so too few have no household in common
        boxes.share(np.arange(len(table)))
        return []
    parts = [np.flatnonzero(slices == number) for number in range(full)]
    last = np.flatnonzero(slices >= full - 1)
    if len(last) == len(parts[-1]):
        return parts
    assert table.unit is not None
    rest = replace(table.take(last), person=table.unit.take(last), household=None)
    people = Appearances.of(rest, row_by_row=True)
    records = lay_out(people.table)
    merger = Merger.of(records, rest, people.of_row)
    ids = merger.merge(people.cluster(records, k, gather), KAnonymity(k))[merger.record]
    shared = np.unique(ids[people.slices[people.of_row] > 0])
    for number in shared.tolist():
        boxes.share(last[ids == number])
    alone = last[~np.isin(ids, shared)]
    return [*parts[:-1], alone] if len(alone) else parts[:-1]
