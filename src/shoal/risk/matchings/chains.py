"""Chains of the worm: each has its own matching, random numbers and sums.

    arrange   new numbers for classes, types and records: a loop of the walk stays in one component,
              and if the numbers of its classes, types and records are close, it finds them in the
              cache
    Chains    warms up, sets a baseline, and draws in parallel threads (`_worm.py`, `_looking.py`)
    link      edges by type and by class, in the layout of the kernels

Half of the chains start far from the truth. Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from shoal.errors import InputError
from shoal.risk.matchings import _looking, _worm
from shoal.risk.matchings._looking import Look
from shoal.risk.matchings._worm import BLOCK, Links, Records, Walker
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.wording import counted

_WARM_UP = 10  # steps for each record before the first draw
_LOOK_SLOTS = 8  # slots for each record that a draw may read, to take about as long as its moves
_DENSE_SPEED = 16  # how much faster slots are read if every record may be in each
_LARGE = 2**24  # edges above which masses are stored in single precision
_MIN_SINGLE = 1e-30  # smallest weight that single precision is used for
_LOOP_STEPS = 20, 1_000, 4_000_000  # maximum steps of a loop: for each record, plus, at most


class Chains:
    """Random walks over the matchings of one problem; half of them start far from the truth.

    Parameters:
        links: The classes of each type, as `link` returns them.
        records: The records, as `place` returns them.
        truth: (records,) the true class of each record, −1 if it cannot be found.
        start: (records,) the classes of one possible matching.
        seeds: One seed sequence for each chain.
        threads: Number of threads; the draws do not depend on it.

    The attributes `steps`, `walked` and `broken` count steps, loops and loops that were undone.
    """

    def __init__(
        self, links: Links, records: Records, truth: Counts, start: Counts, seeds: Any, threads: int
    ) -> None:
        self.links, self.records, self.truth = links, records, truth.astype(np.int32)
        self.steps, self.walked, self.broken, self.loops = 0, 0, 0, 1
        self.threads = threads
        self.looks = [self._look(seed) for seed in seeds]
        count = len(self.looks[0].order)
        self.take = max(min(count * _LOOK_SLOTS * len(truth) // max(self._work(), 1), count), 1)
        if self.take == count:  # every draw looks at all classes, in the order of memory
            self.looks = [look._replace(order=np.sort(look.order)) for look in self.looks]
        self.walkers = [self._walker(start, seed) for seed in seeds]
        self._warm_up()

    def extend(self, draws: int) -> Floats:
        """Return (chains, draws) further estimates of the expected cracks."""
        totals = np.empty((len(self.walkers), draws))

        def job(chain: int) -> tuple[int, int]:
            made: tuple[int, int] = _looking.sample(
                self.links, self.records, self.walkers[chain], self.looks[chain],
                self.take, self.loops, self.truth, totals[chain],
            )  # fmt: skip
            return made

        made = self._run(job)
        self.steps += sum(steps for steps, _ in made)
        self.broken += sum(broken for _, broken in made)
        self.walked += self.loops * totals.size
        return totals

    def visit(self, draws: int, look: Callable[[int, Counts], float]) -> Floats:
        """Return (chains, draws) the values of `look` at further matchings.

        Parameters:
            draws: Number of matchings of each chain.
            look: Takes the number of the chain and (records,) the slot of each record.
        """
        totals = np.empty((len(self.walkers), draws))

        def job(chain: int) -> tuple[int, int]:
            walker, steps, broken = self.walkers[chain], 0, 0
            for draw in range(draws):
                made = _worm.move_often(
                    self.links, self.records, walker, self.loops, False, self.truth
                )
                steps, broken = steps + int(made[0]), broken + int(made[1])
                totals[chain, draw] = look(chain, walker.slot)
            return steps, broken

        made = self._run(job)
        self.steps += sum(steps for steps, _ in made)
        self.broken += sum(broken for _, broken in made)
        self.walked += self.loops * totals.size
        return totals

    def marginals(self) -> Floats:
        """Return, for each record, the mean probability to be in its true class."""
        cracks = sum(look.cracks for look in self.looks)
        # records without a true class (−1) have no cracks, and read the last class for nothing
        seen = sum(look.seen for look in self.looks)[self.truth]
        return np.asarray(np.where(self.truth >= 0, cracks / np.maximum(seen, 1), 0.0))

    def _warm_up(self) -> None:
        """Leave the start, and set the number of loops that moves every record about once."""
        people = len(self.truth)

        def job(chain: int) -> tuple[int, int]:
            walker, around = self.walkers[chain], (self.links, self.records)
            # every other chain first gets far from the truth: R-hat then compares distant starts
            if chain % 2:
                _worm.walk(*around, walker, _WARM_UP * people, True, self.truth)
            made: tuple[int, int] = _worm.walk(
                *around, walker, _WARM_UP * people, False, self.truth
            )
            return made

        made = self._run(job)
        steps, loops = sum(each[0] for each in made), sum(each[1] for each in made)
        self.loops = max(people * loops // steps, 1)
        self.steps += steps
        if self.take < len(self.looks[0].order):
            self._run(self._look_around)
            baseline = sum(look.baseline for look in self.looks) / len(self.looks)
            for look in self.looks:
                look.baseline[:] = baseline

    def _look_around(self, chain: int) -> tuple[int, int]:
        parts = -(-len(self.looks[chain].order) // _WARM_UP)
        _looking.look_around(
            self.links, self.records, self.walkers[chain], self.looks[chain],
            parts, self.loops, self.truth,
        )  # fmt: skip
        return 0, 0

    def _run(self, job: Callable[[int], tuple[int, int]]) -> list[tuple[int, int]]:
        count = len(self.walkers)
        if min(self.threads, count) == 1:
            return [job(chain) for chain in range(count)]
        with ThreadPoolExecutor(min(self.threads, count)) as pool:
            return list(pool.map(job, range(count)))

    def _walker(self, start: Counts, seed: np.random.SeedSequence) -> Walker:
        people = len(self.truth)
        per_record, extra, limit = _LOOP_STEPS
        longest = min(per_record * people + extra, limit)
        walker = Walker(
            np.empty(people, dtype=np.int32),
            np.empty(people, dtype=np.int64),
            np.empty(people, dtype=np.int32),
            seed.generate_state(1, np.uint64),
            np.empty(longest, dtype=np.int32),
            np.empty(longest, dtype=np.int32),
            np.empty(longest, dtype=np.int64),
        )
        wrong = _worm.settle(self.links, self.records, walker, start.astype(np.int64))
        if wrong:
            raise InputError(f"the starting matching is not valid for {counted(wrong, 'record')}")
        return walker

    def _look(self, seed: np.random.SeedSequence) -> Look:
        people, classes = len(self.truth), len(self.records.first) - 1
        shown = np.flatnonzero(np.diff(self.records.starts))
        return Look(
            np.random.default_rng(seed.spawn(1)[0]).permutation(shown).astype(np.int32),
            np.zeros(classes),
            np.zeros(people),
            np.zeros(classes, dtype=np.int64),
            np.empty(people, dtype=np.int32),
            np.empty(people),
            np.zeros(len(self.links.indptr) - 1),
        )

    def _work(self) -> int:
        """Return the number of slots that a look at every class reads, weighted by speed."""
        links, first = self.links, self.records.first
        capacity = np.diff(first)
        if len(links.classes):
            reach = np.add.reduceat(capacity[links.classes], links.indptr[:-1])
        else:
            reach = np.full(len(links.indptr) - 1, first[-1] // _DENSE_SPEED + 1)
        member = self.records.member[self.records.starts[0] :]
        pairs = np.unique(
            self.truth[member].astype(np.int64) * len(reach) + self.records.type[member]
        )
        return int(reach[pairs % len(reach)].sum())


def link(indptr: Counts, indices: Counts | None, weights: Floats, capacity: Counts) -> Links:
    """Return the edges by type and by class, in the layout of the kernels.

    Parameters:
        indptr, indices, weights: For each type its classes, ascending, and the weight of a slot
            there; without `indices` every type has all classes.
        capacity: (classes,) the slots of each class.
    """
    types, classes = len(indptr) - 1, len(capacity)
    mass = weights.ravel()
    if (capacity != 1).any():
        mass = mass * (np.tile(capacity, types) if indices is None else capacity[indices])
    coarse = mass.size > _LARGE and _worm.least_positive(mass) > _MIN_SINGLE
    mass = frozen(mass.astype(np.float32 if coarse else np.float64, copy=False))
    if indices is None:
        kept = turned = np.empty(0, dtype=np.int32)
        column = np.arange(classes + 1, dtype=np.int64) * types
        by_class = np.empty_like(mass)
        _worm.turn(mass.reshape(types, classes), by_class.reshape(classes, types))
    else:
        kept = indices.astype(np.int32)
        order = np.argsort(kept, kind="stable")
        turned = np.repeat(np.arange(types, dtype=np.int32), np.diff(indptr))[order]
        by_class = mass[order]
        column = np.concatenate(([0], np.cumsum(np.bincount(kept, minlength=classes))))
    # edges of a type in blocks, each with the mass up to its end: a draw bisects blocks, scans one
    blocks = np.concatenate(([0], np.cumsum(-(-np.diff(indptr) // BLOCK))))
    cumulated, largest = np.empty(int(blocks[-1])), np.empty(types)
    indptr = indptr.astype(np.int64)
    _worm.cumulate(indptr, mass, blocks, cumulated, largest)
    return Links(indptr, kept, mass, blocks, cumulated, largest, column, turned, by_class)


def place(row_type: Counts, capacity: Counts, truth: Counts) -> Records:
    """Return the records sorted by true class, in the layout of the kernels.

    Parameters:
        row_type: (records,) the type of each record.
        capacity: (classes,) the slots of each class.
        truth: (records,) the true class of each record, −1 if it cannot be found.

    Raises:
        InputError: There are not as many slots as records.
    """
    if len(row_type) != capacity.sum():
        raise InputError(
            f"there must be one slot for each of the {len(row_type)} records, not "
            f"{int(capacity.sum())} slots"
        )
    first = np.concatenate(([0], np.cumsum(capacity))).astype(np.int64)
    member = np.lexsort((row_type, truth))
    starts = np.searchsorted(truth[member], np.arange(len(capacity) + 1))
    return Records(row_type.astype(np.int32), first, member.astype(np.int32), starts)


class Arranged(NamedTuple):
    """A problem of the walk with new numbers; the arrays are those of `worm.sample`.

    Parameters:
        records: (records,) the old number of each record.
    """

    indptr: Counts
    indices: Counts
    weights: Floats
    row_type: Counts
    capacity: Counts
    truth: Counts
    start: Counts
    records: Counts


def arrange(
    indptr: Counts,
    indices: Counts,
    weights: Floats,
    row_type: Counts,
    capacity: Counts,
    truth: Counts,
    start: Counts,
) -> Arranged:
    """Return the problem with classes numbered by component, and types and records by class.

    Parameters:
        indptr, indices, weights: For each type its classes, ascending, and the weight of a slot
            there.
        row_type: (records,) the type of each record.
        capacity: (classes,) the slots of each class.
        truth: (records,) the true class of each record, −1 if it cannot be found.
        start: (records,) the classes of one possible matching.
    """
    classes = len(capacity)
    kept = np.argsort(_components(indptr, indices, classes), kind="stable")
    new_class = _ranks(kept)
    moved = new_class[indices]
    order = np.argsort(np.minimum.reduceat(moved, indptr[:-1]), kind="stable")
    new_type = _ranks(order)
    heads = np.repeat(new_type, np.diff(indptr))
    edges = np.argsort(heads * classes + moved)
    counts = np.diff(indptr)[order]
    records = np.argsort(new_class[start], kind="stable")
    return Arranged(
        np.concatenate(([0], np.cumsum(counts))),
        moved[edges],
        weights[edges],
        new_type[row_type[records]],
        capacity[kept],
        np.where(truth < 0, truth, new_class[truth])[records],
        new_class[start[records]],
        records,
    )


def _components(indptr: Counts, indices: Counts, classes: int) -> Counts:
    """(classes,) the component of each class."""
    types = len(indptr) - 1
    ends = np.concatenate([indptr, np.full(classes, indptr[-1])])
    edges = csr_array(
        (np.ones(len(indices), dtype=np.int8), types + indices, ends),
        shape=(types + classes, types + classes),
    )
    return np.asarray(connected_components(edges, directed=False)[1][types:])


def _ranks(order: Counts) -> Counts:
    """Return the position of each number in an order."""
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
