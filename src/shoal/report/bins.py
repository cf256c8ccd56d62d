"""Bins for numbers and dates with round ends, open at both sides, and enough people in each.

The ends come from a grid, not from the data, and the open sides contain enough people to hide the
smallest and the largest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column
from shoal.support.arrays import Floats

MAX_BINS = 15
_TAIL = 0.01  # of the people may lie beyond each outer end
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_DAYS = (1, 2, 5, 10, 15)
_DAY = 86_400.0


@dataclass(frozen=True)
class Bins:
    """Bins below, between and above their ends.

    ends: (bins − 1,) where one bin ends and the next one begins, ascending; it may be empty.
    """

    ends: Floats
    labels: tuple[str, ...]


def bins(column: Column, people: Floats, least: int) -> Bins:
    """Return ranges of a numeric column with at least `least` people each.

    people: (domain,) the weight of the people with each value.
    """
    if not column.ruler.plain:  # no round end lies between such numbers
        return Bins(np.empty(0), ("all",))
    known, positions = people[: column.known], column.positions[: column.known]
    low, high = _body(positions, known, least)
    kind = column.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        ends, label = _calendar(low, high, 1.0 if pa.types.is_date(kind) else _DAY)
    else:
        ends, label = _numbers(low, high, whole=bool((positions == np.round(positions)).all()))
    ends = _merged(ends, positions, known, least)
    return Bins(ends, tuple(_labels(ends, label)))


def _body(positions: Floats, people: Floats, least: int) -> tuple[float, float]:
    """Return two values with enough people on the outer side of each."""
    upto = np.round(np.cumsum(people), 6)
    total = float(upto[-1])
    for tail in (max(least, math.ceil(_TAIL * total)), least):
        low = positions[min(int(np.searchsorted(upto, tail)), len(positions) - 1)]
        high = positions[min(int(np.searchsorted(upto, total - tail + 1)), len(positions) - 1)]
        if low < high:
            return float(low), float(high)
    return 0.0, 0.0


def _merged(ends: Floats, positions: Floats, people: Floats, least: int) -> Floats:
    """Remove ends until every range holds enough people."""
    held = np.bincount(np.searchsorted(ends, positions, side="right"), people, len(ends) + 1)
    kept, sizes = list(ends), list(np.round(held, 6))
    while kept and min(sizes) < least:
        small = int(np.argmin(sizes))
        left = small and (small == len(kept) or sizes[small - 1] <= sizes[small + 1])
        at = small - 1 if left else small
        sizes[at : at + 2] = [sizes[at] + sizes[at + 1]]
        del kept[at]
    return np.array(kept)


Label = Callable[[float | None, float | None], str]


def _labels(ends: Floats, label: Label) -> list[str]:
    if not len(ends):
        return ["all"]
    inner = [label(float(a), float(b)) for a, b in pairwise(ends)]
    return [label(None, float(ends[0])), *inner, label(float(ends[-1]), None)]


def _numbers(low: float, high: float, *, whole: bool) -> tuple[Floats, Label]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers."""
    width = _round_width((high - low) / MAX_BINS, whole=whole)
    first, last = math.floor(low / width) + 1, math.floor(high / width)
    ends = np.array([float(f"{n * width:.12g}") for n in range(first, last + 1)])

    def label(least: float | None, below: float | None) -> str:
        top = None if below is None else f"{below - whole:,.12g}"
        if least is None:
            return f"{top} or less" if whole else f"less than {top}"
        if top is None:
            return f"{least:,.12g} or more"
        start = f"{least:,.12g}"
        if whole:
            return start if start == top else f"{start} – {top}"
        return f"{start} to {top}"

    return ends, label


def _round_width(least: float, *, whole: bool) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least this wide."""
    if not 0 < least < math.inf:
        return 1.0
    power = math.floor(math.log10(least))
    widths = (step * 10.0**exponent for exponent in (power, power + 1) for step in (1, 2, 5))
    width = next((width for width in widths if width >= least * (1 - 1e-9)), least)
    return max(width, 1.0) if whole else width


def _calendar(low: float, high: float, day: float) -> tuple[Floats, Label]:
    """Return first days of months or years, or every few days, between two positions.

    day: the length of a day in positions.
    """
    first, last = (np.datetime64(math.floor(at / day), "D") for at in (low, high))
    months = [_index(at.astype("datetime64[M]")) for at in (first, last)]
    if months[1] - months[0] >= 3:
        unit, steps, (begin, end) = "M", list(_MONTHS), months
    else:
        unit, steps, (begin, end) = "D", list(_DAYS), [_index(at) for at in (first, last)]
    step = next((s for s in steps if (end - begin) / s <= MAX_BINS), steps[-1])
    marks = np.arange(begin // step + 1, end // step + 1) * step
    days = marks.astype(f"datetime64[{unit}]").astype("datetime64[D]")
    form = "Y" if unit == "M" and step % 12 == 0 else unit

    def text(position: float, back: int = 0) -> str:
        return str(np.datetime64(round(position / day) - back, "D").astype(f"datetime64[{form}]"))

    def label(least: float | None, below: float | None) -> str:
        if least is None:
            assert below is not None
            return f"before {text(below)}"
        if below is None:
            return f"{text(least)} or later"
        start, stop = text(least), text(below, back=1)
        return start if start == stop else f"{start} to {stop}"

    return np.array([_index(at) * day for at in days]), label


def _index(at: Any) -> int:
    return int(at.astype(np.int64))
