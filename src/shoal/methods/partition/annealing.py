"""Annealing of groups of records in blocks, with several threads.

    anneal → for each start temperature: stages of falling temperature → a final descent
    stage  → blocks of nearby groups, with other borders → each block in a thread of its own

The borders of blocks change from stage to stage, so that none is permanent. Blocks depend only on
the seed, never on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from shoal.methods.partition._annealing import Block, anneal_block, descend_block
from shoal.methods.partition._annealing_groups import Groups, make_groups
from shoal.methods.partition._annealing_rules import Rules
from shoal.methods.partition._boxes import Near, Points
from shoal.methods.partition.records import Records
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.progress import report, working_time

# records of a block, at most about twice as many: the larger, the fewer records at its borders, but
# there should be a block for every core, and its groups should fit in a cache
_BLOCK, _LARGEST_BLOCK, _BLOCKS = 8192, 32768, 8
_EACH = 2  # stages with the same borders
_STAGES = 100
_FEWEST_STAGES = 10
_SLICE = 2**16  # steps between two checks for interrupts, a fraction of a second
# first temperatures to choose from, relative to the loss of a record: greedy groups are improved
# most from the first on tables where records have few good groups, and are lost for good where
# they have many; a short schedule ends at a lower loss from the second
_HOT = (0.7, 0.2)
_COLD = 0.08  # last temperature
_UPHEAVAL = 0.2  # share of steps that dissolve a group, and that create one, times k
# a table with fewer records is annealed longer and more often, in all at most this much
_SMALL, _EFFORT, _LONGEST = 16_000, 12, 4
_TRIED = 2 * _BLOCK  # a table with more records is annealed once, from the better temperature
_TRIAL_SHARE, _TRIAL = 0.05, _BLOCK  # share, and least number, of the records to try it
_PASSES = 20  # largest number of passes of the final descent
_WORTH = 1e-3  # a pass that saves a smaller share of the loss is the last


@dataclass(frozen=True)
class Plan:
    """Duration of the annealing: steps per record, or a time limit."""

    steps: int
    time_limit: float | None
    seed: int
    threads: int

    @property
    def stages(self) -> int:
        """Number of temperatures; a short schedule has fewer, as each begins with new blocks."""
        if self.time_limit is not None:
            return _STAGES
        return min(max(self.steps, _FEWEST_STAGES), _STAGES)

    def of(self, share: float) -> Plan:
        """Return the plan for a share of the time limit."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=share * self.time_limit)


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
        work.stop()


