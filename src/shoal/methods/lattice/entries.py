"""The distinct tuples of a lattice, and their layout as sorted keys for a sweep of all nodes.

    table → distinct tuples at a corner → Entries, with levels as Ladders
          → pack: fields of a 64-bit key → Packed.measure: a `Found` for every node

Values are numbered so that the values of a group are adjacent at every level. A key is one 64-bit
word, whatever the width of a tuple. Attributes that do not fit are fixed: for each combination of
their levels, equal sub-tuples get a dense number, which replaces them in the key.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.people import Unit, group, group_keys
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.lattice.lattice import Lattice


_COUNT_BITS = 63  # of a count, which holds records and people


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of a column from a lowest level up.

    Numbers are monotone in the numbers of every level above, so the values of a group are adjacent.

    numbers: (values,) each value's number at the lowest level.
    steps: for each level above, the number there of each number one level below.
    """

    numbers: Counts
    steps: tuple[Counts, ...]

    @cached_property
    def domain(self) -> int:
        """Number of groups at the lowest level."""
        return int(self.numbers.max()) + 1 if len(self.numbers) else 1

    def raised(self, numbers: Counts, level: int) -> Counts:
        """Return numbers of the lowest level at a level above it."""
        for step in self.steps[:level]:
            numbers = step[numbers]
        return numbers


@dataclass(frozen=True, eq=False)
class Entries:
    """The distinct tuples at a corner of a lattice, with their records and people.

    ladders: the levels of each attribute from the corner up.
    codes: for each attribute, (entries,) numbers at the corner, in as few bytes as they need.
    apart: (entries,) the group by the columns that separate records; parts: number of such groups.
    records: (entries,) number of records.
    people: (entries,) number of people; None if each record is a different person.
    person: (entries,) number, from 1, of a person who is in several tuples; else 0.
    followed: number of such people.
    size_at: the bit of a count from which the kernels count people.
    """

    ladders: tuple[Ladder, ...]
    codes: tuple[Any, ...]
    apart: Counts
    parts: int
    records: Counts
    people: Counts | None
    person: Counts
    followed: int
    size_at: int

    def __len__(self) -> int:
        return len(self.records)


def entries_of(lattice: Lattice, corner: tuple[int, ...]) -> Entries:
    """Return the distinct tuples of a lattice's table at a corner.

    If each record is a person, tuples that are equal at the corner may still be several entries.
    """
    tuples, columns = lattice.tuples(*lattice.apart).table, lattice.columns
    ladders = tuple(_ladder(c, least) for c, least in zip(columns, corner, strict=True))
    codes = tuple(
        _narrow(ladder.numbers)[tuples[c.name].codes]
        for c, ladder in zip(columns, ladders, strict=True)
    )
    apart, parts = np.zeros(len(tuples), dtype=np.int64), 1
    if lattice.apart:
        others = [tuples[name] for name in lattice.apart]
        found = group([c.codes for c in others], [c.domain for c in others])
        apart, parts = found.ids.astype(np.int64), len(found)
    records = np.ones(len(tuples), np.int64) if tuples.counts is None else tuples.counts
    no_person = np.zeros(len(tuples), dtype=np.int64)
    entries = Entries(ladders, codes, apart, parts, records, None, no_person, 0, 0)
    unit, _ = counted_unit(tuples)
    if unit is None or unit.count == tuples.records:
        return entries
    return _with_people(entries, unit)


def _narrow(numbers: Counts) -> Any:
    """Return numbers in the smallest type that holds them: all entries are held at once."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def counted_unit(table: Table) -> tuple[Unit | None, bool]:
    """Return the unit that the sizes of classes count: people or households, None for records.

    The size of a class is the smaller of its numbers of people and households, and usually one of
    them is smaller in every class. Otherwise, if people share households and some have several,
    the second value is False, and counts of the returned unit are upper bounds of sizes.
    """
    unit, person, household = table.unit, table.person, table.household
    if unit is None or person is None or household is None:
        return unit, True
    fewer = min((household, person), key=lambda one: one.count)
    return fewer, fewer.count == unit.count


def _with_people(entries: Entries, unit: Unit) -> Entries:
    """Return the entries with their people, and separate entries for people in several tuples.

    unit: the person of each entry.
    """
    size_at = int(entries.records.sum()).bit_length()
    if size_at + unit.count.bit_length() > _COUNT_BITS:
        raise InputError("the table has too many records to count people; split the table")
    domains = [entries.parts, *(ladder.domain for ladder in entries.ladders)]
    classes = group([entries.apart, *entries.codes], domains)
    pairs = group([classes.ids, unit.ids], [len(classes), unit.count])
    ids, records = unit.ids[pairs.first], pairs.sizes(entries.records)
    # people in one class are additive for good; only the others get a number of their own
    several = np.bincount(ids, minlength=unit.count) > 1  # (people,)
    person = np.where(several, np.cumsum(several), 0)[ids]
    followed = int(several.sum())
    alike = group([classes.ids[pairs.first], person], [len(classes), followed + 1])
    rows = pairs.first[alike.first]
    return replace(
        entries,
        codes=tuple(codes[rows] for codes in entries.codes),
        apart=entries.apart[rows],
        records=alike.sizes(records),
        people=alike.sizes(),
        person=person[alike.first],
        followed=followed,
        size_at=size_at,
    )


def _ladder(column: Column, lowest: int) -> Ladder:
    """Return the levels of a column from the lowest one up, their groups numbered."""
    assert column.hierarchy is not None
    levels = column.hierarchy.levels
    # by the coarsest level first, so that the values of a group are adjacent at every level
    order = np.lexsort([level.groups for level in levels])
    numbers = []
    for level in levels[lowest:]:
        sorted_groups = level.groups[order]
        fresh = np.ones(len(order), dtype=np.int64)
        fresh[1:] = sorted_groups[1:] != sorted_groups[:-1]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(fresh) - 1
        numbers.append(number)
    steps = []
    for fine, coarse in pairwise(numbers):
        # levels are nested: all values of a fine group have the same coarse one
        step = np.zeros(int(fine.max()) + 1 if len(fine) else 0, dtype=np.int64)
        step[fine] = coarse
        steps.append(step)
    return Ladder(numbers[0], tuple(steps))


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
        from shoal.methods.lattice._sweep import Found

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
        from shoal.methods.lattice._sweep import make_tables, roll_up, settle, sweep

        shape, attributes = self.shape, len(self.shape.levels)
        keys, counts = ground or self._table(task[: self.fixed])
        tables = make_tables(keys, counts, attributes, self.entries.followed)
        if self.fixed and self.entries.followed:
            settle(tables, attributes, shape)
        source, begin = attributes, attributes - (len(self.order) - self.fixed)
        # raise the outermost attributes to the levels of the task, in turn in the first two tables
        for level_of in task[self.fixed :]:
            for level in range(1, level_of + 1):
                target = 0 if source != 0 else 1
                roll_up(tables, source, target, shape, begin, level)
                source = target
            begin += 1
        # `sweep` starts from the last table
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
    from shoal.methods.lattice._sweep import Shape

    entries = entries_of(lattice, corner)
    ladders, every = entries.ladders, range(len(entries.ladders))
    # the levels of the innermost attribute are measured together, so it should have many
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
    # nodes are numbered in the packed order, the innermost attribute fastest
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
