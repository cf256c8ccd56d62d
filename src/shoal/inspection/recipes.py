"""A recipe for the hierarchy of a column that suits its values."""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Kind
from shoal.core.values import is_text
from shoal.core.wording import folded_name
from shoal.inspection.roles import is_fractional

_CODES = r"zip|post_?code|postal|(^|_)(plz|code)($|_)"  # numbers that are not amounts


def suggest_recipe(column: Column) -> dict[str, Any] | None:
    """Return a recipe for a hierarchy that suits the values, None where no recipe is sure to."""
    values = column.values[: column.known]
    if pa.types.is_date(values.type):
        return {"dates": ["month", "year", "decade"]}
    if pa.types.is_timestamp(values.type):
        return {"dates": ["day", "month", "year", "decade"]}
    if _are_codes(column.name, values):
        return {"mask": "right"}
    if column.kind is not Kind.NUMERIC or pa.types.is_temporal(values.type):
        return None
    widths = _widths(column)
    return {"intervals": widths} if len(widths) > 1 else None


def _are_codes(name: str, values: Any) -> bool:
    """Whether values are digits of one length, three or more: text, or numbers named as codes."""
    whole = pa.types.is_integer(values.type)
    if len(values) < 2 or (whole and not re.search(_CODES, folded_name(name))):
        return False
    if not whole and not is_text(values.type):
        return False
    texts = values.cast(pa.large_string())
    ends = pc.min_max(pc.utf8_length(texts)).as_py()
    alike = ends["min"] == ends["max"] >= 3
    return bool(alike and pc.all(pc.ascii_is_decimal(texts)).as_py())


def _widths(column: Column) -> list[int | float]:
    """Return 5, 10, 20, 40 or the like: wider than one value, narrower than all."""
    low, high = (column.ruler.number(end) for end in column.extent)
    if not 0 < high - low < sys.float_info.max:
        return []
    unit = Fraction(10) ** math.floor(math.log10((high - low) / 3))
    least = 0 if is_fractional(column.values.type) else 1
    widths = [unit / 2, unit, unit * 2, unit * 4]
    return [
        int(width) if width.denominator == 1 else float(width)
        for width in widths
        if least < width < high - low
    ]
