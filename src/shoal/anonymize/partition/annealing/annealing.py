"""Annealing of groups of records in blocks, with several threads.

The table is split into blocks of nearby groups, differently at every stage of falling temperature,
so that no border is permanent. Blocks depend only on the seed, never on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shoal.anonymize.partition._boxes import Points
from shoal.anonymize.partition._neighbours import Near
from shoal.anonymize.partition.annealing._annealing import Block, anneal_block, descend_block
from shoal.anonymize.partition.annealing._groups import Groups, make_groups
from shoal.anonymize.partition.annealing._rules import Rules
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report
from shoal.support.stopwatch import working_time

_BLOCK = 8192  # largest number of records of a block; a quarter of it if there are many blocks, so
# that blocks fit in the caches of the threads
_EACH = 2  # stages with the same borders
_SORTED_BY = 3  # columns by which groups are sorted for a split, the further ones to break ties
_STAGES = 100
_SLICE = 2**16  # steps between two checks for interrupts, a fraction of a second
_HOT, _COLD = 0.7, 0.08  # first and last temperature, relative to the loss of a record
_UPHEAVAL = 0.2  # share of steps that dissolve a group, and that create one, times k
_SMALL, _ROUNDS = 4000, 12  # a table with fewer records is annealed at most this many times
_PASSES = 20  # largest number of passes of the final descent
_WORTH = 1e-3  # a pass that saves a smaller share of the loss is the last


@dataclass(frozen=True)
class Plan:
    """Duration of the annealing: steps per record, or a time limit."""

    steps: int
    time_limit: float | None
    seed: int
    threads: int


def anneal(
    records: Records, ids: Codes, k: int, near: Near, rules: Rules, most: int, plan: Plan
) -> Codes:
    """Return groups with a lower loss than these.

    most: largest number of records in a group; larger groups are not changed.
    """
    work = _Work(records, ids, k, near, rules, most, plan)
    try:
        return _cooled(work, ids, plan)
    finally:
        work.stopped = True  # running threads stop after their slice
        work.pool.shutdown(cancel_futures=True)


def _cooled(work: _Work, ids: Codes, plan: Plan) -> Codes:
    """Anneal the groups, small tables several times, and return the best grouping found."""
    best = work.loss()
    unit = best / len(ids)
    rounds = min(max(_SMALL // len(ids), 1), _ROUNDS) if plan.time_limit is None else 1
    for number in range(rounds if best else 0):
        first = number * (_STAGES + _PASSES)
        last = first + _cool(work, plan, unit, first)
        for extra in range(_PASSES):
            work.cut(last + extra)
            if work.run(work.descend) < _WORTH * best:
                break
        report("anneal", number + 1, rounds)
        if work.loss() < best:
            best, ids = work.loss(), work.ids()
    return ids


def _cool(work: _Work, plan: Plan, unit: float, first: int) -> int:
    """Anneal from hot to cold and return the number of stages."""
    begun, stage, share = working_time(), 0, 0.0
    while share < 1.0:
        if stage % _EACH == 0:
            work.cut(first + stage)
        temperature = unit * _HOT * (_COLD / _HOT) ** share
        work.run(partial(work.cool, temperature=temperature))
        stage += 1
        share = stage / _STAGES
        if plan.time_limit is not None:
            share = (working_time() - begun) / max(plan.time_limit, 1e-9)
        report("cool", min(share, 1.0), 1.0)
    return stage


def near_records(records: Records, count: int, threads: int) -> Near:
    """Return the nearest points of each record's point, and the positions of its copies."""
    from shoal.anonymize.partition.neighbours.nearest import nearest_points

    point = records.copies
    first = np.searchsorted(point, np.arange(int(point[-1]) + 2)).astype(np.int32)
    return Near(point, first, nearest_points(records, count, threads)[0])


