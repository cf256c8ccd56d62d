"""Types of text columns, inferred and never silently coerced.

A type is taken only if every value reads as it and can be written back with the same meaning:
numbers with leading zeros stay text, huge integers and long decimals stay exact.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import float_text

_WHOLE = r"^(0|-?[1-9][0-9]*)$"
_POINT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_FLOAT = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"
_LONGEST = 76  # digits of the widest Arrow decimal


def typed(cells: Any, *, numbers: bool = True) -> Any:
    """Return text cells in the narrowest type that all of them read as.

    numbers: whether digits may become numbers; they may not where the source says text.
    """
    array = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    encoded = array.dictionary_encode()
    distinct = encoded.dictionary
    read = infer(distinct, numbers=numbers) if len(distinct) else distinct
    return array if read is distinct else read.take(encoded.indices)


def infer(distinct: Any, *, numbers: bool = True) -> Any:
    """Return the distinct texts as integers, decimals, floats, dates or times, or as they are."""
    if numbers and _all(distinct, _WHOLE):
        return _whole(distinct)
    if numbers and _all(distinct, _POINT):
        return _point(distinct)
    if numbers and _all(distinct, _FLOAT):
        return _cast(distinct, pa.float64())
    if _all(distinct, _DATE):
        return _cast(distinct, pa.date32())
    if _all(distinct, _TIME):
        return _cast(distinct, pa.timestamp("us"))
    return distinct


def unreadable(distinct: Any) -> Any:
    """Tell, text by text, whether it is neither number nor date: what keeps a column from both."""
    readable = pc.match_substring_regex(distinct, _FLOAT)
    for pattern in (_DATE, _TIME):
        readable = pc.or_(readable, pc.match_substring_regex(distinct, pattern))
    return pc.invert(readable)


def _all(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _whole(texts: Any) -> Any:
    longest = pc.max(pc.utf8_length(texts)).as_py()
    if longest <= 18:
        return texts.cast(pa.int64())
    return _decimal(texts, digits=longest, scale=0)


def _point(texts: Any) -> Any:
    point = pc.find_substring(texts, ".")
    decimals = pc.if_else(
        pc.equal(point, -1), 0, pc.subtract(pc.subtract(pc.utf8_length(texts), point), 1)
    )
    least, scale = pc.min(decimals).as_py(), pc.max(decimals).as_py()
    longest = pc.max(pc.utf8_length(texts)).as_py()
    if least != scale and longest <= 17:
        floats = texts.cast(pa.float64())
        if all(float_text(f) == t for f, t in zip(*map(pa.Array.to_pylist, (floats, texts)))):  # noqa: B905
            return floats
    return _decimal(texts, digits=longest + scale, scale=scale)


def _decimal(texts: Any, digits: int, scale: int) -> Any:
    if digits <= 38:
        return _cast(texts, pa.decimal128(38, scale))
    return _cast(texts, pa.decimal256(_LONGEST, scale)) if digits <= _LONGEST else texts


def _cast(texts: Any, kind: Any) -> Any:
    try:
        return texts.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a day that no calendar has
        return texts
