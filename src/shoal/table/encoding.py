"""Values of columns: from Arrow data to sorted distinct values and codes, and back to text.

Exact throughout: integers of any size, decimals, dates and text keep their value.

    `combined`, `with_missing`     any Arrow type or Python list as one plain array
    `encode`                       codes into sorted distinct values
    `texts`                        values as the text in which they are published
    `positions`, `bounds`          values as numbers: dates in days, times in seconds
    `plain_nested`, `nested_texts` lists and structs, without dictionaries of other rows' values
    `Spelled`                      numbers that keep their text: `12.50` and `9.125` are numbers of
                                   one column, and each is published as the file writes it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts, Floats

MAX_DIGITS = 76  # of the widest Arrow decimal


def combined(data: Any, name: str) -> Any:
    """Return the data as one plain Arrow array; dictionaries are decoded, NaN becomes null."""
    if isinstance(data, pa.ChunkedArray):
        chunks = data.chunks or [pa.nulls(0, data.type)]
        return pa.concat_arrays([_plain(chunk) for chunk in chunks])
    return _plain(data if isinstance(data, pa.Array) else _from_python(data, name))


def _plain(array: Any) -> Any:
    """Return the array in a type that Arrow can sort, take from and write."""
    if is_spelled(array.type):
        return as_numbers(array)
    if isinstance(array.type, pa.BaseExtensionType):
        return _plain(_stored(array))
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type):
        return _plain(array.dictionary).take(array.indices)
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_nested(array.type):
        return plain_nested(array)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        array = pc.add(array, pa.scalar(0.0, array.type))  # −0 and 0 are one value
    return array


def _stored(array: Any) -> Any:
    """Return the values of an extension type as a type that can be sorted and written."""
    if isinstance(array.type, pa.UuidType):
        encoded = array.storage.dictionary_encode()
        texts = [str(UUID(bytes=cell)) for cell in encoded.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(encoded.indices)
    if isinstance(array.type, pa.Bool8Type):
        return array.storage.cast(pa.bool_())
    return array.storage


def _from_python(data: Any, name: str) -> Any:
    listed = list(data) if not isinstance(data, np.ndarray) else data
    try:
        try:
            return pa.array(listed, from_pandas=True)
        except OverflowError:
            return pa.array([_decimal(value) for value in listed])
    except (TypeError, ValueError, ArithmeticError, pa.ArrowNotImplementedError):
        # the cause would contain a cell, so it is not chained
        raise InputError(
            f"column {name!r}: its values do not fit one type; give it one type, and numbers of "
            f"{MAX_DIGITS} digits at most"
        ) from None


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, str):
        raise TypeError("text among numbers")
    return None if value is None or value != value else Decimal(str(value))  # noqa: PLR0124  NaN


def is_numeric(kind: Any) -> bool:
    """Return whether values of this Arrow type have distances: numbers, dates, times."""
    return bool(
        is_spelled(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_time(kind)
        or pa.types.is_duration(kind)
    )


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text, in one of its common layouts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def with_missing(data: Any, name: str) -> Any:
    """Return the data as one plain Arrow array, with a null for every missing cell.

    A cell is missing if it is a null, a NaN or an empty text. This is the only definition: a text
    file shows all three alike, so no claim may distinguish them, whatever format is written. Spaces
    and texts such as `NA` are values.
    """
    array = combined(data, name)
    kind = array.type
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if not (is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        return array
    empty = pc.equal(pc.binary_length(array), 0)
    return pc.if_else(empty, pa.scalar(None, kind), array) if pc.any(empty).as_py() else array


def encode(data: Any, name: str) -> tuple[Codes, Any]:
    """Return codes and the distinct values in ascending order, a null for missing ones last."""
    if isinstance(data, pa.ChunkedArray) and data.num_chunks == 1:
        data = data.chunk(0)
    if isinstance(data, pa.DictionaryArray) and not data.indices.null_count:
        return _encode_dictionary(data, name)
    return encode_unchanged(with_missing(data, name), name)


def encode_unchanged(array: Any, name: str) -> tuple[Codes, Any]:
    """Return codes and values as `encode` does, but empty texts are values."""
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    try:
        encoded = array.dictionary_encode(null_encoding="mask")
        order = pc.sort_indices(encoded.dictionary)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            f"column {name!r}: values of type {array.type} cannot be quasi-identifying or "
            "sensitive; make the column insensitive or turn it into text or numbers"
        ) from None
    values = encoded.dictionary.take(order)
    if pa.types.is_temporal(values.type) and not pa.types.is_duration(values.type):
        _check_calendar(values, name)
    # rank: from Arrow's order of first occurrence to sorted codes; the last entry is for missing
    rank = np.empty(len(values) + 1, dtype=np.int32)
    rank[order.to_numpy(zero_copy_only=False)] = np.arange(len(values), dtype=np.int32)
    rank[-1] = len(values)
    if not array.null_count:
        return rank[encoded.indices.to_numpy(zero_copy_only=False)], values
    indices = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return rank[indices], pa.concat_arrays([values, pa.nulls(1, values.type)])


def without_codes(cells: Any, missing: Sequence[str]) -> Any:
    """Return the cells with nulls for the texts that mean missing; numbers compare by value.

    Numbers that keep their text do not change: files remove these texts before they are read.
    """
    if not missing or is_spelled(cells.type) or pa.types.is_nested(cells.type):
        return cells
    plain = combined(cells, "")
    kind = plain.type
    if is_text(kind) or pa.types.is_integer(kind):
        hit = pc.is_in(plain.cast(pa.large_string()), pa.array(missing, pa.large_string()))
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = [number for text in missing if (number := _as_float(text)) is not None]
        hit = pc.is_in(plain.cast(pa.float64()), pa.array(numbers, pa.float64()))
    else:
        return cells
    if not pc.any(hit).as_py():
        return cells
    if pa.types.is_dictionary(cells.type):
        coded = cells.unify_dictionaries() if isinstance(cells, pa.ChunkedArray) else cells
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        indices = pc.if_else(hit, pa.scalar(None, coded.indices.type), coded.indices)
        return pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=coded.type.ordered)
    return pc.if_else(hit, pa.scalar(None, kind), plain)


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _encode_dictionary(data: Any, name: str) -> tuple[Codes, Any]:
    """Encode the entries of a dictionary that are in use, not the rows."""
    indices = data.indices.to_numpy(zero_copy_only=False)
    usage = np.bincount(indices.astype(np.int64), minlength=len(data.dictionary))
    used = np.flatnonzero(usage)
    codes, values = encode(_plain(data.dictionary).take(pa.array(used)), name)
    spread = np.zeros(len(data.dictionary), dtype=np.int32)
    spread[used] = codes
    return spread[indices], values


def _check_calendar(values: Any, name: str) -> None:
    """Reject times that Python cannot print; values are sorted, so check the first and last."""
    try:
        for end in (values[:1], values[-1:]):
            _microseconds(end)[0].to_pylist()
    except (ArithmeticError, ValueError, LookupError, pa.ArrowException):
        raise InputError(
            f"column {name!r}: holds times outside the years 1 to 9999, or of an unknown time "
            "zone; fix them or make the column insensitive"
        ) from None


def category_order(data: Any) -> tuple[str, ...] | None:
    """Return the texts of ordered categories from least to greatest, None if there are none.

    Numbers and dates in ascending order keep their distances: they need no other order.
    """
    kind = getattr(data, "type", None)
    if kind is None or not pa.types.is_dictionary(kind) or not kind.ordered:
        return None
    if isinstance(data, pa.ChunkedArray):
        if not data.num_chunks:
            return None
        data = data.unify_dictionaries().chunk(0)
    categories = _plain(data.dictionary)
    ascending = categories.take(pc.sort_indices(categories))
    if is_numeric(kind.value_type) and categories.equals(ascending):
        return None
    return tuple(text for text in texts(categories) if text is not None)


def reorder(labels: Sequence[str | None], order: Sequence[Any], name: str) -> Counts:
    """(values,) rank of each value in the stated order, which must name each of them once.

    Parameters:
        labels: The text of each value, None for a missing one, which stays last.
    """
    stated = listed_texts(order)
    if len(set(stated)) < len(stated):
        raise InputError(f"column {name!r}: its order names a value twice")
    rank_of = {text: rank for rank, text in enumerate(stated)}
    known = [text for text in labels if text is not None]
    ranks = [rank_of.get(text, -1) for text in known]
    absent = ranks.count(-1)
    if absent:
        raise InputError(f"column {name!r}: its order leaves out {absent} of {len(known)} values")
    by_rank = np.argsort(np.array(ranks, dtype=np.int64), kind="stable")
    return np.concatenate([by_rank, np.arange(len(known), len(labels))])


def listed_texts(listed: Sequence[Any]) -> list[str]:
    """Return declared values as the texts in which they are published."""
    return [float_text(v) if isinstance(v, float) else _text(v) for v in listed]


def texts(values: Any) -> tuple[str | None, ...]:
    """Return each value as the text in which it is published, None for missing."""
    kind = values.type
    if is_text(kind):
        return tuple(values.to_pylist())
    if pa.types.is_floating(kind):
        return tuple(None if v is None else float_text(v) for v in values.to_pylist())
    if pa.types.is_duration(kind):
        ticks = values.cast(pa.int64()).to_pylist()
        return tuple(None if v is None else duration_text(v, kind.unit) for v in ticks)
    try:
        if pa.types.is_temporal(kind) and not pa.types.is_date(kind):
            coarse, beyond = _microseconds(values)
            return tuple(map(_time_text, coarse.to_pylist(), beyond.tolist()))
        return tuple(None if v is None else _text(v) for v in values.to_pylist())
    except (ArithmeticError, ValueError, LookupError, pa.ArrowException):
        if not pa.types.is_temporal(kind):
            raise
        return tuple(_distant_text(value) for value in values)


def duration_text(ticks: int, unit: str) -> str:
    """Return a duration in hours, minutes and seconds, without a comma so that ranges can use it.

    >>> duration_text(90_061, "s"), duration_text(-1_500, "ms")
    ('25:01:01', '-0:00:01.5')
    """
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    seconds, beyond = divmod(abs(ticks), 10**digits)
    fraction = f".{beyond:0{digits}}".rstrip("0") if beyond else ""
    minutes, seconds = divmod(seconds, 60)
    sign = "-" if ticks < 0 else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}"


def _distant_text(value: Any) -> str | None:
    """Return a date or time outside Python's calendar, as Arrow writes it."""
    try:
        plain = value.as_py()
    except (ArithmeticError, ValueError, LookupError, pa.ArrowException):
        kind = value.type
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        plain = value.cast(pa.timestamp(kind.unit)) if zoned else value  # in UTC, as it is stored
        return f"{plain.cast(pa.string())}{'+00:00' if zoned else ''}"
    return None if plain is None else _text(plain)


