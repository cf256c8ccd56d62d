"""Declared types and domains of columns.

DataType        `integer`, `decimal(2)`, `date`, …: every cell is read as its type (`read_as`), or
counted as not fitting; how one cell is read never depends on another
Ground          codes and the distinct values that they index (`encode`): the declared values, or
else those that occur
`check_bounds`  declared bounds; `between` lists the values inside them, `step` their distance
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, did_you_mean
from shoal.support.arrays import Codes
from shoal.support.wording import counted, option
from shoal.table.encoding import (
    as_number,
    combined,
    decimal_type,
    is_spelled,
    is_text,
    listed_texts,
    reorder,
    spelled,
    spelling,
    with_missing,
)
from shoal.table.encoding import encode as encode_values
from shoal.table.encoding import texts as texts_of
from shoal.table.ruler import Ruler

DAY = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2}"  # no year 0
DATE = rf"^{DAY}$"
TIME = rf"^{DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?$"
WHOLE = r"^(0|-?[1-9][0-9]*)$"
POINT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
FLOAT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
_MAX_LISTED = 100_000  # values of a domain that bounds close
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
    # each distinct text is read once
    encoded = with_missing(array, column).dictionary_encode(null_encoding="mask")
    written = encoded.dictionary
    if not is_text(written.type):
        written = pa.array(texts_of(written), pa.string())
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
    if not pc.all(fits, min_count=0).as_py():
        raise Misfits(column, fits, what, advice)


class Misfits(InputError):  # noqa: N818
    """Some cells of a column do not fit its declaration.

    fits: (rows,) whether each cell fits.
    what: what the other cells are.
    advice: what to do about them.
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
    # further places must be zeros: 12.500 is a decimal(2), 12.505 is not
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


@dataclass(frozen=True, eq=False)
class Ground:
    """Codes and the distinct values that they index.

    spelling: (known,) the text of each value, if the type does not determine it.
    declared: whether the values are a declared list, used or not, with a missing value at the end.
    """

    codes: Codes
    values: Any
    spelling: tuple[str, ...] | None = None
    declared: bool = False


def declared_type(stated: Any, listed: Sequence[Any] | None, name: str) -> DataType | None:
    """Return the declared type of a column, or the type of its declared values.

    Listed whole numbers are integers and listed dates are dates; anything else is a category.
    """
    if listed is not None:
        _check_listed(listed, name)
    if stated is not None or listed is None:
        return None if stated is None else DataType.parse(stated, name)
    written = listed_texts(listed)
    for pattern, found in ((WHOLE, "integer"), (DATE, "date")):
        if all(re.match(pattern, text) for text in written):
            return DataType(found)
    return DataType("category")


def _check_listed(listed: Any, name: str) -> None:
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Sequence) or not listed:
        raise InputError(f"column {name!r}: values must be a list of one or more values")
    if any(value is None or value == "" for value in listed):
        raise InputError(f"column {name!r}: its values must not list a missing value")


def encode(data: Any, name: str, wanted: DataType | None, listed: Sequence[Any] | None) -> Ground:
    """Return the codes of a column and its distinct values in ascending order.

    Parameters:
        wanted: The declared type.
        listed: The declared values.
    """
    cells = data if wanted is None else read_as(data, wanted, name)
    if wanted is not None and wanted.name == "boolean" and listed is None:
        listed = [False, True]
    if wanted is not None and listed is not None:
        return _closed(cells, name, wanted, listed)
    if not isinstance(cells, (pa.Array, pa.ChunkedArray)) or not is_spelled(cells.type):
        return Ground(*encode_values(cells, name))
    return _spelled(combined_or_spelled(cells, name), name)


def _spelled(array: Any, name: str) -> Ground:
    """Encode numbers that keep their text, once for each distinct text."""
    encoded = array.storage.dictionary_encode(null_encoding="mask")
    texts = encoded.dictionary
    codes, values = encode_values(as_number(texts, array.type.number), name)
    missing = np.int32(len(values))
    places = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    rows = np.append(codes, missing)[places]
    if array.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Ground(rows, values, spelling(texts, codes))


def reordered(made: Ground, order: Sequence[Any], name: str) -> Ground:
    """Return the values in the stated order."""
    labels = labels_of(made.values, made.spelling)
    places = reorder(labels, order, name)
    # places: the old code of each rank; new: the rank of each old code
    new = np.empty(len(places), dtype=np.int32)
    new[places] = np.arange(len(places), dtype=np.int32)
    known = len(places) - made.values.null_count
    texts = made.spelling
    if texts is not None:
        texts = tuple(texts[place] for place in places[:known].tolist())
    return replace(
        made, codes=new[made.codes], values=made.values.take(pa.array(places)), spelling=texts
    )


