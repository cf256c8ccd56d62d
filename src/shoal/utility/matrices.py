"""Feature matrices: each dictionary entry is encoded once, then gathered row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Kind, Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.values.encoding import encode, is_numeric, is_text
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.options import check_choice
from shoal.utility.encodings import ENCODINGS, Encoding, Matrix, Scale


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
