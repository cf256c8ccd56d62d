"""Read files whose cells have types: Parquet, spreadsheets, statistics packages, JSON lines.

`read_parquet`      types as stored; every page and cell is checked
`read_spreadsheet`  by calamine: one sheet, its first filled row the column names; values as they
are stored, without formulas, formats or macros
`read_survey`       Stata, SPSS and SAS, by pyreadstat: values with labels become categories in
the order of their codes
`read_json_lines`   one object per line, whose keys are the columns; text stays text, whole numbers
stay exact, nested values stay unchanged
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, ShoalError, unknown
from shoal.files.formats import Format, Notation, typed, with_dates_checked, with_guesses
from shoal.files.parquet_checks import open_parquet
from shoal.files.query import query
from shoal.files.requests import check_names, distinct_names
from shoal.files.spreadsheet_sizes import check_book, check_sheet
from shoal.files.text_files import as_even_lines, as_utf8, open_bytes
from shoal.support.imports import requires
from shoal.support.memory import usable_memory
from shoal.support.wording import counted, option
from shoal.table import encoding
from shoal.table.encoding import is_text, without_codes

_MIN_CELL_BYTES = 8  # of a cell in memory, as a value and as a code
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_KINDS: dict[type, Any] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us"),
    date: pa.date32(),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
}
_MAX_WHOLE = 2**53  # floats hold every whole number up to it exactly
SURVEYS = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")


def read_parquet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a Parquet file as an Arrow table; every page and cell is checked."""
    try:
        with open_parquet(path) as file:
            check_names(path, file.schema_arrow.names)
            _check_size(path, file.metadata.num_rows, len(file.schema_arrow.names))
            table = file.read()
        table.validate(full=True)
    except ShoalError:
        raise
    except MemoryError:  # includes that of Arrow
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:
            raise MemoryError from None
        # the cause may quote cells
        raise InputError(f"{path}: is damaged or not Parquet; write the file again") from None
    columns = {n: without_codes(table.column(n), form.missing_of(n)) for n in table.column_names}
    texts = {name: cells for name, cells in columns.items() if is_text(cells.type)}
    return with_dates_checked(pa.table(columns), form.dates, texts)


def _check_size(path: Path, rows: int, columns: int) -> None:
    """Reject a file whose cells alone need more memory than there is; it may be small itself."""
    memory = usable_memory()
    if rows * columns * _MIN_CELL_BYTES > memory:
        raise InputError(
            f"{path}: has {rows:,} rows of {counted(columns, 'column')}, too many to be read into "
            f"the {memory / 1e9:,.3g} GB of memory that may be used; leave the file on disk with "
            f"{option('engine', 'duckdb')}"
        )


def read_spreadsheet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return one sheet of a spreadsheet as an Arrow table."""
    rows = _rows(path, form.sheet)
    head, body = _parts(path, rows)
    columns = {}
    for index, name in enumerate(head):
        cells = [row[index] if index < len(row) else None for row in body]
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
    names = list(distinct_names(path, [_text(cell) or "" for cell in head]))
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
    # a spreadsheet stores every number as a float
    if kinds == {float} and all(
        cell.is_integer() and abs(cell) <= _MAX_WHOLE for cell in cells if cell is not None
    ):
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


def read_survey(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a file of Stata, SPSS or SAS as an Arrow table."""
    with requires("survey"):
        import pyreadstat

    try:
        frame, meta = _reader(pyreadstat, path)(
            str(path), apply_value_formats=False, user_missing=False
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        # the cause may quote cells
        raise InputError(f"{path}: is damaged or of an unknown version; save it again") from None
    names = [str(name) for name in frame.columns]
    check_names(path, names)
    columns = {}
    for name in names:
        cells = pa.array(frame[name], from_pandas=True)
        labels = meta.variable_value_labels.get(name)
        cells = _labelled(cells, labels) if labels else _plain(cells)
        cells = cells.cast(pa.string()) if name in keep_text else cells
        columns[name] = without_codes(cells, form.missing_of(name))
    return pa.table(columns)


def _reader(pyreadstat: Any, path: Path) -> Callable[..., Any]:
    ending = path.suffix.lower()
    readers = {
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
        ".por": pyreadstat.read_por,
    }
    reader: Callable[..., Any] = readers.get(ending, pyreadstat.read_sav)
    if ending in (".sas7bdat", ".xpt"):
        return lambda name, **_: reader(name)  # SAS keeps labels in a file of their own
    if ending == ".por":
        return lambda name, apply_value_formats, user_missing: reader(
            name, apply_value_formats=apply_value_formats
        )
    return reader


def _labelled(cells: Any, labels: dict[Any, str]) -> Any:
    """Return coded cells as ordered categories; a code without a label keeps its number."""
    codes = sorted(
        {*labels, *cells.unique().drop_null().to_pylist()},
        key=lambda code: (isinstance(code, str), code),
    )
    texts = [labels.get(code) or _code(code) for code in codes]
    if len(set(texts)) < len(texts):  # two codes of one label stay two values
        texts = [f"{text} ({_code(code)})" for code, text in zip(codes, texts, strict=True)]
    index_of = {code: index for index, code in enumerate(codes)}
    indices = pa.array([index_of.get(cell) for cell in cells.to_pylist()], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()), ordered=True)


