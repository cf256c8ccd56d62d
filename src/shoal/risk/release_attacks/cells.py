"""Released cells of one column as sets of values, whatever made them.

A cell may be a value, a range, a set, a mask, a label of a hierarchy or `*`. It may also be a
number that the original does not have, after noise or in a synthetic table, or a text that cannot
be read, which fits nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Kind
from shoal.core.values import encoding
from shoal.reading.released_cells import Forms
from shoal.reading.released_lists import Runs, merged
from shoal.support.arrays import Bools, Codes, Counts, Floats

_MAX_READINGS = 9  # of one text
_PLAIN_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_MAX_EXACT = 2.0**53  # whole numbers above are read exactly, text by text
_EDGES = (0.05, 0.95)  # quantiles: a few extreme numbers do not make all others look alike


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one released column, in terms of the values of the original.

    column: the values of the original and the control group.
    codes: (released rows,) the entry of each cell.
    indptr, starts, stops: runs of codes of the values that each entry stands for.
    low, high: (entries,) for columns with an order, the ends as positions; NaN if the entry stands
        for no position.
    unread: number of cells that stand for no value and no number.
    entries: (entries,) the distinct released cells as Arrow.
    """

    column: Column
    codes: Codes
    indptr: Counts
    starts: Codes
    stops: Codes
    low: Floats
    high: Floats
    unread: int
    entries: Any

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> Counts:
        """(entries,) number of values that each entry stands for."""
        ends = np.concatenate(([0], np.cumsum(self.stops - self.starts, dtype=np.int64)))
        return np.diff(ends[self.indptr])

    @cached_property
    def run_entry(self) -> Codes:
        """(runs,) the entry of each run."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.indptr))

    def holding(self, code: int) -> Codes:
        """Return the entries that stand for a value."""
        return self.run_entry[(self.starts <= code) & (code < self.stops)]

    @cached_property
    def listed(self) -> tuple[Counts, Codes]:
        """The values that each entry writes out: itself, or the members of a set.

        In compressed row form: row starts and members.
        """
        numbers, forms = _plain_numbers(self.entries, self.column), Forms(self.column)
        first, stop = _codes_of(numbers, self.column)
        texts = encoding.texts(self.entries)
        members = [
            np.arange(first[entry], stop[entry], dtype=np.int32)
            if not np.isnan(number)
            else np.array(forms.listed(texts[entry]), dtype=np.int32)
            for entry, number in enumerate(numbers.tolist())
        ]
        indptr = np.concatenate(([0], np.cumsum([len(each) for each in members], dtype=np.int64)))
        return indptr, np.concatenate([np.zeros(0, dtype=np.int32), *members])

    @property
    def whole(self) -> Bools:
        """(entries,) whether the entry stands for every value: the cell is suppressed."""
        hides: Bools = self.sizes == self.column.domain
        return hides if self.column.domain > 1 else np.zeros(len(self), dtype=np.bool_)

    @cached_property
    def unit(self) -> float:
        """The range of the values, which is a distance of 1; a few extreme values do not count.

        It is 1 if the column has no order.
        """
        if not self.column.ordered:
            return 1.0
        positions = self.column.positions[self.column.codes]
        known = positions[~np.isnan(positions)]
        if not len(known):
            return 1.0
        least, greatest = np.quantile(known, _EDGES)
        return float(greatest - least) or float(known.max() - known.min()) or 1.0

    @property
    def breadth(self) -> Floats:
        """(entries,) how many values an entry stands for, from 0 (at most one) to 1 (all)."""
        return np.maximum(self.sizes - 1, 0) / max(self.column.domain - 1, 1)


def read_cells(cells: Any, column: Column) -> Cells:
    """Read the cells of a released column.

    Parameters:
        cells: The released column as Arrow, of any type.
        column: The values of the original.
    """
    plain = encoding.with_missing(cells, column.name)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    values = encoded.dictionary
    numbers = _plain_numbers(values, column)
    first, stop = _codes_of(numbers, column)
    runs: dict[int, Runs] = {}
    low, high = numbers.copy(), numbers.copy()
    texts = encoding.texts(values.filter(pa.array(np.isnan(numbers))))
    forms = Forms(column)
    for entry, text in zip(np.flatnonzero(np.isnan(numbers)).tolist(), texts, strict=True):
        runs[entry], low[entry], high[entry] = _read_text(text, forms)
    lengths = np.where(stop > first, 1, 0)
    for entry, each in runs.items():
        lengths[entry] = len(each)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    starts, stops = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    single = stop > first
    starts[indptr[:-1][single]], stops[indptr[:-1][single]] = first[single], stop[single]
    for entry, each in runs.items():
        for place, (begin, end) in enumerate(each, int(indptr[entry])):
            starts[place], stops[place] = begin, end
    unread = (lengths == 0) & np.isnan(low)
    return Cells(column, codes, indptr, starts, stops, low, high, int(unread[codes].sum()), values)


def _plain_numbers(values: Any, column: Column) -> Floats:
    """(entries,) the position of each entry that is a plain number, NaN for others."""
    kind = column.values.type
    nothing = np.full(len(values), np.nan)
    if column.kind is not Kind.NUMERIC or pa.types.is_temporal(kind) or not column.ruler.plain:
        return nothing
    if encoding.is_text(values.type):
        number = pc.fill_null(pc.match_substring_regex(values, _PLAIN_NUMBER), False)
        values = pc.if_else(number, values, None)
    elif not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return nothing
    numbers: Floats = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.abs(numbers) < _MAX_EXACT, numbers, np.nan)


def _codes_of(numbers: Floats, column: Column) -> tuple[Codes, Codes]:
    """(entries,) the run of codes with exactly this position; empty if there is none."""
    known = column.positions[: column.known]
    first = np.searchsorted(known, numbers, side="left").astype(np.int32)
    stop = np.searchsorted(known, numbers, side="right").astype(np.int32)
    return first, np.where(np.isnan(numbers), first, stop)


def _read_text(text: str | None, forms: Forms) -> tuple[Runs, float, float]:
    """Return the runs of codes and the ends of a text, NaN if it states no position."""
    column = forms.column
    nowhere = ((), np.nan, np.nan)
    if encoding.is_text(column.values.type) and not column.ordered and text is not None:
        # a text may have several meanings, such as a value that looks like a mask
        ways = islice(forms.readings(text), _MAX_READINGS)
        return merged(run for way in ways for run in way.runs), np.nan, np.nan
    reading = next((way for way in forms.readings(text) if way.runs), None)
    if reading is None:
        ends = None if text is None else forms.stated_bounds(text)
        return nowhere if ends is None else ((), *ends)
    if not np.isnan(reading.low):
        return reading.runs, reading.low, reading.high
    if sum(stop - start for start, stop in reading.runs) == column.domain > 1:
        return reading.runs, -np.inf, np.inf
    last = max((min(stop, column.known) for start, stop in reading.runs if start < column.known),
               default=0)  # fmt: skip
    if not last or not column.ordered:
        return reading.runs, np.nan, np.nan
    positions = column.positions
    return reading.runs, float(positions[reading.runs[0][0]]), float(positions[last - 1])