def float_text(value: float) -> str:
    """Return the shortest text that reads back as this number, whole numbers without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _microseconds(values: Any) -> tuple[Any, Counts]:
    """Return times in microseconds, the precision of Python, and the remaining nanoseconds."""
    kind = values.type
    if getattr(kind, "unit", None) != "ns":
        return values, np.zeros(len(values), dtype=np.int64)
    # divmod rounds down, so the remainder is positive before 1970 too
    ticks = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    micro, beyond = np.divmod(ticks, 1000)
    coarse = pa.array(micro, mask=values.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_timestamp(kind):
        return coarse.cast(pa.timestamp("us", kind.tz)), beyond
    return coarse.cast(pa.time64("us")), beyond


def _time_text(value: Any, nanoseconds: int) -> str | None:
    """Return a time with its nanoseconds, which Python's times lack."""
    if value is None or not nanoseconds:
        return None if value is None else _text(value)
    if isinstance(value, time):
        return f"{value.isoformat('microseconds')}{nanoseconds:03}"
    local = value.replace(tzinfo=None)
    offset = value.isoformat().removeprefix(local.isoformat())
    return f"{local.isoformat(sep=' ', timespec='microseconds')}{nanoseconds:03}{offset}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def positions(values: Any) -> Floats:
    """Return numeric values as floats: dates in days, times in seconds; NaN for missing."""
    kind = values.type
    if pa.types.is_date(kind):
        days = values.cast(pa.date32()).cast(pa.int32())
        return _floats(days)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        ticks = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        narrow = pa.types.is_time32(kind)
        return _floats(values.cast(pa.int32() if narrow else pa.int64())) / ticks
    if pa.types.is_decimal(kind):
        return _floats(values.cast(pa.float64()))
    return _floats(values)


