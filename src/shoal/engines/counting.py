"""Classes from the counts of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.column import Column, Kind, Role
from shoal.core.counted_classes import CountedClasses, Tallies
from shoal.core.histogram import Histogram
from shoal.core.table import Table
from shoal.engines.engine import Counted
from shoal.engines.packing import Packing
from shoal.support.arrays import Bools, Codes, Counts


def same_classes(one: Counted, other: Counted) -> bool:
    """Return whether two counts have the same classes with the same numbers of rows."""
    first, second = order_of(one), order_of(other)
    if len(first) != len(second) or any(bool((word < 0).any()) for word in other.words):
        return False
    pairs = zip([*one.words, one.rows], [*other.words, other.rows], strict=True)
    return all(np.array_equal(a[first], b[second]) for a, b in pairs)


def order_of(counted: Counted) -> Counts:
    """Return the order of classes by their words, then by the further column."""
    keys = [counted.value] if counted.value is not None else []
    words: list[Any] = [*keys, *counted.words[::-1]]
    return np.lexsort(words) if words else np.arange(1)


@dataclass(frozen=True, eq=False)
class Counting:
    """How classes are counted.

    classes: counts them, by the codes of a further column if one is named.
    with_value: counts their people with a value of a column; None if each row is one person.
    cells: the published cells of each quasi-identifier. total: the whole release as one class.
    codes: for each sensitive column the code of each counted value, if they differ.
    count_people: counts the different people of some classes, in the order of `order_of`.
    """

    classes: Callable[[str | None], Counted]
    with_value: Callable[[str, int], Counted] | None
    cells: Mapping[str, Any]
    total: Counted
    codes: Mapping[str, Codes] | None = None
    count_people: Callable[[Bools], int] | None = None


def counted_classes(
    counting: Counting, sensitive: Mapping[str, Column], origin: Table | None = None
) -> CountedClasses:
    """Return classes with the values of sensitive columns.

    origin: the table whose distributions are assumed to be public.
    """
    whole = counting.classes(None)
    order = order_of(whole)
    words = [word[order] for word in whole.words]
    packing = Packing.of({name: len(each) + 1 for name, each in counting.cells.items()})
    columns = [
        Column(name, Role.QUASI, Kind.NOMINAL, packing.unpack(words, name), each)
        for name, each in counting.cells.items()
    ]
    people, rows, with_value = {}, {}, {}
    for name, column in sensitive.items():
        codes = None if counting.codes is None else counting.codes[name]
        people[name], rows[name] = histograms_of(counting.classes(name), codes)
        with_value[name] = _with_value(counting, column, whole, order, rows[name])
        columns.append(replace(column, codes=np.zeros(len(order), dtype=np.int32)))
    total = counting.total
    tallies = Tallies(
        whole.rows[order],
        None if whole.people is None else whole.people[order],
        None if whole.households is None else whole.households[order],
        None if total.people is None else int(total.people[0]),
        None if total.households is None else int(total.households[0]),
        people,
        rows,
        with_value,
        counting.count_people,
    )
    return CountedClasses.counted(Table(tuple(columns), tallies.rows), tallies, origin)


def _with_value(
    counting: Counting, column: Column, whole: Counted, order: Counts, rows: Histogram
) -> Counts:
    """(classes,) people with a value of a column that is not missing."""
    everyone = whole.rows if whole.people is None else whole.people
    if column.missing is None:
        return everyone[order]
    if counting.with_value is None or whole.people is None:
        known = np.where(rows.codes == column.missing, 0, rows.counts)
        return np.add.reduceat(known, rows.indptr[:-1]) if len(order) else known
    found = counting.with_value(column.name, column.missing)
    assert found.people is not None
    place = {key: n for n, key in enumerate(zip(*(w.tolist() for w in found.words), strict=True))}
    people = np.append(found.people, 0)
    keys = zip(*(word[order].tolist() for word in whole.words), strict=True)
    return people[[place.get(key, -1) for key in keys]]


def histograms_of(found: Counted, codes: Codes | None) -> tuple[Histogram, Histogram]:
    """Return the people and the rows of each class with each value."""
    assert found.value is not None
    values = found.value if codes is None else codes[found.value]
    keys: list[Any] = [values, *found.words[::-1]]
    order = np.lexsort(keys)
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[:1] = True
    for word in found.words:
        ordered = word[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    indptr = np.append(np.flatnonzero(fresh), len(order)).astype(np.int64)
    rows = Histogram(indptr, values[order].astype(np.int32), found.rows[order])
    if found.people is None:
        return rows, rows
    return Histogram(indptr, rows.codes, found.people[order]), rows
