"""Declared types of columns: every cell is read as its type, or counted as not fitting.

How one cell is read never depends on another cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, did_you_mean
from shoal.support.wording import counted, option
from shoal.table.encoding import combined, is_spelled, is_text, spelled, texts, with_missing

DAY = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"  # no year 0
DATE = rf"^{DAY}$"
TIME = rf"^{DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?$"
WHOLE = r"^(0|-?[1-9][0-9]*)$"
POINT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
FLOAT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
MAX_DIGITS = 76  # of the widest Arrow decimal
_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"  # fits 64 bits
_WIDE = r"^-?(0|[1-9][0-9]{0,37})(\.[0-9]{1,38})?$"
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")
_NOUNS = {
    "integer": "integers",
    "decimal": "decimal numbers",
    "float": "numbers",
    "date": "dates like 2024-03-09",
    "datetime": "times like 2024-03-09 14:30:00",
    "boolean": "true or false",
    "text": "text",
    "category": "text",
}
TYPES = tuple(_NOUNS)
Plain = Callable[[Any], Any]


@dataclass(frozen=True)
class DataType:
    """A declared type, such as `integer` or `decimal(2)`.

    places: decimal places of a decimal, None if each value keeps its own text.
    """

    name: str
    places: int | None = None

    def __str__(self) -> str:
        return self.name if self.places is None else f"{self.name}({self.places})"

    @property
    def noun(self) -> str:
        """The name of cells of this type in messages."""
        if self.places is None:
            return _NOUNS[self.name]
        return f"{_NOUNS[self.name]} with at most {counted(self.places, 'place')}"

    @property
    def numeric(self) -> bool:
        """Whether values have distances: numbers, dates, times."""
        return self.name in ("integer", "decimal", "float", "date", "datetime")

    @classmethod
    def parse(cls, text: Any, column: str) -> DataType:
        """Return the type that a schema names.

        >>> DataType.parse("decimal(2)", "cost")
        DataType(name='decimal', places=2)
        """
        if isinstance(text, DataType):
            return text
        found = re.fullmatch(r"\s*([a-z]+)\s*(?:\(\s*([0-9]{1,2})\s*\))?\s*", str(text))
        name, places = found.groups() if found else (str(text), None)
        if name not in TYPES or (places is not None and (name != "decimal" or int(places) > 30)):
            raise InputError(
                f"column {column!r}: type {text!r}{did_you_mean(name, TYPES)} is not one of "
                f"{', '.join(TYPES)}; decimal(2) is a decimal with 2 places (30 at most)"
            )
        return cls(name, None if places is None else int(places))


def read_as(cells: Any, wanted: DataType, column: str, plain: Plain | None = None) -> Any:
    """Return cells in a declared type, or reject those that do not fit.

    Parameters:
        cells: Text or typed cells, as a sequence or Arrow array.
        wanted: The declared type.
        column: The column's name, for the message.
        plain: Converts texts to plain notation; null if a text is not written as declared.
    """
    array = combined_or_spelled(cells, column)
    if is_spelled(array.type):
        if str(wanted) == "decimal":
            return array
        array = array.storage
    if pa.types.is_nested(array.type):
        raise InputError(f"column {column!r}: lists and records cannot be read as {wanted}")
    if _is_already(array.type, wanted):
        return array
    encoded = with_missing(array, column).dictionary_encode(null_encoding="mask")
    written = encoded.dictionary
    if not is_text(written.type):
        written = pa.array(texts(written), pa.string())
    elif plain is not None:
        written = plain(written)
    read = _READERS[wanted.name](written.cast(pa.string()), wanted)
    fits = pc.is_valid(read).take(encoded.indices).fill_null(True)
    refuse_misfits(
        fits,
        column,
        f"not {wanted.noun}",
        f"fix them or declare their text with {option('missing')}",
    )
    return read.take(encoded.indices)


def combined_or_spelled(cells: Any, column: str) -> Any:
    """Return cells as one Arrow array; numbers that keep their text are not converted."""
    if isinstance(cells, (pa.Array, pa.ChunkedArray)) and is_spelled(cells.type):
        return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    array = combined(cells, column)
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def refuse_misfits(fits: Any, column: str, what: str, advice: str) -> None:
    """Reject cells that do not fit; the message has their number and first row, never a value.

    Parameters:
        fits: (rows,) whether each cell fits. Rows are counted from 1, without the header.
    """
    rows = pc.indices_nonzero(pc.invert(fits))
    if len(rows):
        raise Misfits(column, fits, what, advice)


class Misfits(InputError):  # noqa: N818
    """Some cells of a column do not fit its declaration.

    fits: (rows,) whether each cell fits.
    what: what the other cells are. advice: what to do about them.
    """

    def __init__(self, column: str, fits: Any, what: str, advice: str) -> None:
        self.column, self.fits, self.what, self.advice = column, fits, what, advice
        rows = pc.indices_nonzero(pc.invert(fits))
        super().__init__(
            f"column {column!r}: {len(rows):,} of {len(fits):,} cells are {what}, the first in row "
            f"{rows[0].as_py() + 1:,}; {advice}"
        )


def _is_already(kind: Any, wanted: DataType) -> bool:
    checks = {
        "integer": pa.types.is_int64(kind),
        "decimal": pa.types.is_decimal(kind) and wanted.places == getattr(kind, "scale", None),
        "float": pa.types.is_float64(kind),
        "date": pa.types.is_date32(kind),
        "datetime": pa.types.is_timestamp(kind),
        "boolean": pa.types.is_boolean(kind),
    }
    return bool(checks.get(wanted.name, is_text(kind)))


def _matching(written: Any, pattern: str) -> Any:
    """Return texts that match the pattern, null for the others."""
    return pc.if_else(pc.match_substring_regex(written, pattern), written, None)


def _integers(written: Any, wanted: DataType) -> Any:
    return _matching(written, _INTEGER).cast(pa.int64())


def _decimals(written: Any, wanted: DataType) -> Any:
    if wanted.places is None:
        return _spelled_decimals(written)
    places = rf"(\.[0-9]{{1,{wanted.places}}}0*)?" if wanted.places else r"(\.0+)?"
    pattern = rf"^-?(0|[1-9][0-9]{{0,{37 - wanted.places}}}){places}$"
    return _matching(written, pattern).cast(pa.decimal128(38, wanted.places))


def _spelled_decimals(written: Any) -> Any:
    """Return texts as decimals that keep their text, with up to 38 digits on each side."""
    fitting = _matching(written, _WIDE)
    point = pc.find_substring(fitting, ".")
    places = pc.subtract(pc.subtract(pc.utf8_length(fitting), point), 1)
    scale = pc.max(pc.if_else(pc.equal(point, -1), 0, places)).as_py() or 0
    longest = pc.max(pc.utf8_length(fitting)).as_py() or 0
    return spelled(fitting, decimal_type(longest + scale, scale))


def decimal_type(digits: int, scale: int) -> Any:
    """Return the narrower of Arrow's exact types for this many digits."""
    return pa.decimal128(38, scale) if digits <= 38 else pa.decimal256(MAX_DIGITS, scale)


