"""Recipes for hierarchies of dates, of numbers, and from other columns; arguments of all recipes.

`from_columns`   levels taken from other columns of the same table: city, county, state
`dates`          days, months, quarters, years, decades; or weeks, which cross the ends of months
and years, so they make whole years only by ISO 8601, whose years begin on a
Monday and whose label says so: `2024-W01/W52`
`intervals`      intervals of growing width
`nested`         labels of each level as a hierarchy; every recipe ends here
"""

from __future__ import annotations

import calendar
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.support.arrays import frozen
from shoal.table import encoding
from shoal.table.column import Column, Kind
from shoal.table.encoding import float_text, is_text
from shoal.table.hierarchy import ROOT, Hierarchy
from shoal.table.types import between
from shoal.table.types import step as step_of


def source_columns(hierarchy: Any, name: str) -> tuple[str, ...]:
    """Return the columns that a recipe `{from: [county, state]}` names; none for other recipes."""
    if not isinstance(hierarchy, Mapping) or "from" not in hierarchy:
        return ()
    stated = hierarchy["from"]
    sources = [stated] if isinstance(stated, str) else stated
    fit = is_list(sources) and sources and all(isinstance(each, str) for each in sources)
    if not fit or len(hierarchy) > 1 or len({name, *sources}) <= len(sources):
        raise InputError(
            f"column {name!r}: from must be a list of other columns, finest first, such as "
            "[county, state]"
        )
    return tuple(sources)


def from_columns(column: Column, levels: Mapping[str, Any]) -> Hierarchy:
    """Group the values of a column by the values of other columns in the same rows.

    Each value needs exactly one parent in each of them. A label of two groups is qualified:
    by the label above it, `Washington (Oregon)`, or by the name of its column, `New York (state)`.

    Parameters:
        column: The column to generalize.
        levels: For each other column, from the finest to the coarsest, its cells.

    Returns:
        The hierarchy; its origin is the data.

    Raises:
        InputError: A value has no parent or several; the message counts such values.

    >>> city = Column.encode("city", ["Salem", "Bend", "Salem"])
    >>> from_columns(city, {"state": ["Oregon", "Oregon", "Oregon"]}).rows()
    [('Bend', 'Oregon', '*'), ('Salem', 'Oregon', '*')]
    """
    check_height(column, len(levels))
    labels = known_labels(column)
    parents = [_parents(column, name, cells) for name, cells in levels.items()]
    named = _distinct_labels(labels, parents, list(levels))
    rows = list(zip(labels, *named, [ROOT] * len(labels), strict=True))
    empty = [("", *([""] * len(levels)), ROOT)]
    return Hierarchy.from_rows(rows or empty, origin="data")


def _parents(column: Column, name: str, cells: Any) -> list[str]:
    """Return the label that each known value has in another column."""
    codes, values = encoding.encode(cells, name)
    texts = encoding.texts(values)
    with_text = np.array([code for code, text in enumerate(texts) if text], dtype=np.int64)
    filled = (column.codes < column.known) & np.isin(codes, with_text)
    low = np.full(column.known, len(texts), dtype=np.int64)
    high = np.full(column.known, -1, dtype=np.int64)
    np.minimum.at(low, column.codes[filled], codes[filled])
    np.maximum.at(high, column.codes[filled], codes[filled])
    several, none = int((low < high).sum()), int((high < 0).sum())
    if several:
        raise refusal(
            column,
            "from",
            f"{several:,} of {column.known:,} values occur with more than one value of {name!r}; "
            f"make them distinct, leave out {name!r}, or use a hierarchy file",
        )
    if none:
        raise refusal(
            column,
            "from",
            f"{none:,} of {column.known:,} values have no value of {name!r}; fill it in",
        )
    return [str(texts[code]) for code in high]


def _distinct_labels(
    labels: Sequence[str], parents: Sequence[Sequence[str]], names: Sequence[str]
) -> list[list[str]]:
    """Return the labels of each level, qualified so that different groups have different labels."""
    members: dict[str, tuple[int, ...]] = {ROOT: tuple(range(len(labels)))}
    members |= {label: (i,) for i, label in enumerate(labels)}
    above = [ROOT] * len(labels)
    named: list[list[str]] = []
    # from the coarsest level down, so that the label above is known
    for texts, name in zip(reversed(parents), reversed(names), strict=True):
        groups: dict[tuple[str, str], list[int]] = {}
        for i, (text, parent) in enumerate(zip(texts, above, strict=True)):
            groups.setdefault((text, parent), []).append(i)
        counts = Counter(text for text, _ in groups)
        level = [""] * len(labels)
        for (text, parent), values in groups.items():
            plain = text if counts[text] == 1 else f"{text} ({parent})"
            label = _free_label(plain, name, tuple(values), members)
            members[label] = tuple(values)
            for i in values:
                level[i] = label
        named.insert(0, level)
        above = level
    return named