def _code(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _plain(cells: Any) -> Any:
    """Return numbers without a fraction as whole numbers, blank texts as missing."""
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):
        known = cells.drop_null()
        whole = pc.all(pc.equal(pc.floor(known), known)).as_py() if len(known) else False
        largest = pc.max(pc.abs(known)).as_py() if len(known) else 0
        return cells.cast(pa.int64()) if whole and largest <= _MAX_WHOLE else cells
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return pc.if_else(pc.equal(pc.utf8_trim_whitespace(cells), ""), None, cells)
    return cells


_OBJECTS = "read_ndjson_objects($path, hive_partitioning=false, compression=$compression)"
_NUMBERS = {"UBIGINT", "BIGINT", "DOUBLE", "HUGEINT"}


def read_json_lines(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a JSON lines file as an Arrow table."""
    with as_utf8(path, form.encoding, marked=False) as file, as_even_lines(file) as even:
        plain = even.path
        # every key becomes two columns: its text c0, c1, … and its JSON type t0, t1, …
        packing = {"compression": "gzip" if plain.suffix.lower() == ".gz" else "uncompressed"}

        def ask(statement: str, **more: str) -> Any:
            return query(plain, statement, {**packing, **more}, lambda _: _explain(path, plain))

        keys = _keys(path, plain, ask)
        parts = ", ".join(
            f"json_extract_string(json, $p{i}) AS c{i}, json_type(json, $p{i}) AS t{i}"
            for i in range(len(keys))
        )
        pointers = {
            f"p{i}": f"/{key.replace('~', '~0').replace('/', '~1')}" for i, key in enumerate(keys)
        }
        table = ask(f"SELECT {parts} FROM {_OBJECTS}", **pointers)
    columns, texts = {}, {}
    for i, key in enumerate(keys):
        texts[key] = without_codes(table.column(f"c{i}"), form.missing_of(key))
        kinds = table.column(f"t{i}")
        columns[key] = texts[key] if key in keep_text else _typed(texts[key], kinds, form.dates)
    data = with_guesses(pa.table(columns), file.guesses)
    return with_dates_checked(data, form.dates, texts)


def _keys(path: Path, plain: Path, ask: Any) -> list[str]:
    """Return all keys, those of the first object first."""
    others = ask(f"SELECT count(*) AS n FROM {_OBJECTS} WHERE json_type(json) <> 'OBJECT'")
    if others.column("n")[0].as_py():
        raise InputError(_explain(path, plain))
    first = ask(f"SELECT json_keys(json) AS k FROM {_OBJECTS} LIMIT 1")
    every = ask(f"SELECT DISTINCT unnest(json_keys(json)) AS k FROM {_OBJECTS}")
    keys = list((first.column("k")[0].as_py() or []) if first.num_rows else [])
    keys += sorted(set(every.column("k").to_pylist()) - set(keys))
    if not keys:
        raise InputError(f"{path}: no records; expected one object {{…}} per line")
    check_names(path, keys)
    return keys


def _typed(cells: Any, kinds: Any, dates: str | None) -> Any:
    """Return texts as the types of JSON that they had: only numbers may become numbers."""
    present = set(kinds.unique().to_pylist()) - {None, "NULL"}
    if present == {"BOOLEAN"}:
        return cells.cast(pa.bool_())
    return typed(cells, numbers=present <= _NUMBERS, notation=Notation(dates=dates))


def _explain(path: Path, plain: Path) -> str:
    """Return a message that names the first line that is not one object."""
    with open_bytes(plain) as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip() and not _is_object(line):
                return f"{path}: line {number} is not one JSON object {{…}}; fix that line"
    return f"{path}: cannot be read as JSON lines; each line must be one object {{…}}"


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
