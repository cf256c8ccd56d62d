"""Read CSV files as Arrow tables with inferred types; errors name the line, not its content."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal._compat.messages import CsvFault, read_csv_error
from shoal.core.publishing.formulas import unescape_names
from shoal.core.values.encoding import without_codes
from shoal.errors import InputError
from shoal.reading.checks import check_names
from shoal.reading.dialects import BLANKS, Dialect, sniff
from shoal.reading.engine import query
from shoal.reading.formats import Format, with_dates_checked, with_guesses
from shoal.reading.headers import check_header, holds_names, numbered
from shoal.reading.inference import typed
from shoal.reading.text_files import Utf8File, as_even_lines, as_utf8

_READ = """
    SELECT * FROM read_csv($path, auto_detect=false, strict_mode=true, null_padding=false,
        hive_partitioning=false, delim=$delim, quote=$quote, escape=$escape, header=$header,
        skip=$skip, nullstr=$nullstr, columns=$columns, compression=$compression)
"""
# DuckDB detects the line end from the first one in the file, which may be inside a quoted name; if
# another line end than \n is stated, it finds no rows
_READ_LINES = _READ.replace("=$compression)", r"=$compression, new_line='\n')")


@dataclass(frozen=True)
class CsvScan:
    """How DuckDB reads a CSV file: every column as text, with nulls for missing values.

    path: the file itself, or a copy in UTF-8 with even line ends. source: its name in messages.
    statement: the query of all rows, whose columns are c0, c1, … with the given `names`.
    trim: whether the query removes spaces around cells.
    guesses: file settings that the data determines.
    """

    path: Path
    source: Path
    statement: str
    options: Mapping[str, Any]
    names: tuple[str, ...]
    guesses: Mapping[str, str]
    trim: bool = False

    @property
    def keys(self) -> list[str]:
        """The columns of the query."""
        return [f"c{index}" for index in range(len(self.names))]

    def explain(self, message: str) -> str:
        """Return an error of DuckDB, which quotes cells, as a message that does not."""
        return _explain(self.source, message)


@contextmanager
def scan_csv(
    path: Path, form: Format, expected: Collection[str] = (), name: Path | None = None
) -> Iterator[CsvScan]:
    """Yield how to read a CSV file.

    expected: column names that the file should have; if it has one, its first line is a header.
    name: the name of the file in messages, if it is a copy.
    """
    source = name or path
    with as_utf8(path, form.encoding, name=source) as file:
        dialect = sniff(file.path, source, form.delimiter, form.quote)
        dialect = dialect.trimmed() if form.trim else dialect
        header = form.names is None and form.header is not False
        names = form.names or (dialect.header if header else numbered(len(dialect.header)))
        names = unescape_names(names, expected) if header else names
        certain = not header or bool(form.header) or not set(names).isdisjoint(expected)
        if not certain:
            check_header(source, dialect)
        check_names(source, names, show=certain or holds_names(dialect))
        _check_missing(form, dialect.delimiter, dialect.quote)
        keys = [f"c{index}" for index in range(len(names))]
        options: dict[str, Any] = {
            "delim": dialect.delimiter,
            "quote": dialect.quote,
            "escape": dialect.quote,
            "header": header,
            "skip": dialect.blank,
            "nullstr": ["", *form.missing],
            "columns": dict.fromkeys(keys, "VARCHAR"),
        }
        with as_even_lines(file, dialect.delimiter, dialect.quote) as even:
            options["compression"] = "gzip" if even.path.suffix.lower() == ".gz" else "none"
            statement = _READ_LINES if even.ends == {"\n"} else _READ
            statement = _trimmed(statement, keys) if form.trim else statement
            guesses = _guesses(file, form, dialect)
            yield CsvScan(
                even.path, source, statement, options, tuple(names), guesses, bool(form.trim)
            )


def _trimmed(statement: str, keys: Sequence[str]) -> str:
    """Return a query without spaces around cells; texts that mean missing may have had some."""
    bare = {key: f"trim({key}, '{BLANKS}')" for key in keys}
    cells = (
        f"CASE WHEN list_contains($nullstr, {cell}) THEN NULL ELSE {cell} END AS {key}"
        for key, cell in bare.items()
    )
    return f"SELECT {', '.join(cells)} FROM ({statement})"


def read_csv(
    path: Path, form: Format, keep_text: Collection[str], expected: Collection[str] = ()
) -> Any:
    """Return a CSV file as an Arrow table.

    expected: column names that the file should have; if it has one, its first line is a header.
    """
    with scan_csv(path, form, expected) as scan:
        table = query(scan.path, scan.statement, scan.options, scan.explain)
    texts = {
        name: without_codes(table.column(key), form.missing_in.get(name, ()))
        for name, key in zip(scan.names, scan.keys, strict=True)
    }
    typed_cells = {
        name: cells if name in keep_text else typed(cells, notation=form.notation)
        for name, cells in texts.items()
    }
    data = with_guesses(pa.table(typed_cells), scan.guesses)
    return with_dates_checked(data, form.dates, texts)


def _guesses(file: Utf8File, form: Format, dialect: Dialect) -> dict[str, str]:
    """Return the settings that were neither declared nor the default, which the data determines."""
    found = file.guesses
    if form.delimiter is None and dialect.delimiter != ",":
        found["delimiter"] = dialect.delimiter
    if form.quote is None and dialect.quote != '"':
        found["quote"] = dialect.quote
    return found


def _check_missing(form: Format, delimiter: str, quote: str) -> None:
    signs = {delimiter, quote, "\n", "\r"} - {""}
    if any(sign in text for text in form.missing for sign in signs):
        raise InputError(
            "a text that means missing must not contain the delimiter, a quote or a line end"
        )


def _explain(path: Path, message: str) -> str:
    error = read_csv_error(message)
    where = "a line" if error.line is None else f"line {error.line}"
    if error.fields:
        expected, found = error.fields
        return f"{path}: {where} has {found} fields but the header has {expected}; fix that line"
    if error.fault is CsvFault.QUOTE:
        return f"{path}: {where} opens a quote that is not closed before a delimiter; close it"
    if error.fault is CsvFault.LENGTH:
        return f"{path}: {where} is over 2 MB long; is a quote left open, or the delimiter wrong?"
    if error.fault is CsvFault.ENCODING:
        return f"{path}: {where} is not valid text; state the encoding"
    return f"{path}: cannot be read ({where}); check delimiter, quotes and line ends"
