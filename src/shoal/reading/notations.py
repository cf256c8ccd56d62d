"""Convert national notations of numbers and dates to 1234.50 and 2024-03-09.

Nothing is guessed: a notation is stated, and used if every value of a column has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values.data_types import DataType
from shoal.errors import InputError

_PARTS = {
    "DD": r"(?P<day>[0-9]{1,2})",
    "MM": r"(?P<month>[0-9]{1,2})",
    "YYYY": r"(?P<year>[0-9]{4})",
}
_TIME = r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?"
_GROUPS = {",": ". \u00a0\u202f'", ".": ", \u00a0\u202f'"}  # thousands separators


@dataclass(frozen=True)
class Notation:
    """The stated notation of numbers and dates.

    decimal: the decimal mark, a comma or a point.
    dates: the order of the parts of a date, such as DD.MM.YYYY.
    """

    decimal: str | None = None
    dates: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ",", "."):
            raise InputError("decimal must be a comma or a point: ',' or '.'")
        if self.dates is not None and not _is_pattern(self.dates):
            raise InputError("dates must be a format such as DD.MM.YYYY, MM/DD/YYYY or YYYY-MM-DD")

    def plain(self, texts: Any, *, numbers: bool = True) -> Any:
        """Return texts in the plain notation if all have this notation, or else unchanged."""
        if numbers and self.decimal is not None:
            wanted = number_pattern(self.decimal)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                return _pointed(texts, self.decimal)
        if self.dates is not None:
            wanted = date_pattern(self.dates)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                return _iso(texts, self.dates)
        return texts

    def cells(self, texts: Any, wanted: DataType) -> Any:
        """Return the texts of a declared type in the plain notation.

        A text in another notation becomes null: it does not fit.
        """
        if wanted.name in ("integer", "decimal", "float") and self.decimal is not None:
            return _pointed(_matching(texts, number_pattern(self.decimal)), self.decimal)
        if wanted.name == "date" and self.dates is not None:
            return _iso(_matching(texts, date_pattern(self.dates, timed=False)), self.dates)
        if wanted.name == "datetime" and self.dates is not None:
            return _iso(_matching(texts, date_pattern(self.dates)), self.dates, timed=True)
        return texts


PLAIN = Notation()


def _matching(texts: Any, pattern: str) -> Any:
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, None)


def number_pattern(decimal: str) -> str:
    """Return a pattern of numbers with this decimal mark, with or without thousands separators."""
    parted = "|".join(rf"[1-9][0-9]{{0,2}}(?:{re.escape(g)}[0-9]{{3}})+" for g in _GROUPS[decimal])
    return rf"^-?(?:0|[1-9][0-9]*|{parted})(?:{re.escape(decimal)}[0-9]+)?$"


def date_pattern(order: str, *, timed: bool = True) -> str:
    """Return a pattern of dates in this order, optionally with a time of day if `timed`."""
    signs = [_PARTS.get(part, re.escape(part)) for part in _split(order)]
    return f"^{''.join(signs)}{_TIME if timed else ''}$"


def _split(order: str) -> list[str]:
    return [part for part in re.split(r"(DD|MM|YYYY)", order) if part]


def _is_pattern(order: Any) -> bool:
    parts = _split(order) if isinstance(order, str) else []
    signs = [part for part in parts if part not in _PARTS]
    return (
        sorted(set(parts) - set(signs)) == sorted(_PARTS)
        and len(parts) == 5
        and (all(re.fullmatch(r"[./-]|\. ", sign) for sign in signs))
    )


def _pointed(texts: Any, decimal: str) -> Any:
    """Return numbers without thousands separators and with a decimal point."""
    bare = pc.replace_substring_regex(texts, f"[{_GROUPS[decimal]}]", "")
    return pc.replace_substring(bare, ",", ".") if decimal == "," else bare


def _iso(texts: Any, order: str, *, timed: bool = False) -> Any:
    """Return dates like 2024-03-09, or like 2024-03-09 14:30:00 if any has a time of day.

    timed: whether all get a time of day, even if none has one.
    """
    parts = pc.extract_regex(texts, date_pattern(order))
    dash, colon, space = (pa.scalar(sign, texts.type) for sign in "-: ")
    padded = {
        name: pc.utf8_lpad(pc.struct_field(parts, name), 2, "0")
        for name in ("year", "month", "day", "hour", "minute", "second")
    }
    day = pc.binary_join_element_wise(padded["year"], padded["month"], padded["day"], dash)
    if not timed and not pc.any(pc.not_equal(pc.struct_field(parts, "hour"), "")).as_py():
        return day
    clock = pc.binary_join_element_wise(padded["hour"], padded["minute"], padded["second"], colon)
    return pc.binary_join_element_wise(day, clock, space)