def _cooled(work: _Work, ids: Codes, plan: Plan) -> Codes:
    """Anneal the groups, small tables several times, and return the best grouping found."""
    best = work.loss()
    if not best:
        return ids
    hot: tuple[float, ...] = _HOT
    rounds = 1
    if len(ids) > _TRIED and plan.steps:
        better, plan = _choose_temperature(work, plan)
        hot = (better,)
    elif plan.time_limit is None:
        effort = min(max(_SMALL // len(ids), len(_HOT)), _EFFORT)
        length = min(effort // len(_HOT), _LONGEST)
        rounds = effort // length
        work.plan = plan = replace(plan, steps=length * plan.steps)
    for number in range(rounds):
        _cool_and_descend(work, plan, hot[number % len(hot)], number * (_STAGES + _PASSES))
        report("anneal", number + 1, rounds)
        if work.loss() < best:
            best, ids = work.loss(), work.ids()
    return ids


def _choose_temperature(work: _Work, plan: Plan) -> tuple[float, Plan]:
    """Anneal a part of the table from each first temperature.

    Returns the temperature that ends at the least loss, and the plan for the time left.
    """
    chosen = work.draw_part(max(int(_TRIAL_SHARE * len(work.near.point)), _TRIAL))
    share = len(chosen) / len(work.near.point)
    trial = plan.of(share)
    parts = [work.part(chosen, trial) for _ in _HOT]
    for part, hot in zip(parts, _HOT, strict=True):
        _cool_and_descend(part, trial, hot, 0)
        part.stop()
    best = int(np.argmin([part.loss() for part in parts]))
    return _HOT[best], plan.of(max(1 - len(_HOT) * share, share))


def _cool_and_descend(work: _Work, plan: Plan, hot: float, first: int) -> None:
    """Anneal the groups once, from a temperature relative to the loss of a record.

    first: number of the first stage.
    """
    start = work.loss()
    if not start:
        return
    unit = start / len(work.near.point)
    last = first + _cool(work, plan, unit * hot, unit * _COLD, first)
    for extra in range(_PASSES):
        work.cut(last + extra)
        if work.run(work.descend) < _WORTH * start:
            break


def _cool(work: _Work, plan: Plan, hot: float, cold: float, first: int) -> int:
    """Anneal from hot to cold and return the number of stages."""
    begun, stage, share = working_time(), 0, float(not plan.steps)
    while share < 1.0:
        if stage % _EACH == 0:
            work.cut(first + stage)
        work.run(partial(work.cool, temperature=hot * (cold / hot) ** share))
        stage += 1
        share = stage / plan.stages
        if plan.time_limit is not None:
            share = (working_time() - begun) / max(plan.time_limit, 1e-9)
        report("cool", min(share, 1.0), 1.0)
    return stage


def near_records(records: Records, count: int, threads: int) -> Near:
    """Return the nearest points of each record's point, and the positions of its copies."""
    from shoal.methods.partition.nearest import nearest_points

    point = records.copies
    first = np.searchsorted(point, np.arange(int(point[-1]) + 2)).astype(np.int32)
    return Near(point, first, nearest_points(records, count, threads)[0])


def by_appearance(ids: Codes) -> Codes:
    """Return the groups numbered in the order of their first records."""
    _, first, dense = np.unique(ids, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[dense]


class _Work:
    """The current groups and the blocks that they are split into."""

    def __init__(
        self, records: Records, ids: Codes, k: int, near: Near, rules: Rules, most: int, plan: Plan
    ) -> None:
        self.records = records
        self.points: Points = records.points
        self.near, self.rules, self.k, self.most, self.plan = near, rules, k, most, plan
        sizes = np.bincount(ids)
        self.large = np.flatnonzero(sizes > most)
        rank = np.cumsum(sizes <= most) - 1
        moving = np.where(sizes <= most, rank, -1)[ids].astype(np.int32)
        # groups that are too large never change; their records are in no block
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

    def cut(self, stage: int, most: int | None = None) -> None:
        """Split the groups into blocks, with different borders at each stage.

        most: about the number of records of a block, by default depending on the table.
        """
        draw = np.random.default_rng([self.plan.seed, stage])
        if most is None:
            most = max(min(len(self.groups.label) // _BLOCKS, _LARGEST_BLOCK), _BLOCK)
        used = np.flatnonzero(self.groups.size)
        centre = self.groups.member[used, 0]
        places = np.concatenate([self.points.line[centre], self.points.name[centre]], axis=1)
        number = np.zeros(len(self.groups.size), dtype=np.int32)
        number[used] = split_groups(places, max(most // self.k, 1), draw)
        empty = np.flatnonzero(self.groups.size == 0)
        count = int(number.max()) + 1
        # free slots are dealt to the blocks, so that each can create groups
        number[empty] = draw.permutation(len(empty)) % count
        block = np.where(self.groups.label >= 0, number[self.groups.label], -1).astype(np.int32)
        order, starts = order_by(block, count)
        free, slots = order_by(number[empty], count)
        sizes = np.bincount(number, minlength=count)
        seeds = draw.integers(0, 2**63, count).astype(np.uint64)
        self.blocks = [
            self._block(
                i,
                order[starts[i] : starts[i + 1]],
                block,
                int(sizes[i]),
                empty[free[slots[i] : slots[i + 1]]],
                seeds[i : i + 1],
            )
            for i in range(count)
        ]

    def _block(
        self, i: int, mine: Codes, block: Codes, groups: int, empty: Counts, seed: Any
    ) -> Block:
        free = np.zeros(groups, dtype=np.int32)
        free[: len(empty)] = empty
        values = int(np.diff(self.rules.start).max(initial=0))
        return Block(
            mine,
            block,
            np.int32(i),
            free,
            np.array([len(empty)], dtype=np.int64),
            seed,
            np.zeros(max(values, 1), dtype=np.int64),
            np.zeros(self.most + self.k, dtype=np.int32),
            np.zeros(self.most + self.k, dtype=np.int32),
        )

    def draw_part(self, records: int) -> Counts:
        """Return the records of nearby groups, about as many as stated."""
        self.cut(0, records * 2 // 3)
        drawn = np.random.default_rng(self.plan.seed).integers(len(self.blocks))
        return np.sort(self.blocks[int(drawn)].records).astype(np.int64)

    def part(self, chosen: Counts, plan: Plan) -> _Work:
        """Return the work on all records of some groups."""
        records = self.records.take(chosen)
        ids = np.unique(self.groups.label[chosen], return_inverse=True)[1].astype(np.int32)
        near = near_records(records, self.near.others.shape[1], plan.threads)
        rules = self.rules._replace(value=self.rules.value[chosen])
        return _Work(records, ids, self.k, near, rules, self.most, plan)

    def stop(self) -> None:
        """End the threads; those that run stop after their slice."""
        self.stopped = True
        self.pool.shutdown(cancel_futures=True)

    def run(self, job: Callable[[Block], int]) -> int:
        """Run a job on all blocks, the largest first, and return the sum of its results."""
        if self.plan.threads == 1 or len(self.blocks) == 1:
            return sum(job(block) for block in self.blocks)
        return sum(self.pool.map(job, sorted(self.blocks, key=lambda block: -len(block.records))))

    def cool(self, block: Block, temperature: float) -> int:
        """Anneal a block at one temperature, in slices between which interrupts are handled."""
        steps = max(len(block.records) * self.plan.steps // self.plan.stages, 1)
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


_SORTED_BY = 3  # columns of a split, the further ones to break ties
_BITS = 21  # of each of them in a key of 64 bits


def split_groups(places: Codes, most: int, draw: np.random.Generator) -> Codes:
    """Return a block for each group, splitting by random columns until blocks are small.

    places: (groups, columns) where a group is. most: a block has fewer than twice as many groups.
    """
    number = np.zeros(len(places), dtype=np.int32)
    ranks = _coarse(places)
    waiting, blocks = [np.arange(len(places))], 0
    while waiting:
        part = waiting.pop()
        if len(part) < 2 * most:
            number[part] = blocks
            blocks += 1
            continue
        keys = np.zeros(len(part), dtype=np.int64)
        for column in draw.permutation(len(ranks))[:_SORTED_BY]:
            keys = (keys << _BITS) | ranks[column][part]
        middle = int(len(part) * draw.uniform(0.4, 0.6))
        below = _least(keys, middle)
        waiting += [part[~below], part[below]]
    return number


def order_by(block: Codes, count: int) -> tuple[Codes, Counts]:
    """Return the records by block, in their own order within it, and where each block begins.

    block: (records,) numbers from −1, for none, to count − 1.
    """
    kind = np.uint16 if count < 2**16 - 1 else np.uint32  # 16 bits are sorted much faster
    order = np.argsort((block + 1).astype(kind), kind="stable").astype(np.int32)
    sizes = np.bincount(block + 1, minlength=count + 1)
    return order, np.cumsum(sizes)


def _coarse(places: Codes) -> Counts:
    """Return (columns, groups) the places with at most _BITS bits."""
    coarse = np.ascontiguousarray(places.T, dtype=np.int64)
    for column, largest in enumerate(coarse.max(axis=1, initial=0)):
        coarse[column] >>= max(int(largest).bit_length() - _BITS, 0)
    return coarse


def _least(keys: Counts, count: int) -> Bools:
    """Mark the `count` least keys, the first ones of those that are equal."""
    pivot = np.partition(keys, count)[count]
    least: Bools = keys < pivot
    equal = np.flatnonzero(keys == pivot)
    least[equal[: count - int(least.sum())]] = True
    return least
