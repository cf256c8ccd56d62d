"""Locate the ends of a published range among a column's values: numbers, periods, ranks.

Exact for numbers of any size; an end need not be a value of the column.
"""

from __future__ import annotations

import calendar
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa

from shoal.table import encoding
from shoal.table.column import Column
from shoal.table.ruler import PLAIN, Ruler, exact_numbers

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_INFINITE = re.compile(r"[+-]?(inf|infinity|∞)", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?P<decade>[0-9]{3}0)s|(?P<year>[0-9]{4})(-?Q(?P<quarter>[1-4])|-(?P<month>[0-9]{2}))?"
)

_WEEKS = re.compile(r"(?P<year>[0-9]{4})-W(?P<first>[0-9]{2})(/W(?P<last>[0-9]{2}))?")


@dataclass(frozen=True, repr=False)
class Span:
    """An interval of a scale: a point, a period or a range.

    below, above: whether the lower and the upper end are excluded.
    """

    low: Any
    high: Any
    below: bool = False
    above: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Scale:
    """The known values of a column in order, and other points between them.

    keys: (known,) the position of each value, ascending.
    places: the key of each value by its text.
    ruler: converts keys to positions.
    """

    keys: Sequence[Any]
    places: dict[str, Any]
    ruler: Ruler = PLAIN

    def point(self, text: str) -> Span | None:
        """Return the interval that a text names: a value, or another point of the scale."""
        key = self.places.get(text)
        return self._named(text) if key is None else Span(key, key)

    def _named(self, text: str) -> Span | None:
        return None

    def run(self, span: Span) -> tuple[int, int]:
        """Return the codes in the interval, the first and one past the last."""
        first = (bisect_right if span.below else bisect_left)(self.keys, span.low)
        stop = (bisect_left if span.above else bisect_right)(self.keys, span.high)
        return first, stop

    def bounds(self, span: Span) -> tuple[float, float]:
        """Return the smallest and largest position in the interval."""
        return self.ruler.position(span.low), self.ruler.position(span.high)


class Ranks(Scale):
    """Ordered texts: only values are points."""


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Scale):
    """Exact numbers; `whole` if there is nothing between 1 and 2."""

    whole: bool = False

    def _named(self, text: str) -> Span | None:
        if not _NUMBER.fullmatch(text):
            return _infinite(text)
        return Span(Decimal(text), Decimal(text))

    def bounds(self, span: Span) -> tuple[float, float]:
        """Return the smallest and largest number in the interval."""
        low, high = span.low, span.high
        if self.whole and span.below and math.isfinite(low):
            low = math.floor(low) + 1
        if self.whole and span.above and math.isfinite(high):
            high = math.ceil(high) - 1
        return self.ruler.position(low), self.ruler.position(high)


@dataclass(frozen=True, eq=False, repr=False)
class Days(Scale):
    """Dates in days: `2024-03-09`, and periods: `2024-03`, `2024-Q1`, `2024-W10`, `2020s`."""

    def _named(self, text: str) -> Span | None:
        moment = _moment(text)
        period = _period(text) if moment is None else (moment.date(), moment.date())
        return _infinite(text) if period is None else self._span(*period)

    def _span(self, first: date, last: date) -> Span:
        return Span(float(_day(first)), float(_day(last)))

    def bounds(self, span: Span) -> tuple[float, float]:
        """Return the first and last day in the interval."""
        return float(span.low) + span.below, float(span.high) - span.above


@dataclass(frozen=True, eq=False, repr=False)
class Seconds(Days):
    """Times in seconds: like dates, and `2024-03-09 14:30:00`; a day is also a period."""

    def _named(self, text: str) -> Span | None:
        moment = _moment(text) if len(text) > len("2024-03-09") else None
        if moment is None:
            return super()._named(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (aware - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)
        return Span(seconds, seconds)

    def _span(self, first: date, last: date) -> Span:
        return Span(_day(first) * 86400.0, (_day(last) + 1) * 86400.0, above=True)

    def bounds(self, span: Span) -> tuple[float, float]:
        """Return the first and last second in the interval."""
        return self.ruler.position(span.low), self.ruler.position(span.high)


def scale_of(column: Column) -> Scale | None:
    """Return the scale of a column whose values have an order, or else None."""
    kind, known = column.values.type, column.known
    labels = [text or "" for text in column.labels[:known]]
    if encoding.is_numeric(kind) and pa.types.is_temporal(kind):
        keys: Sequence[Any] = encoding.positions(column.values)[:known].tolist()
        if not column.ruler.plain:
            keys = exact_numbers(column.values)[:known]
        made = Days if pa.types.is_date(kind) else Seconds if pa.types.is_timestamp(kind) else Ranks
        if _ascends(keys):
            return made(keys, dict(zip(labels, keys, strict=True)), column.ruler)
    elif encoding.is_numeric(kind):
        keys = [Decimal(text) for text in labels]
        if _ascends(keys):
            places = dict(zip(labels, keys, strict=True))
            return Numbers(keys, places, column.ruler, pa.types.is_integer(kind))
    return Ranks(range(known), {t: i for i, t in enumerate(labels)}) if column.ordered else None


def _ascends(keys: Sequence[Any]) -> bool:
    """Return whether values ascend with their codes: an ordinal column may have another order."""
    return all(low < high for low, high in pairwise(keys))


def _infinite(text: str) -> Span | None:
    if not _INFINITE.fullmatch(text):
        return None
    end = -math.inf if text.startswith("-") else math.inf
    return Span(end, end)


def _moment(text: str) -> datetime | None:
    if len(text) < len("2024-03-09") or text[4] != "-":
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _period(text: str) -> tuple[date, date] | None:
    found = _PERIOD.fullmatch(text)
    if found is None:
        return _weeks(text)
    year = int(found["decade"] or found["year"])
    first, last = 1, 12
    if found["quarter"]:
        first, last = int(found["quarter"]) * 3 - 2, int(found["quarter"]) * 3
    elif found["month"]:
        first = last = int(found["month"])
    years = 9 if found["decade"] else 0
    try:
        end = calendar.monthrange(year + years, last)[1]
        return date(max(year, 1), first, 1), date(year + years, last, end)
    except ValueError:  # no such month, or year 0
        return None


def _weeks(text: str) -> tuple[date, date] | None:
    """Return the first and last day of `2024-W10` or `2024-W01/W52`."""
    found = _WEEKS.fullmatch(text)
    if found is None:
        return None
    try:
        first = date.fromisocalendar(int(found["year"]), int(found["first"]), 1)
        begun = date.fromisocalendar(int(found["year"]), int(found["last"] or found["first"]), 1)
    except ValueError:  # no such week
        return None
    days = min(6, (date.max - begun).days)
    return None if begun < first else (first, begun + timedelta(days=days))


def _day(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
