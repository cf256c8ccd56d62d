"""Spreadsheets to Arrow tables: one sheet, its first filled row the column names.

Read by calamine: values as they are stored, without formulas, formats or macros.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.values import encoding
from shoal.core.values.encoding import without_codes
from shoal.errors import InputError, unknown
from shoal.reading.checks import check_names
from shoal.reading.formats import Format
from shoal.reading.spreadsheet_sizes import check_book, check_sheet
from shoal.support.extras import requires

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_KINDS: dict[type, Any] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us"),
    date: pa.date32(),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
}
_EXACT = 2**53  # whole numbers that a spreadsheet stores exactly


def read_spreadsheet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return one sheet of a spreadsheet as an Arrow table."""
    rows = _rows(path, form.sheet)
    head, body = _parts(path, rows)
    columns = {}
    for place, name in enumerate(head):
        cells = [row[place] if place < len(row) else None for row in body]
        array = _column([None if _blank(cell) else cell for cell in cells], name in keep_text)
        columns[name] = without_codes(array, form.missing_of(name))
    return pa.table(columns)


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a spreadsheet, in their order."""
    return list(_book(path).sheet_names)


def _book(path: Path) -> Any:
    with requires("excel"):
        import python_calamine as calamine

    check_book(path)
    with _damage(path):
        return calamine.CalamineWorkbook.from_path(str(path))


def _rows(path: Path, wanted: str | None) -> list[list[Any]]:
    """Return the rows of a sheet."""
    book = _book(path)
    sheet = _sheet(path, wanted, book.sheet_names)
    check_sheet(path, sheet)
    with _damage(path):
        rows: list[list[Any]] = book.get_sheet_by_name(sheet).to_python()
    return rows


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what the reader of spreadsheets reports into an error of the file."""
    import python_calamine as calamine

    try:
        yield
    except (calamine.CalamineError, OSError, ValueError):
        raise InputError(f"{path}: is damaged or not a spreadsheet; save the file again") from None


def _sheet(path: Path, wanted: str | None, names: Sequence[str]) -> str:
    if not names:
        raise InputError(f"{path}: has no sheet")
    if wanted is not None:
        if wanted not in names:
            raise unknown(f"{path}: no sheet", wanted, names)
        return wanted
    if len(names) > 1:
        raise InputError(
            f"{path}: has {len(names)} sheets ({', '.join(names)}); name one with the option sheet"
        )
    return names[0]


def _parts(path: Path, rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[Sequence[Any]]]:
    """Return the column names and the rows below them; blank rows are left out."""
    filled = [row for row in rows if not all(_blank(cell) for cell in row)]
    if not filled:
        raise InputError(f"{path}: the sheet is empty")
    head = list(filled[0])
    while head and _blank(head[-1]):
        head.pop()
    names = [_text(cell) or "" for cell in head]
    check_names(path, names)
    beside = sum(any(not _blank(cell) for cell in row[len(names) :]) for row in filled[1:])
    if beside:
        raise InputError(f"{path}: {beside:,} rows have cells beyond the last column name")
    return names, filled[1:]


def _blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _column(cells: list[Any], keep_text: bool) -> Any:
    """Return cells as an array of one type, as text where they have several."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {float} and all(_whole(cell) for cell in cells if cell is not None):
        cells, kinds = [None if cell is None else int(cell) for cell in cells], {int}
    if kinds == {int, float}:
        cells, kinds = [None if cell is None else float(cell) for cell in cells], {float}
    if kinds == {datetime, date}:
        cells, kinds = [_as_datetime(cell) for cell in cells], {datetime}
    if kinds == {datetime} and all(cell.time() == time() for cell in cells if cell is not None):
        cells, kinds = [None if cell is None else cell.date() for cell in cells], {date}
    if len(kinds) == 1 and (kind := next(iter(kinds))) in _KINDS and not keep_text:
        return pa.array(cells, _KINDS[kind])
    return pa.array([_text(cell) for cell in cells], pa.string())


def _whole(cell: float) -> bool:
    return cell.is_integer() and abs(cell) <= _EXACT


def _as_datetime(cell: Any) -> datetime | None:
    if cell is None or isinstance(cell, datetime):
        return cell
    return datetime.combine(cell, time())


def _text(cell: Any) -> str | None:
    """Return a cell as Shoal writes such a value."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    return encoding.texts(pa.array([cell]))[0]
