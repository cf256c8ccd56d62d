"""Encodings of released cells as features of fixed width.

    flags       as in the study: 1 for every value that a cell covers; numeric columns with many
                values use 20 bins of equal width
    weights     the same, divided by their number
    midpoints   position and width of the cell's range for ordered columns; weights for the others

`Scale` encodes one column: each dictionary entry once, then gathered row by row by `Features`,
which also encodes raw rows on the scales of the training rows. de Spoelberch, "The limits of
information loss metrics as measures for utility", 2020, 3.4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.options import check_choice
from shoal.table.column import Column, Kind, Role
from shoal.table.encoding import encode, is_numeric, is_text, texts
from shoal.table.hierarchy import ROOT
from shoal.table.recoding import Recoding
from shoal.table.table import Table

Encoding = Literal["flags", "weights", "midpoints"]
ENCODINGS: dict[str, str] = {  # description of each encoding
    "flags": "1 for every value or bin that the cell covers",
    "weights": "the same, divided by their number",
    "midpoints": "midpoint and width of the range; weights if the column has no order",
}
BINS = 20
MAX_FLAGS = 256  # per column; beyond that, neighbouring values share a flag
Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scale:
    """Encoding of the cells of one column.

    The set of original values is treated as public. Without declared bounds, the ends of the scale
    come from the training rows.

    low, high: the ends of the scale.
    """

    column: Column
    encoding: str
    low: float
    high: float

    @classmethod
    def fit(cls, cells: Recoding, rows: Counts, encoding: str) -> Scale:
        """Return the scale of a column as published in these rows."""
        column = cells.column
        if column.bounds is not None:
            return cls(column, encoding, *column.extent)
        if cells.low is None or cells.high is None:
            return cls(column, encoding, 0.0, 1.0)
        # only cells of training rows that state a position: a scale must not read the test rows
        used = np.bincount(cells.codes[rows], minlength=len(cells.labels)) > 0
        positioned = used & [text != ROOT for text in cells.labels] & ~np.isnan(cells.low)
        if not positioned.any():  # no row has a position, so any scale works
            return cls(column, encoding, 0.0, 1.0)
        return cls(
            column,
            encoding,
            float(cells.low[positioned].min()),
            float(cells.high[positioned].max()),
        )

    @property
    def measured(self) -> bool:
        """Whether a cell is encoded by the position and width of its range."""
        return self.encoding == "midpoints" and self.column.ordered

    @property
    def binned(self) -> bool:
        """Whether values share flags by bins."""
        return self.column.kind is Kind.NUMERIC and self.column.known > BINS

    @cached_property
    def slots(self) -> int:
        """Number of flags for known values."""
        if self.binned:
            return BINS
        return min(self.column.known, MAX_FLAGS)

    @property
    def width(self) -> int:
        """Number of features of a cell, including the one for missing values."""
        return (2 if self.measured else self.slots) + (self.column.missing is not None)

    @cached_property
    def _slot(self) -> Counts:
        """(known values,) the flag of each, in non-decreasing order."""
        known = self.column.known
        if self.binned:
            return self._bin(self.column.positions[:known])
        return np.arange(known) * self.slots // max(known, 1)

    def _bin(self, positions: Floats) -> Counts:
        return np.clip(np.floor(self._share(positions) * BINS), 0, BINS - 1).astype(np.int64)

    def _share(self, positions: Floats) -> Floats:
        """Return positions on the scale, from 0 at its low end to 1 at its high end."""
        return (positions - self.low) / ((self.high - self.low) or 1.0)

    def of_cells(self, cells: Recoding) -> Matrix:
        """Return (entries, width) the features of each entry of a release column."""
        return self._measures(cells) if self.measured else self._spread(self._flags(cells))

    def of_values(self, column: Column) -> Matrix:
        """Return (values, width) the features of raw values; a value outside the domain has none.

        column: this column, or the same column of another table.
        """
        values = column.values
        missing = np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
        features = np.zeros((len(values), self.width), dtype=np.float32)
        if self.column.missing is not None:
            features[missing, -1] = 1.0
        by_position = self.column.kind is Kind.NUMERIC and is_numeric(values.type)
        if by_position and (self.measured or self.binned):
            positions = self.column.ruler.positions(values)
        else:
            codes = self._codes(texts(values))
            positions = np.append(self.column.positions[: self.column.known], np.nan)[codes]
        if self.measured:
            features[:, 0] = np.where(np.isnan(positions), 0.5, self._share(positions))
            features[:, 1] = np.isnan(positions)
        elif by_position and self.binned:
            known = np.flatnonzero(~missing)
            features[known, self._bin(positions[known])] = 1.0
        else:
            known = np.flatnonzero(codes >= 0)
            features[known, self._slot[codes[known]]] = 1.0
        return features

    def _codes(self, texts: Sequence[str | None]) -> Codes:
        """Return the codes of known values by their text, −1 for any other."""
        code_of = {text: code for code, text in enumerate(self.column.labels[: self.column.known])}
        return np.array([code_of.get(text, -1) for text in texts], dtype=np.int32)

    def _flags(self, cells: Recoding) -> Bools:
        """Return (entries, width) the flags that each entry covers."""
        subsets, known = cells.subsets, self.column.known
        entries = np.repeat(np.arange(len(subsets)), np.diff(subsets.indptr))  # (runs,)
        edges = np.zeros((len(subsets), self.slots + 1), dtype=np.int32)
        inside = np.flatnonzero(subsets.starts < known)
        if len(inside):
            first = self._slot[subsets.starts[inside]]
            last = self._slot[np.minimum(subsets.stops[inside], known) - 1]
            if self.binned:
                first, last = self._published(cells, entries[inside], first, last)
            # each run is a step up at its first flag and down behind its last; sums are the cover
            np.add.at(edges, (entries[inside], first), 1)
            np.add.at(edges, (entries[inside], last + 1), -1)
        flags = np.cumsum(edges, axis=1)[:, :-1] > 0
        flags[subsets.whole] = True
        if self.column.missing is None:
            return np.asarray(flags)
        return np.column_stack([flags, subsets.last == self.column.missing])

    def _published(
        self, cells: Recoding, entries: Counts, first: Counts, last: Counts
    ) -> tuple[Counts, Counts]:
        """Widen the bins of entries with a single range to the published range.

        A bin that a published range reaches only with its upper end is not covered: `[20, 30[`.
        """
        assert cells.low is not None
        assert cells.high is not None
        single = np.bincount(entries, minlength=len(cells.labels))[entries] == 1
        low, high = self._share(cells.low[entries]), self._share(cells.high[entries])
        begin = np.clip(np.floor(low * BINS), 0, BINS - 1).astype(np.int64)
        end = np.clip(np.ceil(high * BINS) - 1, 0, BINS - 1).astype(np.int64)
        widened = np.minimum(first, begin), np.maximum(last, end)
        return np.where(single, widened[0], first), np.where(single, widened[1], last)

    def _spread(self, flags: Bools) -> Matrix:
        if self.encoding == "flags":
            return flags.astype(np.float32)
        shares: Matrix = flags.astype(np.float32)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
        return shares

    def _measures(self, cells: Recoding) -> Matrix:
        """Return (entries, width) midpoint and width of an entry's range, relative to the scale."""
        subsets = cells.subsets
        features = np.zeros((len(subsets), self.width), dtype=np.float32)
        low, high = self._share(_floats(cells.low)), self._share(_floats(cells.high))
        hidden = np.isnan(low) | [text == ROOT for text in cells.labels]
        features[:, 0] = np.where(hidden, 0.5, (low + high) / 2)
        features[:, 1] = np.where(hidden, 1.0, high - low)
        if self.column.missing is not None:
            features[:, 2] = (subsets.last == self.column.missing) / subsets.sizes
        return features


