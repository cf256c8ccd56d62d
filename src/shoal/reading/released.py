"""Released files, from Shoal or not: published forms read back into subsets of the originals.

The rows of both files are lined up by a key, by position, or else by what they say. Nothing is
trusted: each released row must cover the original one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core import values as ground
from shoal.core.arrays import Bools, Codes, Counts
from shoal.core.classes import Classes
from shoal.core.column import Column, Role
from shoal.core.formulas import unescape_formulas
from shoal.core.frames import from_frame
from shoal.core.recoding import Recoding
from shoal.core.release import Release, Run
from shoal.core.table import Table
from shoal.core.verification import Guarantee
from shoal.core.wording import counted
from shoal.errors import InputError
from shoal.reading.files import Format, read_arrow
from shoal.reading.released_cells import Forms
from shoal.reading.released_columns import Cells, read_cells, recoding
from shoal.reading.row_matching import match_rows

MATCHED = (
    "the rows were matched to the original by their values; several originals fit some rows, so "
    "figures about single rows may differ from those of the release itself"
)


@dataclass(frozen=True)
class Unclaimed:
    """The guarantee of a file that claims none: it always holds."""

    parts: tuple[Any, ...] = ()

    def holds(self, classes: Classes) -> Bools:
        """Tell that every class keeps it."""
        return np.ones(len(classes), dtype=np.bool_)

    def describe(self) -> str:
        """Say that nothing is promised."""
        return "The file comes without a promise."

    def __str__(self) -> str:
        return "no claim"


def released(
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
) -> Release:
    """Read what was released of a table, by whatever tool, from a file or a frame.

    key: a column of both that tells the rows apart; originals without a released row count as
        suppressed. Without it rows go by position if all of them fit so, and are matched by their
        values otherwise, as in files that are sorted.
    model: the guarantee that the release is to claim; none by default.
    delimiter, quote, encoding, missing, header: as for `read`.

    A text is read as a label of the column's hierarchy, a value, a range, a period, a set or a
    mask, in this order, the first that covers all originals where it stands.
    """
    form: dict[str, Any]
    form = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "missing": missing}
    form["header"] = header
    stated = {option: value for option, value in form.items() if value is not None}
    if original.counts is not None:
        raise InputError("a weighted table has no rows to line up; read the original row by row")
    if not isinstance(source, (str, Path)):
        if stated:
            raise InputError(f"{', '.join(stated)}: for files only; change the frame itself")
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
    data = unescape_formulas(data, original)
    notes: tuple[str, ...] = ()
    if key is not None:
        lined_up = _line_up(data, original, _by_key(data, original[key]))
        _check_fit(lined_up.misfits)
    else:
        lined_up, notes = _by_position_or_value(data, original)
    hidden = lined_up.hidden if lined_up.hidden.any() else None
    claim = Unclaimed() if model is None else model
    run = Run(method="read from a file", notes=notes)
    return Release(original, lined_up.recodings, claim, hidden, run)


class _LinedUp(NamedTuple):
    """Released rows beside their originals.

    hidden: (original rows,) those without a released row.
    misfits: for each column the released rows that do not cover their original.
    """

    recodings: dict[str, Recoding]
    hidden: Bools
    misfits: dict[str, Bools]


def _by_position_or_value(data: Any, original: Table) -> tuple[_LinedUp, tuple[str, ...]]:
    """Line rows up by position if all fit so, else by what they say."""
    if data.num_rows == len(original):
        lined_up = _line_up(data, original, np.arange(len(original)))
        if not any(wrong.any() for wrong in lined_up.misfits.values()):
            return lined_up, ()
    matched = match_rows(data, original)
    lined_up = _line_up(data, original, matched.rows)
    _check_fit(lined_up.misfits)
    return lined_up, () if matched.certain else (MATCHED,)


def _line_up(data: Any, original: Table, rows: Counts) -> _LinedUp:
    """Read the released cells beside the original rows behind them."""
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
    return _LinedUp(recodings, hidden, misfits)


def _cells(data: Any, column: Column, rows: Counts) -> Cells:
    plain = ground.combined(data.column(column.name), column.name)
    if pa.types.is_null(plain.type):
        plain = plain.cast(pa.string())
    if column.role is Role.SENSITIVE and column.missing is not None:
        plain = ground.without_blanks(plain)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return Cells(ground.texts(encoded.dictionary), codes, column.codes[rows])


def _changed(cells: Cells, column: Column) -> Bools:
    """(released rows,) whether a value that should pass unchanged is another one."""
    forms = Forms(column)
    codes = np.array([forms.value(text) for text in cells.texts], dtype=np.int32)
    changed: Bools = codes[cells.codes] != cells.originals
    return changed


def _by_key(data: Any, column: Column) -> Counts:
    """(released rows,) the original row with the same key."""
    known = pa.array(ground.texts(column.to_arrow()), pa.string())
    asked = pa.array(ground.texts(ground.combined(data.column(column.name), column.name)))
    asked = asked.cast(pa.string())
    for cells, whose in ((known, "the original's"), (asked, "the released")):
        repeated = len(cells) - len(pc.unique(cells.drop_null()))
        if repeated:
            raise InputError(
                f"key {column.name!r}: {repeated:,} of {whose} "
                f"{counted(len(cells), 'row')} with no key or one that another row has; take a "
                "column that tells all rows apart"
            )
    rows = pc.index_in(asked, value_set=known)
    if rows.null_count:
        raise InputError(
            f"key {column.name!r}: {rows.null_count:,} of "
            f"{counted(len(asked), 'row')} with a key that is not in the original"
        )
    found: Counts = rows.to_numpy().astype(np.int64)
    return found


def _check_fit(misfits: dict[str, Bools]) -> None:
    wrong = np.logical_or.reduce(list(misfits.values()))
    if wrong.any():
        told = ", ".join(f"{name!r} {int(m.sum())}" for name, m in misfits.items() if m.any())
        raise InputError(
            f"{int(wrong.sum()):,} of {counted(len(wrong), 'row')} do not cover the original row "
            f"(by column: {told}); the file publishes values that are not true"
        )