def by_appearance(ids: Codes) -> Codes:
    """Return the groups numbered in the order of their first records."""
    _, first, dense = np.unique(ids, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[dense]


def _largest_first(block: Block) -> int:
    return -len(block.records)


class _Work:
    """The current groups and the blocks that they are split into."""

    def __init__(
        self, records: Records, ids: Codes, k: int, near: Near, rules: Rules, most: int, plan: Plan
    ) -> None:
        self.points: Points = records.points
        self.near, self.rules, self.k, self.most, self.plan = near, rules, k, most, plan
        sizes = np.bincount(ids)
        self.large = np.flatnonzero(sizes > most)
        rank = np.cumsum(sizes <= most) - 1
        moving = np.where(sizes <= most, rank, -1)[ids].astype(np.int32)
        self.kept = np.where(moving < 0, ids, -1)
        room = max(int((moving >= 0).sum()) // k, int(rank[-1]) + 1, 1)
        self.groups: Groups = make_groups(self.points, moving, room, most)
        self.blocks: list[Block] = []
        self.pool = ThreadPoolExecutor(plan.threads)
        self.stopped = False

    def loss(self) -> int:
        """Return the loss of the groups that may change, in units."""
        return int((self.groups.size * self.groups.width).sum())

    def ids(self) -> Codes:
        """Return the groups, numbered without gaps."""
        label = np.where(self.kept >= 0, self.kept + len(self.groups.size), self.groups.label)
        return np.unique(label, return_inverse=True)[1].astype(np.int32)

    def cut(self, stage: int) -> None:
        """Split the groups into blocks, with different borders at each stage."""
        draw = np.random.default_rng([self.plan.seed, stage])
        used = np.flatnonzero(self.groups.size)
        centre = self.groups.member[used, 0]
        number = np.zeros(len(self.groups.size), dtype=np.int32)
        number[used] = self._halve(centre, draw)
        empty = np.flatnonzero(self.groups.size == 0)
        count = int(number.max()) + 1
        number[empty] = draw.permutation(len(empty)) % count
        block = np.where(self.groups.label >= 0, number[self.groups.label], -1).astype(np.int32)
        order = np.argsort(block, kind="stable").astype(np.int32)
        starts = np.searchsorted(block[order], np.arange(count + 1))
        seeds = draw.integers(0, 2**63, count).astype(np.uint64)
        self.blocks = [
            self._block(i, order[starts[i] : starts[i + 1]], block, number, empty, seeds[i : i + 1])
            for i in range(count)
        ]

    def _block(
        self, i: int, mine: Codes, block: Codes, number: Codes, empty: Counts, seed: Any
    ) -> Block:
        free = np.zeros(int((number == i).sum()), dtype=np.int32)
        places = empty[number[empty] == i]
        free[: len(places)] = places
        values = int(np.diff(self.rules.start).max(initial=0))
        return Block(
            mine,
            block,
            np.int32(i),
            free,
            np.array([len(places)], dtype=np.int64),
            seed,
            np.zeros(max(values, 1), dtype=np.int64),
            np.zeros(self.most + self.k, dtype=np.int32),
            np.zeros(self.most + self.k, dtype=np.int32),
        )

    def _halve(self, centre: Codes, draw: np.random.Generator) -> Codes:
        """Return a block for each group, splitting by random columns until blocks are small."""
        number = np.zeros(len(centre), dtype=np.int32)
        places = np.concatenate([self.points.line[centre], self.points.name[centre]], axis=1)
        waiting, found = [np.arange(len(centre))], 0
        many = len(self.groups.label) > 8 * _BLOCK
        each = max(_BLOCK // (4 * self.k if many else self.k), 1)
        while waiting:
            part = waiting.pop()
            if len(part) < 2 * each:
                number[part] = found
                found += 1
                continue
            columns = draw.permutation(places.shape[1])[:_SORTED_BY]
            order = np.lexsort((part, *(places[part, c] for c in columns)))
            middle = int(len(part) * draw.uniform(0.4, 0.6))
            waiting += [part[order[middle:]], part[order[:middle]]]
        return number

    def run(self, job: Callable[[Block], int]) -> int:
        """Run a job on all blocks, the largest first, and return the sum of its results."""
        if self.plan.threads == 1 or len(self.blocks) == 1:
            return sum(job(block) for block in self.blocks)
        return sum(self.pool.map(job, sorted(self.blocks, key=_largest_first)))

    def cool(self, block: Block, temperature: float) -> int:
        """Anneal a block at one temperature, in slices between which interrupts are handled."""
        steps = max(len(block.records) * self.plan.steps // _STAGES, 1)
        grown = 0
        for done in range(0, steps, _SLICE):
            if self.stopped:
                break
            grown += int(
                anneal_block(
                    self.points, self.groups, self.near, self.rules, block,
                    self.k, self.most, temperature, min(_SLICE, steps - done), _UPHEAVAL / self.k,
                )
            )  # fmt: skip
        return grown

    def descend(self, block: Block) -> int:
        """Improve a block until no nearby move or swap is better."""
        return int(
            descend_block(self.points, self.groups, self.near, self.rules, block, self.k, self.most)
        )
