"""The domain of a column: its declared values, or else the values that occur."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import encoding
from shoal.core.values.data_types import (
    DATE,
    WHOLE,
    DataType,
    combined_or_spelled,
    read_as,
    refuse_misfits,
)
from shoal.core.values.ruler import Ruler
from shoal.core.values.spelled import as_number, is_spelled, spelling
from shoal.errors import InputError
from shoal.support.arrays import Codes
from shoal.support.wording import option

_MAX_LISTED = 100_000  # values of a domain that bounds close


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
    written = encoding.listed_texts(listed)
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
        return Ground(*encoding.encode(cells, name))
    return _spelled(combined_or_spelled(cells, name), name)


def _spelled(array: Any, name: str) -> Ground:
    """Encode numbers that keep their text, once for each distinct text."""
    encoded = array.storage.dictionary_encode(null_encoding="mask")
    texts = encoded.dictionary
    codes, values = encoding.encode(as_number(texts, array.type.number), name)
    missing = np.int32(len(values))
    places = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    rows = np.append(codes, missing)[places]
    if array.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Ground(rows, values, spelling(texts, codes))


def reordered(made: Ground, order: Sequence[Any], name: str) -> Ground:
    """Return the values in the stated order."""
    labels = labels_of(made.values, made.spelling)
    places = encoding.reorder(labels, order, name)
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
        return encoding.texts(values)
    return (*texts, *([None] * (len(values) - len(texts))))


def unchanged(data: Any, name: str, wanted: DataType | None, listed: Sequence[Any] | None) -> Any:
    """Return the cells of a column that is passed through unchanged, read as declared."""
    if wanted is None:
        return encoding.combined(data, name)
    cells = read_as(data, wanted, name)
    if listed is not None:
        _closed(cells, name, wanted, listed)
    return cells.storage if is_spelled(cells.type) else cells


def check_bounds(cells: Any, name: str, limits: tuple[float, float]) -> None:
    """Reject cells outside the declared bounds; the message has their number and first row."""
    values = encoding.combined(cells, name)
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
        array = encoding.with_missing(array, name)
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
        read = read_as(pa.array(encoding.listed_texts(listed), pa.string()), wanted, name)
    except InputError:
        raise InputError(
            f"column {name!r}: its declared values are not all {wanted.noun}"
        ) from None
    made = _spelled(read, name) if is_spelled(read.type) else Ground(*encoding.encode(read, name))
    if len(made.values) < len(listed):
        raise InputError(f"column {name!r}: its declared values contain a value twice")
    return made.values, made.spelling


def _by_number(texts: Any, domain: Sequence[str]) -> Any:
    """(rows,) index of each text in the domain, compared as numbers."""
    place = {Decimal(text): code for code, text in enumerate(domain)}
    encoded = texts.dictionary_encode(null_encoding="mask")
    found = [place.get(Decimal(text)) for text in encoded.dictionary.to_pylist()]
    return pa.array(found, pa.int32()).take(encoded.indices)
