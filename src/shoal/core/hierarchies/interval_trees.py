"""Intervals of growing width: the recipe for numbers."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pyarrow as pa

from shoal.core.column import Column, Kind
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.hierarchies.recipe_arguments import (
    check_height,
    is_list,
    is_number,
    known_labels,
    misfit,
    nested,
    over_domain,
    refusal,
)
from shoal.core.values.encoding import float_text


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
        merged = int(width / exact[0])
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