def _floats(values: Any) -> Floats:
    numbers: Floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def bounds(limits: Sequence[Any], kind: Any, name: str) -> tuple[float, float]:
    """Return stated bounds as positions; dates may be written as dates."""
    if isinstance(limits, str) or not isinstance(limits, Sequence) or len(limits) != 2:
        raise InputError(f"column {name!r}: bounds must be two values, least and greatest")
    try:
        low, high = (_position(limit, kind) for limit in limits)
    except OverflowError:
        raise InputError(f"column {name!r}: bounds contain a number that is too large") from None
    except (ValueError, TypeError, pa.ArrowInvalid):
        raise InputError(f"column {name!r}: bounds must be of the column's type, {kind}") from None
    if not low < high or not np.isfinite(high - low):
        raise InputError(f"column {name!r}: bounds must be finite and in ascending order")
    return low, high


def _position(limit: Any, kind: Any) -> float:
    if isinstance(limit, str):
        limit = datetime.fromisoformat(limit)
    if isinstance(limit, date) and pa.types.is_date(kind):
        day = limit.date() if isinstance(limit, datetime) else limit
        return float(positions(pa.array([day], pa.date32()))[0])
    if isinstance(limit, date):
        limit = datetime.combine(limit, time()) if not isinstance(limit, datetime) else limit
        return float(positions(pa.array([limit], kind))[0])
    number = float(limit)
    return limit if isinstance(limit, int) and number != limit else number


