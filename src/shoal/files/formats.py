"""The stated format of a text file, and the types of its text columns.

`Format`    what is stated; settings that are None are detected
`Notation`  national notations of numbers and dates, converted to 1234.50 and 2024-03-09. Nothing
is guessed: a notation is used if every value of a column has it
`typed`     types are inferred without silent coercion: a column gets a type only if every value
has it and can be written back with the same meaning; numbers with leading zeros stay
text, huge integers and long decimals stay exact
`with_guesses`, `with_dates_checked`  what was found out, noted in the metadata of a table
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.options import check_sign
from shoal.table.encoding import MAX_DIGITS, as_number, decimal_type, float_text, spelled
from shoal.table.roles import missing_texts
from shoal.table.types import DATE, FLOAT, POINT, TIME, WHOLE, DataType

_GUESSED = b"shoal.guessed"
_UNDATED = b"shoal.undated"


@dataclass(frozen=True)
class Format:
    r"""The format of a text file; settings that are None are detected.

    Parameters:
        delimiter: The delimiter of a CSV file, one character; a tab may be written \t.
        quote: The quote character of a CSV file; an empty text if there is none.
        encoding: The encoding of a text file.
        missing: Texts that mean a missing value, in addition to empty fields.
        names: The column names of a file without a header line.
        decimal: The decimal mark of numbers, a comma or a point; by default a point.
        dates: The format of dates, such as DD.MM.YYYY; by default like 2024-03-09.
        header: Whether the first line of a CSV file contains the column names.
        trim: Whether spaces around the cells and the column names of a CSV file are removed; by
            default they stay.
        sheet: The sheet of a spreadsheet; needed if it has several.
        query: The query to run on a database.
        missing_in: Further texts that mean a missing value, by column.

    Raises:
        InputError: A setting is wrong.

    >>> Format(missing=("?",), missing_in={"age": ("999",)}).missing_of("age")
    ('?', '999')
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    trim: bool | None = None
    sheet: str | None = None
    query: str | None = None
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None:
            check_sign("delimiter", self.delimiter)
        if self.quote is not None:
            check_sign("quote", self.quote, least=0)
        if self.delimiter is not None and self.delimiter == self.quote:
            raise InputError("delimiter and quote must not be the same character")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.header not in (None, True, False):
            raise InputError("header must be true or false: whether the first line contains names")
        if self.trim not in (None, True, False):
            raise InputError("trim must be true or false: whether spaces around cells are removed")
        for option in ("sheet", "query"):
            if not isinstance(getattr(self, option), (str, type(None))):
                raise InputError(f"{option} must be text")
        object.__setattr__(self, "missing", missing_texts(self.missing))
        Notation(self.decimal, self.dates)  # raises an error for a wrong notation

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that mean a missing value in a column, in addition to empty fields."""
        return (*self.missing, *self.missing_in.get(column, ()))

    @property
    def notation(self) -> Notation:
        """The notation of numbers and dates."""
        return Notation(self.decimal, self.dates)


def with_guesses(data: Any, settings: Mapping[str, str]) -> Any:
    """Return an Arrow table with the guessed file settings in its metadata."""
    return data.replace_schema_metadata({_GUESSED: json.dumps(dict(settings))})


def guesses_of(data: Any) -> dict[str, str]:
    """Return the file settings that were guessed when an Arrow table was read."""
    guesses: dict[str, str] = json.loads((data.schema.metadata or {}).get(_GUESSED, b"{}"))
    return guesses


def with_dates_checked(data: Any, dates: str | None, texts: Mapping[str, Any]) -> Any:
    """Return an Arrow table marked in its metadata if no column has the stated format of dates.

    Parameters:
        texts: The checked columns as text.
    """
    if dates is None or any(_is_dated(cells, dates) for cells in texts.values()):
        return data
    metadata = {**(data.schema.metadata or {}), _UNDATED: json.dumps(list(texts))}
    return data.replace_schema_metadata(metadata)


def undated_columns(data: Any) -> list[str] | None:
    """Return the checked columns if none has the stated format of dates, or else None."""
    names = (data.schema.metadata or {}).get(_UNDATED)
    return None if names is None else list(json.loads(names))


def _is_dated(cells: Any, dates: str) -> bool:
    """Return whether every text is a date in this format, and there is at least one."""
    known = cells.unique().drop_null()
    fits = pc.match_substring_regex(known.cast(pa.large_string()), date_pattern(dates))
    return bool(len(known) and pc.all(fits).as_py())


def _check_encoding(encoding: Any) -> None:
    try:
        "".encode(encoding)  # refuses codecs that are not for text
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError, TypeError):
        name = f" {encoding!r}" if len(str(encoding)) <= 20 else ""
        raise InputError(f"encoding{name} is not known; try utf-8, latin-1, cp1252") from None


def typed(cells: Any, *, numbers: bool = True, notation: Notation | None = None) -> Any:
    """Return text cells in the narrowest type that fits all of them.

    Parameters:
        numbers: Whether digits may become numbers; false if the source declares text.
        notation: The notation of numbers and dates, if not like 1234.50 and 2024-03-09.
    """
    array = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    encoded = array.dictionary_encode()
    distinct = encoded.dictionary
    if not len(distinct):
        return array
    plain = distinct if notation is None else notation.plain(distinct, numbers=numbers)
    read = infer(plain, numbers=numbers)
    return array if read is plain else read.take(encoded.indices)


def infer(distinct: Any, *, numbers: bool = True) -> Any:
    """Return the distinct texts as integers, decimals, floats, dates or times, or unchanged."""
    if numbers and _all(distinct, WHOLE):
        longest = pc.max(pc.utf8_length(distinct)).as_py()
        if longest <= 18:  # fits 64 bits
            return distinct.cast(pa.int64())
        return _decimal(distinct, digits=longest, scale=0)
    if numbers and _all(distinct, POINT):
        return _point(distinct)
    if numbers and _all(distinct, FLOAT):
        return _floats(distinct)
    if _all(distinct, DATE):
        return _cast(distinct, pa.date32())
    if _all(distinct, TIME):
        return _cast(distinct, pa.timestamp("us"))
    return distinct


def misfits(cells: Any) -> Any:
    """Return, for each row, whether its text differs from the numbers or dates of most rows."""
    forms = (FLOAT, DATE, TIME)
    fits = [pc.fill_null(pc.match_substring_regex(cells, form), True) for form in forms]
    counts = [pc.sum(fit).as_py() for fit in fits]
    # what most rows are decides what the others are not
    best = counts.index(max(counts))
    reads = (_reads_as_number, _reads_as_time, _reads_as_time)[best]
    distinct = cells.unique().drop_null()
    readable = pa.array([t for t in distinct.to_pylist() if reads(t)], distinct.type)
    return pc.invert(pc.and_(fits[best], pc.or_(pc.is_in(cells, readable), pc.is_null(cells))))


def _reads_as_number(text: str) -> bool:
    try:
        return len(text) <= MAX_DIGITS // 2 and Decimal(text).is_finite()
    except ArithmeticError:
        return False


def _reads_as_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _all(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _point(texts: Any) -> Any:
    """Return numbers with a decimal point: exact, and written in a release as in the file."""
    point = pc.find_substring(texts, ".")
    decimals = pc.if_else(
        pc.equal(point, -1), 0, pc.subtract(pc.subtract(pc.utf8_length(texts), point), 1)
    )
    least, scale = pc.min(decimals).as_py(), pc.max(decimals).as_py()
    longest = pc.max(pc.utf8_length(texts)).as_py()
    if least == scale:
        return _decimal(texts, digits=longest + scale, scale=scale)
    if longest <= 17:  # floats that are published as they are written need no text of their own
        floats = texts.cast(pa.float64())
        if all(float_text(f) == t for f, t in zip(*map(pa.Array.to_pylist, (floats, texts)))):  # noqa: B905
            return floats
    digits = longest + scale
    return spelled(texts, decimal_type(digits, scale)) if digits <= MAX_DIGITS else texts


def _floats(texts: Any) -> Any:
    """Return numbers with exponents as floats, if all of them read back as the same number."""
    pairs = zip(as_number(texts, pa.float64()).to_pylist(), texts.to_pylist(), strict=True)
    exact = all(Decimal(repr(f)) == Decimal(t) for f, t in pairs)
    return spelled(texts, pa.float64()) if exact else texts


def _decimal(texts: Any, digits: int, scale: int) -> Any:
    return _cast(texts, decimal_type(digits, scale)) if digits <= MAX_DIGITS else texts


def _cast(texts: Any, kind: Any) -> Any:
    try:
        return texts.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a date that does not exist
        return texts


_PARTS = {
    "DD": r"(?P<day>[0-9]{1,2})",
    "MM": r"(?P<month>[0-9]{1,2})",
    "YYYY": r"(?P<year>[0-9]{4})",
}
_TIME = r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?"
_GROUPS = {",": ". \u00a0\u202f'", ".": ", \u00a0\u202f'"}  # thousands separators


@dataclass(frozen=True)
class Notation:
    """The stated notation of numbers and dates.

    decimal: the decimal mark, a comma or a point.
    dates: the order of the parts of a date, such as DD.MM.YYYY.
    """

    decimal: str | None = None
    dates: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ",", "."):
            raise InputError("decimal must be a comma or a point: ',' or '.'")
        if self.dates is not None and not _is_pattern(self.dates):
            raise InputError("dates must be a format such as DD.MM.YYYY, MM/DD/YYYY or YYYY-MM-DD")

    def plain(self, texts: Any, *, numbers: bool = True) -> Any:
        """Return texts in the plain notation if all have this notation, or else unchanged."""
        if numbers and self.decimal is not None:
            wanted = number_pattern(self.decimal)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                return _pointed(texts, self.decimal)
        if self.dates is not None:
            wanted = date_pattern(self.dates)
            if pc.all(pc.match_substring_regex(texts, wanted)).as_py():
                return _iso(texts, self.dates)
        return texts

    def cells(self, texts: Any, wanted: DataType) -> Any:
        """Return the texts of a declared type in the plain notation.

        A text in another notation becomes null: it does not fit.
        """
        if wanted.name in ("integer", "decimal", "float") and self.decimal is not None:
            return _pointed(_matching(texts, number_pattern(self.decimal)), self.decimal)
        if wanted.name == "date" and self.dates is not None:
            return _iso(_matching(texts, date_pattern(self.dates, timed=False)), self.dates)
        if wanted.name == "datetime" and self.dates is not None:
            return _iso(_matching(texts, date_pattern(self.dates)), self.dates, timed=True)
        return texts


PLAIN = Notation()


def _matching(texts: Any, pattern: str) -> Any:
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, None)


def number_pattern(decimal: str) -> str:
    """Return a pattern of numbers with this decimal mark, with or without thousands separators."""
    parted = "|".join(rf"[1-9][0-9]{{0,2}}(?:{re.escape(g)}[0-9]{{3}})+" for g in _GROUPS[decimal])
    return rf"^-?(?:0|[1-9][0-9]*|{parted})(?:{re.escape(decimal)}[0-9]+)?$"


def date_pattern(order: str, *, timed: bool = True) -> str:
    """Return a pattern of dates in this order, optionally with a time of day if `timed`."""
    signs = [_PARTS.get(part, re.escape(part)) for part in _split(order)]
    return f"^{''.join(signs)}{_TIME if timed else ''}$"


def _split(order: str) -> list[str]:
    return [part for part in re.split(r"(DD|MM|YYYY)", order) if part]


def _is_pattern(order: Any) -> bool:
    parts = _split(order) if isinstance(order, str) else []
    signs = [part for part in parts if part not in _PARTS]
    return (
        sorted(set(parts) - set(signs)) == sorted(_PARTS)
        and len(parts) == 5
        and (all(re.fullmatch(r"[./-]|\. ", sign) for sign in signs))
    )


def _pointed(texts: Any, decimal: str) -> Any:
    """Return numbers without thousands separators and with a decimal point."""
    bare = pc.replace_substring_regex(texts, f"[{_GROUPS[decimal]}]", "")
    return pc.replace_substring(bare, ",", ".") if decimal == "," else bare


def _iso(texts: Any, order: str, *, timed: bool = False) -> Any:
    """Return dates like 2024-03-09, or like 2024-03-09 14:30:00 if any has a time of day.

    With `timed` all get a time of day, even if none has one.
    """
    parts = pc.extract_regex(texts, date_pattern(order))
    dash, colon, space = (pa.scalar(sign, texts.type) for sign in "-: ")
    padded = {
        name: pc.utf8_lpad(pc.struct_field(parts, name), 2, "0")
        for name in ("year", "month", "day", "hour", "minute", "second")
    }
    day = pc.binary_join_element_wise(padded["year"], padded["month"], padded["day"], dash)
    if not timed and not pc.any(pc.not_equal(pc.struct_field(parts, "hour"), "")).as_py():
        return day
    clock = pc.binary_join_element_wise(padded["hour"], padded["minute"], padded["second"], colon)
    return pc.binary_join_element_wise(day, clock, space)