def labels_of(values: Any, texts: tuple[str, ...] | None) -> tuple[str | None, ...]:
    """Return each value as it is published, None for missing."""
    if texts is None:
        return texts_of(values)
    return (*texts, *([None] * (len(values) - len(texts))))


def unchanged(data: Any, name: str, wanted: DataType | None, listed: Sequence[Any] | None) -> Any:
    """Return the cells of a column that is passed through unchanged, read as declared."""
    if wanted is None:
        return combined(data, name)
    cells = read_as(data, wanted, name)
    if listed is not None:
        _closed(cells, name, wanted, listed)
    return cells.storage if is_spelled(cells.type) else cells


def check_bounds(cells: Any, name: str, limits: tuple[float, float]) -> None:
    """Reject cells outside the declared bounds; the message has their number and first row."""
    values = combined(cells, name)
    ruler = Ruler.of(values, limits)
    places, (low, high) = ruler.positions(values), map(ruler.position, limits)
    outside = (places < low) | (places > high)  # false for missing values
    refuse_misfits(pa.array(~outside), name, "outside the bounds", "fix them or widen the bounds")


def step(kind: str | None, limits: tuple[float, float], ruler: Ruler) -> float:
    """Return the distance between neighbouring values of a declared type inside its bounds.

    Numbers without a fixed number of places count as a million steps, times as seconds.

    Parameters:
        limits: The bounds as positions, by the ruler.
    """
    wanted = DataType.parse(kind or "float", "")
    if wanted.places is None and wanted.name in ("float", "decimal"):
        return (limits[1] - limits[0]) / 1e6
    return math.ldexp(10.0 ** -(wanted.places or 0), ruler.exponent)


def between(kind: str | None, limits: tuple[float, float] | None) -> Any:
    """Return all values of a declared type inside its bounds, None if they cannot be listed.

    Integers, dates and decimals with fixed places can be listed, up to 100,000 values.

    >>> between("decimal(1)", (0.25, 0.5)).to_pylist()
    [Decimal('0.3'), Decimal('0.4'), Decimal('0.5')]
    """
    if kind is None or limits is None:
        return None
    wanted = DataType.parse(kind, "")
    if wanted.name not in ("integer", "date") and wanted.places is None:
        return None
    scale = 10 ** (wanted.places or 0)
    first, last = (Decimal(repr(limit)) * scale for limit in limits)
    steps = range(math.ceil(first), math.floor(last) + 1)
    if len(steps) > _MAX_LISTED:
        return None
    if wanted.name == "date":
        return pa.array(steps, pa.int32()).cast(pa.date32())
    if wanted.name == "integer":
        return pa.array(steps, pa.int64())
    return pa.array([Decimal(step) / scale for step in steps], pa.decimal128(38, wanted.places))


def _closed(cells: Any, name: str, wanted: DataType, listed: Sequence[Any]) -> Ground:
    domain, texts = _domain(name, wanted, listed)
    array = combined_or_spelled(cells, name)
    if not is_spelled(array.type):
        array = with_missing(array, name)
    encoded = array.dictionary_encode(null_encoding="mask") if texts is None else None
    if encoded is not None:
        places = pc.index_in(encoded.dictionary.cast(domain.type, safe=False), value_set=domain)
        places = places.take(encoded.indices)
    else:
        places = _by_number(array.storage, texts or ())
    refuse_misfits(
        pc.or_(pc.is_valid(places), pc.is_null(array)),
        name,
        "not among the declared values",
        "fix them, add them to the declared values, or declare their text with "
        f"{option('missing')}",
    )
    codes = places.fill_null(len(domain)).to_numpy(zero_copy_only=False).astype(np.int32)
    values = pa.concat_arrays([domain, pa.nulls(1, domain.type)])
    return Ground(codes, values, texts, declared=True)


def _domain(
    name: str, wanted: DataType, listed: Sequence[Any]
) -> tuple[Any, tuple[str, ...] | None]:
    """Return the declared values in ascending order, and their texts if they keep them."""
    try:
        read = read_as(pa.array(listed_texts(listed), pa.string()), wanted, name)
    except InputError:
        raise InputError(
            f"column {name!r}: its declared values are not all {wanted.noun}"
        ) from None
    made = _spelled(read, name) if is_spelled(read.type) else Ground(*encode_values(read, name))
    if len(made.values) < len(listed):
        raise InputError(f"column {name!r}: its declared values contain a value twice")
    return made.values, made.spelling


def _by_number(texts: Any, domain: Sequence[str]) -> Any:
    """(rows,) index of each text in the domain, compared as numbers."""
    place = {Decimal(text): code for code, text in enumerate(domain)}
    encoded = texts.dictionary_encode(null_encoding="mask")
    found = [place.get(Decimal(text)) for text in encoded.dictionary.to_pylist()]
    return pa.array(found, pa.int32()).take(encoded.indices)