def _floats(bounds: Any) -> Floats:
    return np.asarray(bounds, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Features:
    """Columns as features, with scales fitted on training rows only.

    train: (training rows, features) without constant features.
    kept: (all features,) which features are kept.
    """

    scales: Mapping[str, Scale]
    train: Matrix
    kept: Bools

    @classmethod
    def fit(cls, cells: Sequence[Recoding], rows: Counts, encoding: str) -> Features:
        """Fit scales to the cells of these rows, and encode them."""
        scales = {each.name: Scale.fit(each, rows, encoding) for each in cells}
        parts = [(scales[each.name].of_cells(each), each.codes[rows]) for each in cells]
        train = _gathered(parts, len(rows))
        kept = (train != train[:1]).any(axis=0)
        return cls(scales, train[:, kept], kept)

    def of_raw(self, columns: Sequence[Column], rows: Counts) -> Matrix:
        """Return raw rows of the same columns, from this table or another, as features."""
        parts = [(self.scales[c.name].of_values(c), c.codes[rows]) for c in columns]
        return _gathered(parts, len(rows))[:, self.kept]


def _gathered(parts: Sequence[tuple[Matrix, Codes]], rows: int) -> Matrix:
    """Return the rows of several dictionaries as one matrix."""
    ends = np.cumsum([0, *(entries.shape[1] for entries, _ in parts)])
    matrix = np.empty((rows, int(ends[-1])), dtype=np.float32)
    for index, (entries, codes) in enumerate(parts):
        matrix[:, ends[index] : ends[index + 1]] = entries[codes]
    return matrix


def features(release: Release, encoding: Encoding = "flags") -> Matrix:
    """Return the quasi-identifiers of the released rows as numbers.

    Parameters:
        release: The release.
        encoding: flags, weights or midpoints.

    Returns:
        (released rows, features) the matrix.

    Raises:
        InputError: The encoding is unknown.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48] * 5, "ill": ["no", "no", "yes", "yes"] * 5})
    >>> release = shoal.anonymize(rows, k=6, quasi="age", sensitive="ill")
    >>> features(release, "midpoints")[:2]
    array([[0.05882353, 0.11764706],
           [0.05882353, 0.11764706]], dtype=float32)
    """
    check_choice("encoding", encoding, tuple(ENCODINGS))
    hidden = release.suppressed
    rows = np.arange(len(release.original)) if hidden is None else np.flatnonzero(~hidden)
    cells = list(release.recodings.values())
    parts = [(Scale.fit(c, rows, encoding).of_cells(c), c.codes[rows]) for c in cells]
    return _gathered(parts, len(rows))


def released_cells(release: Release, target: str, also: Sequence[str]) -> list[Recoding]:
    """Return the columns to learn from: quasi-identifiers and columns published unchanged."""
    cells = [each for each in release.recodings.values() if each.name != target]
    for name in dict.fromkeys(also):
        column = release.original[name]
        if column.role is Role.IDENTIFIER or name == target:
            reason = "the target" if name == target else "an identifier, which is not released"
            raise InputError(f"also: column {name!r} is {reason}; name columns published unchanged")
        if column.role is not Role.QUASI:
            cells.append(Recoding.identity(studied(column)))
    if not cells:
        raise InputError("there are no columns to learn from besides the target")
    return cells


def studied(column: Column) -> Column:
    """Return a column with one code per value, in order; insensitive columns do not have that.

    An insensitive column of a file is text; if all of it can be read as numbers, it becomes
    numeric.
    """
    if column.role in (Role.QUASI, Role.SENSITIVE):
        return column
    codes, values = encode(_numbers(column.to_arrow()), column.name)
    kind = Kind.NUMERIC if is_numeric(values.type) else Kind.NOMINAL
    encoded = Column(column.name, Role.INSENSITIVE, kind, codes, values)
    encoded.check_finite()
    return encoded


def _numbers(cells: Any) -> Any:
    """Return text as numbers if all of it can be read as numbers."""
    if not is_text(cells.type) or cells.null_count == len(cells):
        return cells
    for kind in (pa.int64(), pa.uint64(), pa.float64()):  # the first that holds them exactly
        try:
            numbers = cells.cast(kind)
        except pa.ArrowInvalid:
            continue
        return numbers if pc.all(pc.is_finite(numbers)).as_py() else cells
    return cells


def columns_of(table: Table, names: Sequence[str]) -> list[Column]:
    """Return the columns of a test table by name."""
    absent = [name for name in names if name not in table]
    if absent:
        raise InputError(
            f"test: the table has no column {absent[0]!r} with a role; read it with the same roles"
        )
    return [studied(table[name]) for name in names]
