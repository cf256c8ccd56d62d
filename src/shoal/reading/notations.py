"""Numbers and dates as countries write them, turned into 1234.50 and 2024-03-09.

Nothing is guessed: a notation is stated, and taken where every value of a column is written so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError

_PARTS = {
    "DD": r"(?P<day>[0-9]{1,2})",
    "MM": r"(?P<month>[0-9]{1,2})",
    "YYYY": r"(?P<year>[0-9]{4})",
}
_TIME = r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?"
_GROUPS = {",": ". \u00a0\u202f'", ".": ", \u00a0\u202f'"}  # what may part thousands


@dataclass(frozen=True)
class Notation:
    """How numbers and dates are written, as far as it is stated.

    decimal: the sign before the decimal places, a comma or a point.
    dates: the order of the parts of a date, such as DD.MM.YYYY.
    """

    decimal: str | None = None
    dates: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ",", "."):
            raise InputError("decimal must be a comma or a point: ',' or '.'")
        if self.dates is not None and not _is_pattern(self.dates):
            raise InputError("dates must be written such as DD.MM.YYYY, MM/DD/YYYY or YYYY-MM-DD")

    def plain(self, texts: Any, *, numbers: bool = True) -> Any:
        """Return texts that are all so written in the plain notation, others as they are."""
        if numbers and self.decimal is not None:
            wanted = number_pattern(self.decimal)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                bare = pc.replace_substring_regex(texts, f"[{_GROUPS[self.decimal]}]", "")
                return pc.replace_substring(bare, ",", ".") if self.decimal == "," else bare
        if self.dates is not None:
            wanted = date_pattern(self.dates)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                return _iso(texts, wanted)
        return texts


def number_pattern(decimal: str) -> str:
    """Return a pattern of numbers with this decimal sign, their thousands apart or not."""
    parted = "|".join(rf"[1-9][0-9]{{0,2}}(?:{re.escape(g)}[0-9]{{3}})+" for g in _GROUPS[decimal])
    return rf"^-?(?:0|[1-9][0-9]*|{parted})(?:{re.escape(decimal)}[0-9]+)?$"


def date_pattern(order: str) -> str:
    """Return a pattern of dates in this order, with or without a time of day."""
    signs = [_PARTS.get(part, re.escape(part)) for part in _split(order)]
    return f"^{''.join(signs)}{_TIME}$"


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


def _iso(texts: Any, wanted: str) -> Any:
    """Return dates as 2024-03-09, with a time of day as 2024-03-09 14:30:00 where any has one."""
    parts = pc.extract_regex(texts, wanted)
    dash, colon, space = (pa.scalar(sign, texts.type) for sign in "-: ")
    padded = {
        name: pc.utf8_lpad(pc.struct_field(parts, name), 2, "0")
        for name in ("year", "month", "day", "hour", "minute", "second")
    }
    day = pc.binary_join_element_wise(padded["year"], padded["month"], padded["day"], dash)
    if not pc.any(pc.not_equal(pc.struct_field(parts, "hour"), "")).as_py():
        return day
    clock = pc.binary_join_element_wise(padded["hour"], padded["minute"], padded["second"], colon)
    return pc.binary_join_element_wise(day, clock, space)
