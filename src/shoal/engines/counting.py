"""Classes from the counts of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.column import Column, Kind, Role
from shoal.core.counted_classes import CountedClasses, Tallies
from shoal.core.histogram import Histogram
from shoal.core.table import Table
from shoal.engines.engine import Counted
from shoal.engines.packing import Packing
from shoal.support.arrays import Codes, Counts

if TYPE_CHECKING:
    from shoal.engines.large_release import LargeRelease


def same_classes(one: Counted, other: Counted) -> bool:
    """Return whether two counts have the same classes with the same numbers of rows."""
    first, second = _order(one), _order(other)
    if len(first) != len(second) or any(bool((word < 0).any()) for word in other.words):
        return False
    pairs = zip([*one.words, one.rows], [*other.words, other.rows], strict=True)
    return all(np.array_equal(a[first], b[second]) for a, b in pairs)


def _order(counted: Counted) -> Counts:
    keys = [counted.value] if counted.value is not None else []
    words: list[Any] = [*keys, *counted.words[::-1]]
    return np.lexsort(words) if words else np.arange(1)


def counted_classes(
    release: LargeRelease,
    count: Callable[[str | None], Counted],
    cells: Mapping[str, Any],
    total: Counted,
    codes: Mapping[str, Codes] | None = None,
    columns: Mapping[str, Column] | None = None,
) -> CountedClasses:
    """Return the classes of a release, with the values of sensitive columns.

    count: counts the classes, by a further column if one is named.
    cells: the published cells of each quasi-identifier.
    codes: for each sensitive column the code of each counted value, if they differ.
    columns: the sensitive columns; by default those of the model.
    """
    if columns is None:
        used: tuple[str, ...] = release.model.columns  # type: ignore[attr-defined]
        columns = {name: release.original[name] for name in used}
    whole = count(None)
    order = _order(whole)
    words = [word[order] for word in whole.words]
    packing = Packing.of({name: len(each) + 1 for name, each in cells.items()})
    listed = [
        Column(name, Role.QUASI, Kind.NOMINAL, packing.unpack(words, name), each)
        for name, each in cells.items()
    ]
    people, rows = {}, {}
    for name, column in columns.items():
        found = count(name)
        known = None if codes is None else codes[name]
        people[name], rows[name] = _histograms(found, known)
        listed.append(_of_classes(column, len(order)))
    tallies = Tallies(
        whole.rows[order],
        None if whole.people is None else whole.people[order],
        None if whole.households is None else whole.households[order],
        None if total.people is None else int(total.people[0]),
        None if total.households is None else int(total.households[0]),
        people,
        rows,
    )
    table = Table(tuple(listed), tallies.rows)
    return CountedClasses.counted(table, tallies, release.original)


def _of_classes(column: Column, classes: int) -> Column:
    """Return a column with one row for each class, for its domain."""
    return replace(column, codes=np.zeros(classes, dtype=np.int32))


def _histograms(found: Counted, codes: Codes | None) -> tuple[Histogram, Histogram]:
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
