"""The layout of a lattice for the kernels: tuples as sorted keys, with monotone level maps.

A key is one 64-bit word, whatever the width of a tuple. Attributes that do not fit are fixed: for
each combination of their levels, equal sub-tuples get a dense number, which replaces them in the
key.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.lattice.entries import Entries, entries_of
from shoal.core.grouping import group, group_keys
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice

ClassTable = tuple[Counts, Counts]  # sorted keys, and a count beside each
_KEY_BITS = 62
_TASKS_AT_ONCE = 1024
MEMORY = 2 << 30  # bytes for class tables, if they can be made to fit


@dataclass(frozen=True, eq=False)
class Worth:
    """A function of the size of a class, which is linear from some size on.

    by_size: (sizes,) its values up to that size.
    rate: the value of each person of a larger class; step: the values of larger classes are rounded
        to multiples of it, a power of two.
    """

    by_size: Floats
    rate: float = 0.0
    step: float = 1.0


@dataclass(frozen=True, eq=False)
class Packed:
    """A lattice laid out for the kernels.

    entries: the distinct tuples.
    order: attributes, fixed ones first, then from the most to the least significant field.
    fixed: number of fixed attributes.
    shape: the levels for the kernels; if it has one more attribute than are rolled up, the first
        one is the number of a sub-tuple.
    """

    entries: Entries
    order: tuple[int, ...]
    fixed: int
    shape: Any

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels of each attribute, in the packed order."""
        return tuple(len(self.entries.ladders[j].steps) + 1 for j in self.order)

    def cube(self, values: Any) -> Any:
        """Return a value of every node in the lattice's own order of attributes."""
        return values.reshape(self.levels).transpose(np.argsort(self.order))

    def measure(self, k: int, threads: int, worth: Worth | None = None) -> Any:
        """Measure every node, in the packed order of attributes: a `Found` of the kernels."""
        from shoal.anonymize.lattice._kernels import Found

        nodes, asked = prod(self.levels), Worth(np.zeros(0)) if worth is None else worth
        measures = np.zeros((nodes, 4), dtype=np.int64)
        rate = asked.rate / asked.step
        found = Found(k, measures, asked.by_size, rate, asked.step, np.zeros(nodes))
        if not len(self.entries):
            return found
        # one task for each combination of levels of the outermost attributes
        outer = self.levels[: self.fixed or min(2, len(self.order) - 1)]
        tasks, count, done = product(*map(range, outer)), prod(outer), 0
        ground = None if self.fixed else self._table(())
        with ThreadPoolExecutor(min(threads, count, self._most_threads())) as pool:
            while batch := list(islice(tasks, _TASKS_AT_ONCE)):
                for _ in pool.map(lambda task: self._sweep(task, ground, found), batch):
                    done += 1
                    report("measure", done, count)
        return found

    def _most_threads(self) -> int:
        """Return the number of threads whose class tables fit in the memory budget, at least 1."""
        return max(1, MEMORY // _table_bytes(len(self.entries), len(self.order) - self.fixed))

    def _sweep(self, task: tuple[int, ...], ground: ClassTable | None, found: Any) -> None:
        """Measure the nodes with these levels of the outermost attributes.

        ground: the class table at the corner, where no attribute is fixed.
        """
        from shoal.anonymize.lattice._class_tables import make_tables, roll_up, settle
        from shoal.anonymize.lattice._kernels import sweep

        shape, attributes = self.shape, len(self.shape.levels)
        keys, counts = ground or self._table(task[: self.fixed])
        tables = make_tables(keys, counts, attributes, self.entries.followed)
        if self.fixed and self.entries.followed:
            settle(tables, attributes, shape)
        source, begin = attributes, attributes - (len(self.order) - self.fixed)
        for level_of in task[self.fixed :]:
            for level in range(1, level_of + 1):
                target = 0 if source != 0 else 1
                roll_up(tables, source, target, shape, begin, level)
                source = target
            begin += 1
        if source != attributes:
            rows = tables.size[source]
            tables.keys[attributes, :rows] = tables.keys[source, :rows]
            tables.counts[attributes, :rows] = tables.counts[source, :rows]
            tables.size[attributes] = rows
            tables.followed[attributes] = tables.followed[source]
        node = int(np.dot(task, _strides(self.levels)[: len(task)])) if task else 0
        sweep(tables, shape, begin, node, found)

    def _table(self, fixed: tuple[int, ...]) -> ClassTable:
        """Return the sorted keys and the counts with the fixed attributes at these levels."""
        entries, shape = self.entries, self.shape
        rolled = self.order[self.fixed :]
        keys = np.zeros(len(entries), dtype=np.int64) + entries.person
        fields = [entries.codes[j] for j in rolled]
        if len(shape.levels) > len(rolled):
            fields.insert(0, self._numbers(fixed))
        for codes, shift in zip(fields, shape.shift, strict=True):
            keys |= codes << shift
        alike = group_keys(keys)  # tuples become equal if attributes are left out or rolled up
        keys, counts = keys[alike.first], alike.sizes(entries.records)
        if entries.people is not None:
            people = np.where(keys & shape.person, 1, alike.sizes(entries.people))
            counts = counts | (people << shape.size_at)
        return keys, counts

    def _numbers(self, fixed: tuple[int, ...]) -> Counts:
        """Return the number of each entry's sub-tuple: what is fixed, at these levels."""
        entries = self.entries
        if not fixed:
            return entries.apart
        columns, domains = [entries.apart], [entries.parts]
        for j, level in zip(self.order, fixed, strict=False):
            columns.append(entries.ladders[j].raised(entries.codes[j], level))
            domains.append(entries.ladders[j].domain)
        return group(columns, domains).ids.astype(np.int64)


def pack(lattice: Lattice, corner: tuple[int, ...]) -> Packed:
    """Lay out the lattice above a corner, with the attribute with the most levels innermost."""
    from shoal.anonymize.lattice._class_tables import Shape

    entries = entries_of(lattice, corner)
    ladders, every = entries.ladders, range(len(entries.ladders))
    inner = max(every, key=lambda j: (len(ladders[j].steps), ladders[j].domain))
    outer = sorted((j for j in every if j != inner), key=lambda j: -ladders[j].domain)
    order = (*outer, inner)
    fixed, bits = _fit(entries, order)
    rolled = order[fixed:]
    head = len(bits) - len(rolled)  # 1 where a number stands for sub-tuples, else 0
    person_bits = entries.followed.bit_length()
    shift = np.cumsum([person_bits, *bits[:0:-1]])[::-1].astype(np.int64)
    levels = np.array([1] * head + [len(ladders[j].steps) + 1 for j in rolled], dtype=np.int64)
    first = np.zeros((len(bits), int(levels.max())), dtype=np.int64)
    steps: list[Counts] = [np.zeros(0, dtype=np.int64)]
    for place, j in enumerate(rolled, start=head):
        for level, step in enumerate(ladders[j].steps, start=1):
            first[place, level] = sum(map(len, steps))
            steps.append(step)
    strides = _strides([len(ladders[j].steps) + 1 for j in order])[fixed:]
    mask = np.array([(1 << b) - 1 for b in bits], dtype=np.int64)
    shape = Shape(
        levels,
        shift,
        mask,
        first,
        np.concatenate(steps),
        np.array([0] * head + strides, dtype=np.int64),
        (1 << person_bits) - 1,
        entries.size_at,
    )
    return Packed(entries, order, fixed, shape)


def _fit(entries: Entries, order: tuple[int, ...]) -> tuple[int, list[int]]:
    """Return the number of attributes to fix, and the bits of each field of a key.

    Attributes are fixed if they do not fit in a word, or if their class tables do not fit in memory
    while more than two others are left: rolling up fewer attributes takes less memory.
    """
    person, numbers = entries.followed.bit_length(), [_bits(entries.parts)][: entries.parts > 1]
    for fixed in range(len(order) + 1):
        fields = [_bits(entries.ladders[j].domain) for j in order[fixed:]]
        bits = [*(numbers if not fixed else [_bits(len(entries))]), *fields]
        room = len(fields) <= 2 or _table_bytes(len(entries), len(fields)) <= MEMORY
        if sum(bits) + person <= _KEY_BITS and room:
            break
    return fixed, bits


def _bits(domain: int) -> int:
    return max(1, (domain - 1).bit_length())


def _table_bytes(entries: int, attributes: int) -> int:
    """Return the bytes of one thread's class tables, at least 1."""
    return max(1, entries * (16 * (attributes + 1) + 60))


def _strides(levels: tuple[int, ...] | list[int]) -> list[int]:
    """Return the stride of each attribute in the list of nodes."""
    return [prod(levels[j + 1 :]) for j in range(len(levels))]
