"""The distinct tuples that a sweep of a lattice starts from, in an order that levels preserve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.people import Unit
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Counts

if TYPE_CHECKING:
    from shoal.anonymize.lattice.lattice import Lattice

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
        step = np.zeros(int(fine.max()) + 1 if len(fine) else 0, dtype=np.int64)
        step[fine] = coarse
        steps.append(step)
    return Ladder(numbers[0], tuple(steps))
