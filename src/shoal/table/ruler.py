"""Rulers: map numbers to positions whose distances can be computed without overflow.

For most columns a position is the number itself. Floats cannot distinguish 2^63 − 1 from 2^63 − 2,
the distance between −1e308 and 1e308 overflows, and the square of 1e-300 is 0: such columns are
measured from their least value, or in a larger or smaller unit.

The domain of a column: its declared values, or else the values that occur.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.arrays import Codes, Floats
from shoal.support.wording import option
from shoal.table import encoding
from shoal.table.encoding import as_number, is_spelled, spelling
from shoal.table.types import DATE, WHOLE, DataType, combined_or_spelled, read_as, refuse_misfits

_EXACT = Context(prec=1500, Emin=-9999, Emax=9999)  # any difference of two floats has fewer digits
_MAX_WHOLE = 2**53  # floats represent every whole number up to it
_LEAST_GAP = 2.0**-40  # between neighbours, relative to the greatest number
_EXPONENTS = range(-400, 501)  # for which differences, squares and their sums do not overflow


@dataclass(frozen=True, repr=False)
class Ruler:
    """Maps the numbers of one column to positions: (number − origin) · 2^exponent.

    origin: 0, or the least value if floats cannot distinguish neighbours.
    exponent: 0, or the power that scales the greatest number to about 1 if differences would
        overflow or vanish.
    """

    origin: Decimal = Decimal(0)
    exponent: int = 0

    def __repr__(self) -> str:
        return f"Ruler(plain={self.plain})"

    @property
    def plain(self) -> bool:
        """Whether a position is the number itself."""
        return not self.origin and not self.exponent

    @classmethod
    def of(cls, values: Any, bounds: Sequence[float] | None = None) -> Ruler:
        """Return the ruler for numbers, dates or times and their declared bounds."""
        if not encoding.is_numeric(values.type) or values.null_count == len(values):
            return cls()
        floats = encoding.positions(values)
        known = np.sort(floats[~np.isnan(floats)])
        greatest = float(np.abs(known).max())
        origin = Decimal(0)
        if _may_blur(values, greatest) and np.diff(known).min(initial=np.inf) < (
            greatest * _LEAST_GAP
        ):
            origin = _least(values)
        ends = [known[0], known[-1], *(bounds or ())]
        reach = max(abs(float(_EXACT.subtract(_exact(end), origin))) for end in ends)
        exponent = math.frexp(reach)[1] if reach and math.isfinite(reach) else 0
        return cls(origin, 0 if exponent in _EXPONENTS else -exponent)

    def positions(self, values: Any) -> Floats:
        """Return numbers, dates or times as positions; NaN for missing."""
        if not self.origin:
            return _scaled(encoding.positions(values), self.exponent)
        shifted = (
            math.nan if number is None else float(_EXACT.subtract(number, self.origin))
            for number in exact_numbers(values)
        )
        return _scaled(np.fromiter(shifted, np.float64, len(values)), self.exponent)

    def position(self, number: Any) -> float:
        """Return the position of one number, rounded once; infinities do not change."""
        if not math.isfinite(number):
            return float(number)
        shifted = float(_EXACT.subtract(_exact(number), self.origin)) if self.origin else number
        return float(_scaled(np.array([float(shifted)]), self.exponent)[0])

    def number(self, position: float) -> Fraction:
        """Return the number at a position, exactly."""
        return Fraction(position) / Fraction(2) ** self.exponent + Fraction(self.origin)

    def converted(self, positions: Floats, other: Ruler) -> Floats:
        """Return positions on another ruler as positions on this one."""
        if self == other:
            return positions
        shift = float(_EXACT.subtract(other.origin, self.origin))
        return _scaled(_scaled(positions, -other.exponent) + shift, self.exponent)


PLAIN = Ruler()


def exact_numbers(values: Any) -> list[Decimal | None]:
    """Return numbers unchanged, dates in days and times in seconds, without rounding."""
    numbers, places = _as_numbers(values)
    return [
        None if number is None else _exact(number).scaleb(-places, _EXACT)
        for number in numbers.to_pylist()
    ]


def _scaled(positions: Floats, exponent: int) -> Floats:
    if not exponent:
        return positions
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(positions, exponent)


def _exact(number: Any) -> Decimal:
    if isinstance(number, Fraction):
        return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Decimal(number if isinstance(number, (int, Decimal)) else float(number))


def _may_blur(values: Any, greatest: float) -> bool:
    """Return whether numbers of this type and size may be more precise than floats."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_date(kind):
        return False
    places = kind.scale if pa.types.is_decimal(kind) else _places(kind)
    return greatest * 10.0**places > _MAX_WHOLE


def _least(values: Any) -> Decimal:
    numbers, places = _as_numbers(values)
    return Decimal(pc.min(numbers).as_py()).scaleb(-places, _EXACT)


def _as_numbers(values: Any) -> tuple[Any, int]:
    """Return numbers, or the ticks of times, and the decimal places of a second in a tick."""
    kind = values.type
    if pa.types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.int32()), 0
    if not pa.types.is_temporal(kind):
        return values, 0
    return values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()), _places(kind)


def _places(kind: Any) -> int:
    if not pa.types.is_temporal(kind):
        return 0
    return {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]


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
