"""Days, weeks, months, quarters, years, decades: the recipe for dates.

Weeks cross the ends of months and years. They make whole years only by ISO 8601, whose years begin
on a Monday and whose label says so: `2024-W01/W52`.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.hierarchies.recipe_arguments import (
    is_list,
    known_labels,
    misfit,
    nested,
    over_domain,
    refusal,
)

_MONTHLY = ("day", "month", "quarter", "year", "decade")
_WEEKLY = ("day", "week", "week-year")
_SPANS: dict[str, Callable[[date], tuple[str, date, date]]] = {
    "day": lambda d: (d.isoformat(), d, d),
    "month": lambda d: (
        f"{d:%Y-%m}",
        d.replace(day=1),
        d.replace(day=calendar.monthrange(d.year, d.month)[1]),
    ),
    "quarter": lambda d: (
        f"{d:%Y}-Q{(d.month + 2) // 3}",
        date(d.year, (d.month - 1) // 3 * 3 + 1, 1),
        date(
            d.year,
            (d.month + 2) // 3 * 3,
            calendar.monthrange(d.year, (d.month + 2) // 3 * 3)[1],
        ),
    ),
    "year": lambda d: (f"{d:%Y}", date(d.year, 1, 1), date(d.year, 12, 31)),
    "decade": lambda d: (
        f"{d.year // 10 * 10}s",
        date(max(d.year // 10 * 10, 1), 1, 1),
        date(d.year // 10 * 10 + 9, 12, 31),
    ),
    "week": lambda d: (
        f"{_week_year(d):04}-W{d.isocalendar().week:02}",
        *_weeks(_week_year(d), d.isocalendar().week, d.isocalendar().week),
    ),
    "week-year": lambda d: (
        f"{_week_year(d):04}-W01/W{weeks_of(_week_year(d))}",
        *_weeks(_week_year(d), 1, weeks_of(_week_year(d))),
    ),
}


def weeks_of(year: int) -> int:
    """Return how many weeks a year has by ISO 8601: 52 or 53."""
    return date(year, 12, 28).isocalendar().week


def _week_year(day: date) -> int:
    return day.isocalendar().year


def _weeks(year: int, first: int, last: int) -> tuple[date, date]:
    """Return the first Monday and the last Sunday of some weeks, inside the calendar."""
    start = date.fromisocalendar(year, first, 1)
    days = (last - first) * 7 + 6
    return start, start + timedelta(days=min(days, (date.max - start).days))


def dates(column: Any, levels: Sequence[str] = ("month", "year", "decade")) -> Hierarchy:
    """Group dates by day (of a time), month, quarter, year, decade; or by day, week, week-year.

    A week begins on a Monday. Weeks cross months and years, so they go with `week-year`, the year
    of ISO 8601, which is made of whole weeks.

    Parameters:
        column: A `Column` of dates or times, or plain values.
        levels: The groupings, from the finest to the coarsest.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: The values are not dates, or the levels are not in this order.

    >>> dates([date(2024, 3, 9)]).rows()
    [('2024-03-09', '2024-03', '2024', '2020s', '*')]
    >>> dates([date(2024, 12, 30)], ["week", "week-year"]).rows()
    [('2024-12-30', '2025-W01', '2025-W01/W52', '*')]
    """
    column = over_domain(column)
    kind = column.values.type
    if column.known and not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        raise refusal(column, "dates", misfit(column, "dates", "2024-03-09"))
    chains = (_MONTHLY, _WEEKLY)
    if not is_list(levels) or list(levels) not in [
        [name for name in chain if name in levels] for chain in chains
    ]:
        raise refusal(
            column,
            "dates",
            f"levels must be from {', '.join(_MONTHLY)}, or from {', '.join(_WEEKLY)}, in this "
            "order and without repeats; weeks cross months and years",
        )
    known = column.values[: column.known]
    days = known.cast(pa.date32(), safe=False).to_pylist() if column.known else []
    timed = pa.types.is_timestamp(kind)
    bounds: dict[int, dict[str, tuple[float, float]]]
    bounds = {height: {} for height in range(1, len(levels) + 1)}
    groups: list[list[str]] = [[] for _ in levels]
    above: dict[date, list[str]] = {}  # by month: its days share all higher spans
    daily = any(name in _WEEKLY for name in levels)
    for day in days:
        start = day if daily else day.replace(day=1)
        if start not in above:
            spans = [_SPANS[name](start) for name in levels]
            above[start] = [text for text, _, _ in spans]
            for height, (text, first, last) in enumerate(spans, start=1):
                bounds[height][text] = _span_bounds(first, last, timed)
        for group, text in zip(groups, above[start], strict=True):
            group.append(text)
    return nested(column, known_labels(column), groups, bounds, fixed=True)


def _span_bounds(first: date, last: date, timed: bool) -> tuple[float, float]:
    """Return the ends of a span of days in the column's unit: days, or seconds for times."""
    epoch = date(1970, 1, 1)
    start = float((first - epoch).days)
    end = float((last - epoch).days)
    return (start * 86400, (end + 1) * 86400) if timed else (start, end)
