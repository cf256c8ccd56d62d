"""Read CSV files as Arrow tables with inferred types; errors name the line, not its content.

    file ─ UTF-8 (`as_utf8`) ─→ delimiter and quote (`sniff`) ─→ header or data (`check_header`)
         ─ even line ends (`as_even_lines`) ─→ query of DuckDB, all columns text ─→ types (`typed`)

The delimiter, the quote and the header are detected from the beginning of the file. Nothing of the
first line is shown unless it clearly contains names.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal._compat.messages import CsvFault, read_csv_error
from shoal.errors import InputError
from shoal.files.formats import Format, typed, with_dates_checked, with_guesses
from shoal.files.query import query
from shoal.files.requests import check_names, distinct_names
from shoal.files.text_files import Utf8File, as_even_lines, as_utf8, open_bytes
from shoal.files.writing import unescape_names
from shoal.table.encoding import without_codes
from shoal.table.types import DATE, FLOAT, TIME

_READ = """
    SELECT * FROM read_csv($path, auto_detect=false, strict_mode=true, null_padding=false,
        hive_partitioning=false, delim=$delim, quote=$quote, escape=$escape, header=$header,
        skip=$skip, nullstr=$nullstr, columns=$columns, compression=$compression)
"""
# DuckDB detects the line end from the first one in the file, which may be inside a quoted name; if
# another line end than \n is stated, it finds no rows
_READ_LINES = _READ.replace("=$compression)", r"=$compression, new_line='\n')")
_SAMPLE_BYTES = 1 << 21  # the longest line that is read
_LINE_END = re.compile(r"\r\n?|\n")
BLANKS = " \t"  # characters that may stand around cells
_DELIMITERS = (",", ";", "\t", "|")
_OTHER_AMOUNT = (  # dates in other notations, money, percentages, limits
    r"^[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}( .*)?$|^[$€£]?-?[0-9][0-9.,]*%?$|^[<>=]+[0-9]+"
)
_MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "unknown", ".", "-")
_MIN_ROWS_PER_VALUE = 5  # on average, in a column where a record would repeat some value


@dataclass(frozen=True)
class CsvScan:
    """How DuckDB reads a CSV file: every column as text, with nulls for missing values.

    path: the file itself, or a copy in UTF-8 with even line ends.
    source: its name in messages.
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

    Parameters:
        expected: Column names that the file should have; if it has one, its first line is a header.
        name: The name of the file in messages, if it is a copy.
    """
    source = name or path
    with as_utf8(path, form.encoding, name=source) as file:
        dialect = sniff(file.path, source, form.delimiter, form.quote)
        dialect = dialect.trimmed() if form.trim else dialect
        header = form.names is None and form.header is not False
        names = form.names or (dialect.header if header else numbered(len(dialect.header)))
        names = unescape_names(names, expected) if header else names
        # stated, or proven by an expected name; otherwise the first line may be a person's record
        certain = not header or bool(form.header) or not set(names).isdisjoint(expected)
        if not certain:
            check_header(source, dialect)
        is_header = certain or holds_names(dialect)
        if header and is_header:
            names = distinct_names(source, names)
        check_names(source, names, show=is_header)
        _check_missing(form, dialect.delimiter, dialect.quote)
        # names never reach the query, so they cannot change it
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
    """Return a CSV file as an Arrow table; `expected` is as for `scan_csv`."""
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
    guesses = file.guesses
    if form.delimiter is None and dialect.delimiter != ",":
        guesses["delimiter"] = dialect.delimiter
    if form.quote is None and dialect.quote != '"':
        guesses["quote"] = dialect.quote
    return guesses


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


@dataclass(frozen=True)
class Dialect:
    """The delimiter, the quote and the header of a CSV file.

    blank: the number of empty lines before the header.
    records: the first lines after the header.
    """

    delimiter: str
    quote: str
    header: tuple[str, ...]
    blank: int = 0
    records: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    def trimmed(self) -> Dialect:
        """Return the same without spaces around names and cells."""
        header, *records = (
            tuple(cell.strip(BLANKS) for cell in cells) for cells in (self.header, *self.records)
        )
        return replace(self, header=header, records=tuple(records))


def sniff(path: Path, name: Path, delimiter: str | None, quote: str | None) -> Dialect:
    """Return the delimiter, quote and header from the beginning of a UTF-8 file.

    Parameters:
        name: The name of the file in messages.
    """
    with open_bytes(path) as handle:
        raw = handle.read(_SAMPLE_BYTES)
    sample = codecs.getincrementaldecoder("utf-8-sig")().decode(raw)
    if len(raw) == _SAMPLE_BYTES:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    begun = sample.lstrip("\r\n")
    if not begun:
        raise InputError(f"{name}: the file is empty")
    delimiters = [delimiter] if delimiter else _DELIMITERS
    signs = [(d, q) for q in _quotes(begun, delimiter, quote) for d in delimiters if d != q]
    best, mark = max(signs, key=lambda pair: _fit(begun, *pair))
    records = _records(begun, best, mark)
    if not records:
        raise InputError(f"{name}: its header cannot be read; check delimiter and quotes")
    header = tuple(records[0])
    if len(header) > 1 and header[-1] == "" and all(r[-1:] == [""] for r in records[1:]):
        raise InputError(f"{name}: every line ends in {best!r}; remove the empty last column")
    blank = _LINE_END.findall(sample[: len(sample) - len(begun)])
    below = tuple(tuple(record) for record in records[1:])
    return Dialect(best, mark, header, len(blank), below)


def _quotes(lines: str, delimiter: str | None, stated: str | None) -> list[str]:
    """Return the likely quotes, most likely first; single quotes only if they occur."""
    if stated is not None:
        return [stated]
    if delimiter in ('"', "'"):
        return ["'" if delimiter == '"' else '"']
    first = _LINE_END.split(lines, maxsplit=1)[0]
    marks = [delimiter] if delimiter else _DELIMITERS
    wrapped = [f for d in marks for f in first.split(d) if len(f) > 1]
    if '"' not in first and any(f[0] == f[-1] == "'" for f in wrapped):
        return ["'"]
    return ['"', "'"] if "'" in lines else ['"']


def _records(lines: str, delimiter: str, quote: str, most: int = 500) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(lines, newline=""),  # line ends inside quoted cells stay unchanged
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    found: list[list[str]] = []
    try:
        for record in reader:
            if record:
                found.append(record)
            if len(found) >= most:
                break
    except csv.Error:
        pass
    return found


def _fit(lines: str, delimiter: str, quote: str) -> tuple[bool, float, int]:
    """Return the rank of a delimiter and quote: they split records into as many fields as names."""
    records = _records(lines, delimiter, quote)
    width = len(records[0]) if records else 0
    alike = sum(len(r) == width for r in records[1:]) / max(len(records) - 1, 1)
    return (width > 1, alike, width)


@dataclass(frozen=True)
class _Votes:
    """Votes of the columns on whether the first line is a header.

    amounts: names that are numbers or dates, like the values below them.
    recurring: names that are also values below.
    words: names above numbers or dates, which no record would have.
    absent: names that no row has, above a few values that many rows share.
    """

    amounts: int = 0
    recurring: int = 0
    words: int = 0
    absent: int = 0

    def __add__(self, other: _Votes) -> _Votes:
        return _Votes(
            self.amounts + other.amounts,
            self.recurring + other.recurring,
            self.words + other.words,
            self.absent + other.absent,
        )


def check_header(path: Path, dialect: Dialect) -> None:
    """Raise an error if the first line looks like a record; the message does not quote it."""
    if looks_like_data(dialect.header, dialect.records):
        raise InputError(
            f"{path}: the first row looks like data, not column names; state that it has no names "
            "(--no-header, header: false), add a row of names, or state that these are the names "
            "(--header, header: true)"
        )


def numbered(count: int) -> tuple[str, ...]:
    """Return the names of columns that have none: column_1 and so on."""
    return tuple(f"column_{number}" for number in range(1, count + 1))


def holds_names(dialect: Dialect) -> bool:
    """Return whether the first line is clearly a header: some of its words are above numbers."""
    return _count(dialect.header, dialect.records).words > 0


def looks_like_data(header: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line of a file looks like one of its records.

    >>> looks_like_data(["39", "m"], [["50", "f"], ["38", "m"]])
    True
    >>> looks_like_data(["age", "sex"], [["50", "f"], ["38", "m"]])
    False
    """
    votes = _count(header, records)
    repeated = sum(times - 1 for name, times in Counter(header).items() if name.strip())
    if votes.words:
        return votes.recurring > 2 * votes.words
    return votes.amounts + votes.recurring + repeated > votes.absent


def _count(header: Sequence[str], records: Sequence[Sequence[str]]) -> _Votes:
    complete = [record for record in records if len(record) == len(header)]
    columns = ([record[index] for record in complete] for index in range(len(header)))
    return sum(map(_vote, header, columns), _Votes())


def _vote(name: str, below: Sequence[str]) -> _Votes:
    values = [value for value in below if value.strip().casefold() not in _MISSING]
    if name.strip().casefold() in _MISSING:
        return _Votes()
    amounts = bool(values) and all(map(_is_amount, values))
    if _is_amount(name):
        return _Votes(amounts=int(amounts or not values))
    if amounts:
        return _Votes(words=1)
    if name in values:
        return _Votes(recurring=1)
    return _Votes(absent=int(len(values) >= _MIN_ROWS_PER_VALUE * len(set(values))))


def _is_amount(text: str) -> bool:
    """Return whether a text is a number, a date or similar."""
    plain = text.strip()
    return any(re.match(form, plain) for form in (FLOAT, DATE, TIME, _OTHER_AMOUNT))
