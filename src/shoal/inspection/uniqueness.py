"""How many people single columns and combinations of columns single out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.people import Unit, count_distinct
from shoal.core.table import Table
from shoal.risk import identifying_columns, population_uniqueness
from shoal.risk.singling_out import count_alone
from shoal.support.progress import report

_MAX_COMBINATIONS = 12
_MAX_COLUMNS_FOR_TRIPLES = 16


def standing_out(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return how many people are unique by single columns, pairs, triples and all columns.

    Only the pairs and triples that single out the most people are listed.

    Parameters:
        columns: The columns to combine.
        person: The person of each row, None if each row is a different person.

    Returns:
        For each set of columns its names, the number and the share of unique people, and the size
        of the smallest group.

    >>> from shoal import Column
    >>> age, sex = Column.encode("age", [31, 31, 47]), Column.encode("sex", ["f", "m", "f"])
    >>> [(found["columns"], found["unique"]) for found in standing_out([age, sex])]
    [(['age'], 1), (['sex'], 1), (['age', 'sex'], 3)]
    """
    found: list[dict[str, Any]] = []
    for width in (1, 2, 3):
        subsets = list(combinations(columns, width))
        if width > 1 and (width >= len(columns) or len(subsets) > 500):
            continue
        counts = []
        for index, subset in enumerate(subsets):
            report(f"combinations of {width}", index, len(subsets))
            counts.append(count_uniques(subset, person))
        ranked = sorted(counts, key=lambda each: -each["unique"])
        found += ranked if width == 1 else ranked[: _MAX_COMBINATIONS // width]
    if len(columns) > 1:
        found.append(count_uniques(columns, person))
    return found


def count_uniques(columns: Sequence[Column], person: Unit | None) -> dict[str, Any]:
    """Return how many people have a row with unique values, and the size of the smallest group."""
    found = group([c.codes for c in columns], [c.domain for c in columns])
    if person is None:
        people, sizes = len(columns[0]), found.sizes()
    else:
        people, sizes = person.count, count_distinct(found.ids, len(found), person)
    unique = count_alone(found.ids, len(found), person)
    return {
        "columns": [column.name for column in columns],
        "unique": unique,
        "share": unique / max(people, 1),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def near_keys(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return the smallest sets of columns, up to three, that identify nearly everyone.

    Parameters:
        columns: The columns to combine.
        person: The person of each row, None if each row is a different person.

    Returns:
        The sets as plain data, as `shoal.risk.identifying_columns` finds them.

    >>> from shoal import Column
    >>> age, sex = Column.encode("age", [31, 31, 47]), Column.encode("sex", ["f", "m", "f"])
    >>> near_keys([age, sex])[0]["columns"]
    ['age', 'sex']
    """
    if not columns or not len(columns[0]):
        return []
    limit = _MAX_COLUMNS_FOR_TRIPLES
    most = 3 if len(columns) <= limit else 2 if len(columns) <= 4 * limit else 1
    table = Table(tuple(columns), person=person)
    return [key.to_dict() for key in identifying_columns(table, most=most).keys]


def estimate_uniqueness(
    columns: Sequence[Column], fraction: float | None, person: Unit | None
) -> dict[str, Any] | None:
    """Return an estimate of how many people are unique in the population, None if not requested."""
    if fraction is None or not columns or not len(columns[0]):
        return None
    return population_uniqueness(Table(tuple(columns), person=person), fraction).to_dict()