def _floats(written: Any, wanted: DataType) -> Any:
    numbers = pc.add(_matching(written, FLOAT).cast(pa.float64()), 0.0)  # no minus zero
    return pc.if_else(pc.is_finite(numbers), numbers, None)


def _dates(written: Any, wanted: DataType) -> Any:
    midnight = pc.replace_substring_regex(written, r"[ T]00:00:00(\.0+)?$", "")
    return _on_calendar(_matching(midnight, DATE), pa.date32(), date.fromisoformat)


def _datetimes(written: Any, wanted: DataType) -> Any:
    return _on_calendar(_matching(written, TIME), pa.timestamp("us"), datetime.fromisoformat)


def _on_calendar(written: Any, kind: Any, parse: Callable[[str], date]) -> Any:
    """Return texts as dates or times, null for days that do not exist."""
    try:
        return written.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([_parsed(text, parse) for text in written.to_pylist()], kind)


def _parsed(text: str | None, parse: Callable[[str], date]) -> date | None:
    try:
        return None if text is None else parse(text)
    except ValueError:
        return None


def _booleans(written: Any, wanted: DataType) -> Any:
    lower = pc.utf8_lower(written)
    yes, no = (pc.is_in(lower, pa.array(words)) for words in (_YES, _NO))
    return pc.if_else(pc.or_(yes, no), yes, None)


def _texts(written: Any, wanted: DataType) -> Any:
    return written


_READERS: dict[str, Callable[[Any, DataType], Any]] = {
    "integer": _integers,
    "decimal": _decimals,
    "float": _floats,
    "date": _dates,
    "datetime": _datetimes,
    "boolean": _booleans,
    "text": _texts,
    "category": _texts,
}
