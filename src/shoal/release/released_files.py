"""Read released files of any tool: published forms become subsets of the original values.

Rows of both files are matched by a key, by position, or else by their values. Every released row
must cover its original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import InputError, NotCovering
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.files.writing import unescape_formulas
from shoal.release.provenance import Run
from shoal.release.reading_cells import Forms
from shoal.release.reading_columns import ReleasedColumn, read_cells, recoding
from shoal.release.release import Release
from shoal.release.row_matching import match_rows
from shoal.release.verification import Guarantee
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.wording import counted
from shoal.table.classes import Classes
from shoal.table.column import Column
from shoal.table.declared import find_keys, unique_keys
from shoal.table.encoding import texts, with_missing
from shoal.table.frames import from_frame, with_dates_of
from shoal.table.recoding import Recoding
from shoal.table.table import Table

MATCHED = (
    "rows were matched to the original by their values; some rows match several originals, so "
    "figures about single rows may differ from those of the release itself"
)


@dataclass(frozen=True)
class Unclaimed:
    """The guarantee of a release that claims none, from `read_released`: it always holds.

    Attributes:
        parts: The models that it consists of: none.
    """

    parts: tuple[Any, ...] = ()

    def holds(self, classes: Classes) -> Bools:
        """Return that every class meets it."""
        return np.ones(len(classes), dtype=np.bool_)

    def describe(self) -> str:
        """Return that there is no guarantee, in words."""
        return "The file claims no guarantee."

    def __str__(self) -> str:
        return "no claim"


def read_released(
    source: Any,
    original: Table,
    *,
    key: str | None = None,
    model: Guarantee | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    header: bool | None = None,
    trim: bool | None = None,
) -> Release:
    """Read a release of a table, made by any tool, from a file or a data frame.

    A text is read as a label of the column's hierarchy, a value, a range, a period, a set or a
    mask: the first of these that covers all originals of its rows.

    Parameters:
        source: The path of a file, or a data frame.
        original: The original table.
        key: A column of both with unique values, to match rows; originals without a released row
            count as suppressed. Without a key, rows are matched by position if all of them fit,
            and otherwise by their values, as in files that are sorted.
        model: The guarantee that the release claims; none by default.
        delimiter: As for `read`.
        quote: As for `read`.
        encoding: As for `read`.
        missing: As for `read`.
        header: As for `read`.
        trim: As for `read`.

    Returns:
        The release.

    Raises:
        InputError: Rows cannot be matched, or do not cover their originals.

    >>> import pyarrow as pa
    >>> import shoal
    >>> table = shoal.read(pa.table({"age": [31, 33, 47, 48]}), roles={"age": "quasi"})
    >>> released = pa.table({"age": ["30-39", "30-39", "40-49", "40-49"]})
    >>> read_released(released, table).classes.sizes
    array([2, 2])
    """
    form: dict[str, Any]
    form = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "missing": missing}
    form |= {"header": header, "trim": trim}
    stated = {option: value for option, value in form.items() if value is not None}
    if original.counts is not None:
        raise InputError("a weighted table has no rows to match; read the original row by row")
    if not isinstance(source, (str, Path)):
        if stated:
            raise InputError(f"{', '.join(stated)}: for files only; change the data frame itself")
        return _release(from_frame(source), original, key, model)
    names = [column.name for column in original]
    data = read_arrow(Path(source), Format(**stated), names, expected=names)
    try:
        return _release(data, original, key, model)
    except InputError as error:
        error.args = (f"{source}: {error}", *error.args[1:])
        raise


def _release(data: Any, original: Table, key: str | None, model: Guarantee | None) -> Release:
    for name in (*original.quasi, *([] if key is None else [key])):
        if data.column_names.count(name) != 1:
            raise InputError(f"has no column {name!r}, or several; the original has it")
    data = with_dates_of(original, unescape_formulas(data, original))
    notes: tuple[str, ...] = ()
    if key is not None:
        lined_up = line_up(data, original, _by_key(data, original[key]))
        check_fit(lined_up.misfits)
    else:
        lined_up, notes = _by_position_or_value(data, original)
    return lined_up.release(original, model, notes)


class LinedUp(NamedTuple):
    """Released rows matched with their originals.

    hidden: (original rows,) whether a row has no released row.
    misfits: by column, whether each released row does not cover its original.
    """

    recodings: dict[str, Recoding]
    hidden: Bools
    misfits: dict[str, Bools]

    def release(
        self, original: Table, model: Guarantee | None, notes: tuple[str, ...] = ()
    ) -> Release:
        """Return the release of the original."""
        return Release(
            original,
            self.recodings,
            Unclaimed() if model is None else model,
            self.hidden if self.hidden.any() else None,
            Run(method="read from a file", notes=notes),
        )


def _by_position_or_value(data: Any, original: Table) -> tuple[LinedUp, tuple[str, ...]]:
    """Match rows by position if all of them fit, or else by their values."""
    if data.num_rows == len(original):
        lined_up = line_up(data, original, np.arange(len(original)))
        if not any(wrong.any() for wrong in lined_up.misfits.values()):
            return lined_up, ()
    matched = match_rows(data, original)
    lined_up = line_up(data, original, matched.rows)
    check_fit(lined_up.misfits)
    return lined_up, () if matched.certain else (MATCHED,)


def line_up(data: Any, original: Table, rows: Counts) -> LinedUp:
    """Read the released cells with their original rows."""
    hidden = np.ones(len(original), dtype=np.bool_)
    hidden[rows] = False
    recodings, misfits = {}, {}
    for column in original.quasi_columns:
        cells = _cells(data, column, rows)
        readings, misfits[column.name] = read_cells(column, cells)
        recodings[column.name] = recoding(column, cells, readings, rows, hidden)
    for name in original.sensitive:
        if name in data.column_names:
            misfits[name] = _changed(_cells(data, original[name], rows), original[name])
    return LinedUp(recodings, hidden, misfits)


def _cells(data: Any, column: Column, rows: Counts) -> ReleasedColumn:
    plain = with_missing(data.column(column.name), column.name)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return ReleasedColumn(texts(encoded.dictionary), codes, column.codes[rows])


def _changed(cells: ReleasedColumn, column: Column) -> Bools:
    """Return, for each released row, whether a value that should be unchanged differs."""
    forms = Forms(column)
    codes = np.array([forms.value(text) for text in cells.texts], dtype=np.int32)
    changed: Bools = codes[cells.codes] != cells.originals
    return changed


def _by_key(data: Any, column: Column) -> Counts:
    """Return, for each released row, the original row with the same key."""
    known = unique_keys(column.to_arrow(), column.name, "the original")
    rows = find_keys(unique_keys(data.column(column.name), column.name, "the release"), known)
    absent = int((rows < 0).sum())
    if absent:
        raise InputError(
            f"key {column.name!r}: {absent:,} of {counted(len(rows), 'row')} have a key that is "
            "not in the original"
        )
    return rows


def check_fit(misfits: Mapping[str, Bools], counts: Counts | None = None) -> None:
    """Raise an error if some released rows do not cover their originals.

    counts: (released rows,) records of each row of a weighted file.
    """
    wrong = np.logical_or.reduce(list(misfits.values()))
    if wrong.any():
        each = np.ones(len(wrong), dtype=np.int64) if counts is None else counts
        by_column = ", ".join(
            f"{name!r} {int(each[m].sum())}" for name, m in misfits.items() if m.any()
        )
        raise NotCovering(
            f"{int(each[wrong].sum()):,} of {counted(int(each.sum()), 'row')} do not cover the "
            f"original row (by column: {by_column}); the file contains values that are not true"
        )