def _free_label(
    plain: str, name: str, values: tuple[int, ...], members: Mapping[str, tuple[int, ...]]
) -> str:
    """Return the label, qualified if it is already the label of other values."""
    label, count = plain, 1
    while members.get(label, values) != values:
        label = f"{plain} ({name})" if count == 1 else f"{plain} ({name} {count})"
        count += 1
    return label


MAX_LEVELS = 256  # of a recipe between the values and the root
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


def intervals(column: Any, widths: Sequence[Any], origin: Any = 0) -> Hierarchy:
    """Group numbers into intervals `[20, 25[` of growing width, each a multiple of the last.

    Interval ends are multiples of the widths, counted from `origin` and never from the data.

    Parameters:
        column: A numeric `Column`, or plain values.
        widths: The width of the intervals at each level.
        origin: A number at which intervals begin.

    Returns:
        The hierarchy over the values, or over the declared domain of the column.

    Raises:
        InputError: The values are not numbers, or a width is not a multiple of the one before.

    >>> intervals([21, 24, 25], [5]).rows()
    [('21', '[20, 25[', '*'), ('24', '[20, 25[', '*'), ('25', '[25, 30[', '*')]
    """
    column = over_domain(column)
    if pa.types.is_temporal(column.values.type):
        raise refusal(column, "intervals", "needs numbers; for dates use `dates`")
    if column.known and column.kind is not Kind.NUMERIC:
        raise refusal(column, "intervals", misfit(column, "numbers", "1234.50"))
    _check_widths(column, widths)
    check_height(column, len(widths))
    if not is_number(origin):
        raise refusal(column, "intervals", "origin must be a number")
    whole = pa.types.is_integer(column.values.type)
    # exact: in floating point 0.3 / 0.1 is less than 3
    exact, zero = [Fraction(str(width)) for width in widths], Fraction(str(origin))
    labels = known_labels(column)
    steps = [int((Fraction(label) - zero) // exact[0]) for label in labels]
    levels = []
    bounds: dict[int, dict[str, tuple[Fraction, Fraction]]] = {}
    for height, width in enumerate(exact, start=1):
        merged = int(width / exact[0])  # finest intervals in one of this level
        named: dict[int, str] = {}
        bounds[height] = {}
        for start in {step // merged for step in steps}:
            low, high = zero + start * width, zero + (start + 1) * width
            named[start] = f"[{_text(column, low)}, {_text(column, high)}["
            last = Fraction(math.ceil(high) - 1) if whole else high
            bounds[height][named[start]] = (low, last)
        levels.append([named[step // merged] for step in steps])
    return nested(column, labels, levels, bounds, fixed=True)


def _text(column: Column, end: Fraction) -> str:
    """Return the end of an interval as it is published, or reject it if it is not exact."""
    with suppress(OverflowError):
        text = float_text(float(end)) if end.denominator > 1 else str(end)
        if math.isfinite(float(end)) and Fraction(text) == end:
            return text
    raise refusal(
        column, "intervals", "the ends cannot be written as exact numbers; choose other widths"
    )


def _check_widths(column: Column, widths: Any) -> None:
    if not is_list(widths) or not widths or not all(is_number(w) and w > 0 for w in widths):
        raise refusal(column, "intervals", "widths must be a list of positive numbers")
    for fine, coarse in itertools.pairwise(widths):
        ratio = Fraction(str(coarse)) / Fraction(str(fine))
        if ratio <= 1 or ratio.denominator > 1:
            raise refusal(
                column,
                "intervals",
                "each width must be a multiple of the one before, "
                f"and {coarse} is not a multiple of {fine}",
            )


def suggest_widths(column: Column) -> list[Fraction]:
    """Return widths such as 5, 10, 20, 40: wider than one value, narrower than the range."""
    low, high = (column.ruler.number(column.positions[code]) for code in (0, column.known - 1))
    whole = pa.types.is_integer(column.values.type)
    span, size = high - low, max(abs(low), abs(high))
    # ends of intervals have at most fifteen digits
    least = Fraction(0) if whole else max(size / 10**12, Fraction(1, 10**300))
    if not least < span < sys.float_info.max:
        return []
    unit = Fraction(10) ** math.floor(math.log10(span / 3))
    widths = (unit / 2, unit, unit * 2, unit * 4)
    return [width for width in widths if (1 if whole else 0) < width < span]


def as_column(values: Any) -> Column:
    """Return the column, or one of plain values."""
    return values if isinstance(values, Column) else Column.encode("values", values)


def over_domain(values: Any) -> Column:
    """Return the column, or one of plain values, over its declared domain.

    The bounds of integers, dates and decimals with fixed places define their domain if it has at
    most 100,000 values.
    """
    column = as_column(values)
    if column.declared or not column.closed:
        return column
    domain = between(column.type, column.bounds)
    if domain is None:
        return column
    no_rows = np.zeros(0, dtype=np.int32)
    return replace(
        column, codes=no_rows, values=domain, declared=True, spelling=None, hierarchy=None
    )


def nested(
    column: Column,
    labels: Sequence[str],
    levels: Sequence[Sequence[str]],
    bounds: Mapping[int, Mapping[str, tuple[Any, Any]]] | None = None,
    *,
    fixed: bool,
) -> Hierarchy:
    """Create a hierarchy from labels and, for each level, the group of each label; add the root.

    A column without known values gives the same levels as any other.

    Parameters:
        bounds: For a level, the least and greatest number of each label.
        fixed: Whether the group of a value depends on the value only, not on the other values.
    """
    check_height(column, len(levels))
    rows: list[tuple[str | None, ...]]
    rows = list(zip(labels, *levels, [ROOT] * len(labels), strict=True))
    empty = [(None, *([None] * len(levels)), ROOT)]
    position = column.ruler.position
    ends = {
        height: {label: (position(low), position(high)) for label, (low, high) in named.items()}
        for height, named in (bounds or {}).items()
    }
    tree = Hierarchy.from_rows(rows or empty, ends, "values" if fixed else "data", column.ruler)
    if column.declared:
        return replace(tree, origin="declared")
    countable = bounds is not None or not levels  # a mask does not state which values it stands for
    return _over_bounds(tree, column) if fixed and countable and column.closed else tree


def _over_bounds(tree: Hierarchy, column: Column) -> Hierarchy:
    """Return a hierarchy over a domain too large to list, with leaves counted from the bounds."""
    least, greatest = column.extent
    step = step_of(column.type, (least, greatest), column.ruler)
    total = round((greatest - least) / step) + 1
    counted = [tree.levels[0]]
    for level in tree.levels[1:-1]:
        if level.bounds is None:  # no value is known
            counted.append(level)
            continue
        # a group at the edge of the domain has only the values inside the bounds
        low, high = np.maximum(level.bounds[:, 0], least), np.minimum(level.bounds[:, 1], greatest)
        leaves = np.clip(np.rint((high - low) / step), 1, total).astype(np.int64)
        counted.append(replace(level, leaves=frozen(leaves)))
    root = replace(tree.levels[-1], leaves=frozen(np.full(1, total, dtype=np.int64)))
    return replace(tree, levels=(*counted, root), origin="declared")


def check_height(column: Column, levels: int) -> None:
    """Reject too many levels before they are created."""
    if levels > MAX_LEVELS:
        raise InputError(
            f"column {column.name!r}: its hierarchy would have {levels:,} levels; "
            f"the maximum is {MAX_LEVELS}"
        )


def known_labels(column: Column) -> list[str]:
    """Return the texts of the values that are not missing, in order."""
    return [str(label) for label in column.labels[: column.known]]


def refusal(column: Column, recipe: str, wanted: str) -> InputError:
    """Return the error of a recipe that does not apply to a column."""
    return InputError(f"column {column.name!r}: {recipe}: {wanted}")


def misfit(column: Column, wanted: str, written: str) -> str:
    """Return why a recipe does not apply to the values, and how to fix them."""
    if not is_text(column.values.type):
        return f"needs {wanted}, but the values are {column.kind}, of type {column.values.type}"
    return (
        f"needs {wanted}, but some values read as text; write all like {written} and list the "
        "texts of missing values under missing (kind: numeric reports the first row that fails)"
    )


def is_whole(value: Any) -> bool:
    """Return whether the argument is a whole number; true and false are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether the argument is a finite number; true and false are not."""
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return False
    return isinstance(value, Integral) or math.isfinite(value)


def is_list(value: Any) -> bool:
    """Return whether the argument is a list; a text is not."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