def plain_nested(array: Any) -> Any:
    """Return lists and structs with plain arrays: dictionaries expose values of other rows."""
    plain = _mapped(array.type, _plain_leaf)
    if plain.equals(array.type, check_metadata=True):
        return array
    if "list_view<" not in str(array.type):  # Arrow casts these wrongly
        with suppress(pa.ArrowNotImplementedError):
            return array.cast(plain)
    return pa.array(array.to_pylist(), plain)


def nested_texts(array: Any) -> list[str | None]:
    """Return each list or struct as text, with nanoseconds, which Python lacks, as counts."""
    if "[ns" in str(array.type):
        array = array.cast(_mapped(array.type, _counted_leaf))
    return [None if cell is None else repr(cell) for cell in array.to_pylist()]


def _plain_leaf(kind: Any) -> Any:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def _counted_leaf(kind: Any) -> Any:
    return pa.int64() if getattr(kind, "unit", None) == "ns" else kind


def _mapped(kind: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return a type with its leaf types replaced and dictionaries decoded."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _mapped(kind.value_type, leaf)
    if pa.types.is_struct(kind):
        parts = [pa.field(part.name, _mapped(part.type, leaf), part.nullable) for part in kind]
        return pa.struct(parts)
    if pa.types.is_map(kind):
        return pa.map_(_mapped(kind.key_type, leaf), _mapped(kind.item_type, leaf))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_mapped(kind.value_type, leaf), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(_mapped(kind.value_type, leaf))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_mapped(kind.value_type, leaf))
    return leaf(kind)


class Spelled(pa.ExtensionType):  # type: ignore[misc]
    """Texts that all read as numbers.

    number: the Arrow type that holds these numbers.
    """

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(pa.string(), "shoal.spelled")

    def __arrow_ext_serialize__(self) -> bytes:
        if pa.types.is_floating(self.number):
            return b""
        return f"{self.number.precision} {self.number.scale}".encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Spelled:
        if not serialized:
            return cls(pa.float64())
        precision, scale = map(int, serialized.split())
        return cls((pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale))


def spelled(texts: Any, number: Any) -> Any:
    """Return texts as numbers of an Arrow type that keep their text."""
    return pa.ExtensionArray.from_storage(Spelled(number), texts.cast(pa.string()))


def is_spelled(kind: Any) -> bool:
    """Return whether values of this Arrow type are numbers that keep their text."""
    return isinstance(kind, Spelled)


def as_numbers(array: Any) -> Any:
    """Return spelled numbers as plain ones."""
    return as_number(array.storage, array.type.number)


def as_number(texts: Any, number: Any) -> Any:
    """Return texts as numbers of an Arrow type; minus zero is zero."""
    numbers = texts.cast(number)
    return pc.add(numbers, 0.0) if pa.types.is_floating(number) else numbers


def fitted(cells: Any, texts: Any) -> Any:
    """Return decimals with only the places that they need, so that the type reveals nothing else.

    Parameters:
        cells: Decimals, or a dictionary of them; anything else is returned unchanged.
        texts: The same cells as text.
    """
    coded = isinstance(cells, pa.DictionaryArray)
    values = cells.dictionary if coded else cells
    if not pa.types.is_decimal(values.type):
        return cells
    plain = texts.dictionary if isinstance(texts, pa.DictionaryArray) else texts
    # digits before and after the point, of the cells that are here
    parts = [text.lstrip("-").partition(".") for text in plain.unique().drop_null().to_pylist()]
    places = max((len(part[2]) for part in parts), default=0)
    digits = places + max((len(part[0]) for part in parts), default=1)
    kind = decimal_type(digits, places)
    narrow = values.cast(kind)
    return pa.DictionaryArray.from_arrays(cells.indices, narrow) if coded else narrow


def decimal_type(digits: int, scale: int) -> Any:
    """Return the narrower of Arrow's exact types for this many digits."""
    return pa.decimal128(38, scale) if digits <= 38 else pa.decimal256(MAX_DIGITS, scale)


def spelling(texts: Any, codes: Codes) -> tuple[str, ...]:
    """Return one text for each number: the shortest that occurs, with zero without a minus.

    Parameters:
        texts: Distinct texts.
        codes: (texts,) the number of each, from 0 and without gaps.
    """
    ranked = pa.table(
        {
            "code": codes,
            "minus": pc.starts_with(texts, "-"),
            "length": pc.utf8_length(texts),
            "text": texts,
        }
    )
    order = pc.sort_indices(ranked, [(name, "ascending") for name in ranked.column_names])
    # sorted by number, then by preference: the first text of each number is the one
    first = np.unique(codes[order.to_numpy()], return_index=True)[1]
    return tuple(texts.take(order.take(pa.array(first))).to_pylist())
