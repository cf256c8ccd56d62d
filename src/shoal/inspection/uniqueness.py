"""How far single columns and combinations of them single people out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.people import Unit, count_distinct
from shoal.core.progress import report
from shoal.core.table import Table
from shoal.risk import identifying_columns, population_uniqueness
from shoal.risk.singling_out import count_alone

_MOST_COMBINATIONS = 12
_MANY = 16  # columns of which triples are still looked at


def standing_out(columns: Sequence[Column], person: Unit | None = None) -> list[dict[str, Any]]:
    """Return how many people are alone with their values, for single columns up to all.

    Of pairs and triples only those that single out most are listed.
    """
    found: list[dict[str, Any]] = []
    for width in (1, 2, 3):
        subsets = list(combinations(columns, width))
        if width > 1 and (width >= len(columns) or len(subsets) > 500):
            continue
        told = []
        for place, subset in enumerate(subsets):
            report(f"combinations of {width}", place, len(subsets))
            told.append(count_uniques(subset, person))
        ranked = sorted(told, key=lambda each: -each["unique"])
        found += ranked if width == 1 else ranked[: _MOST_COMBINATIONS // width]
    if len(columns) > 1:
        found.append(count_uniques(columns, person))
    return found


def count_uniques(columns: Sequence[Column], person: Unit | None) -> dict[str, Any]:
    """Return how many people have a row whose values nobody else has, and the smallest group."""
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
    """Return the smallest sets of columns, up to three, that identify nearly everyone."""
    if not columns or not len(columns[0]):
        return []
    most = 3 if len(columns) <= _MANY else 2 if len(columns) <= 4 * _MANY else 1
    table = Table(tuple(columns), person=person)
    return [key.to_dict() for key in identifying_columns(table, most=most).keys]


def estimate_uniqueness(
    columns: Sequence[Column], fraction: float | None, person: Unit | None
) -> dict[str, Any] | None:
    """Return how many people would be alone in the population, None where nobody asks."""
    if fraction is None or not columns or not len(columns[0]):
        return None
    return population_uniqueness(Table(tuple(columns), person=person), fraction).to_dict()
