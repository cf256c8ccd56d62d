"""Days, months, quarters, years, decades: the recipe for dates."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pyarrow as pa

from shoal.core.hierarchy import Hierarchy
from shoal.core.recipe_arguments import (
    is_list,
    known_labels,
    misfit,
    nested,
    over_domain,
    refusal,
)

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
}


def dates(column: Any, levels: Sequence[str] = ("month", "year", "decade")) -> Hierarchy:
    """Group dates by day (of a time), month, quarter, year, decade.

    >>> dates([date(2024, 3, 9)]).rows()
    [('2024-03-09', '2024-03', '2024', '2020s', '*')]
    """
    column = over_domain(column)
    kind = column.values.type
    if column.known and not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        raise refusal(column, "dates", misfit(column, "dates", "2024-03-09"))
    if not is_list(levels) or list(levels) != [name for name in _SPANS if name in levels]:
        raise refusal(
            column, "dates", f"levels are {', '.join(_SPANS)}, in this order and each once"
        )
    known = column.values[: column.known]
    days = known.cast(pa.date32(), safe=False).to_pylist() if column.known else []
    timed = pa.types.is_timestamp(kind)
    bounds: dict[int, dict[str, tuple[float, float]]]
    bounds = {height: {} for height in range(1, len(levels) + 1)}
    groups: list[list[str]] = [[] for _ in levels]
    above: dict[date, list[str]] = {}  # all days of a month have the same spans above
    for day in days:
        start = day if "day" in levels else day.replace(day=1)
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
