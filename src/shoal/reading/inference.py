"""Infer the types of text columns, without silent coercion.

A column gets a type only if every value has it and can be written back with the same meaning:
numbers with leading zeros stay text, huge integers and long decimals stay exact.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values.data_types import (
    DATE,
    FLOAT,
    MAX_DIGITS,
    POINT,
    TIME,
    WHOLE,
    decimal_type,
)
from shoal.core.values.encoding import float_text
from shoal.core.values.spelled import as_number, spelled
from shoal.reading.notations import Notation


def typed(cells: Any, *, numbers: bool = True, notation: Notation | None = None) -> Any:
    """Return text cells in the narrowest type that fits all of them.

    numbers: whether digits may become numbers; false if the source declares text.
    notation: the notation of numbers and dates, if not like 1234.50 and 2024-03-09.
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
        return _whole(distinct)
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


def _whole(texts: Any) -> Any:
    longest = pc.max(pc.utf8_length(texts)).as_py()
    if longest <= 18:
        return texts.cast(pa.int64())
    return _decimal(texts, digits=longest, scale=0)


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
    if longest <= 17:
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
