"""Rulers: map numbers to positions whose distances can be computed without overflow.

For most columns a position is the number itself. Floats cannot distinguish 2^63 − 1 from 2^63 − 2,
the distance between −1e308 and 1e308 overflows, and the square of 1e-300 is 0: such columns are
measured from their least value, or in a larger or smaller unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.support.arrays import Floats
from shoal.table import encoding

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
        # an origin of its own, if neighbours are too close for floats of this size
        known = np.sort(floats[~np.isnan(floats)])
        greatest = float(np.abs(known).max())
        origin = Decimal(0)
        if _may_blur(values, greatest) and np.diff(known).min(initial=np.inf) < (
            greatest * _LEAST_GAP
        ):
            origin = _least(values)
        # an exponent, if the farthest number is beyond the range in which squares can be added up
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
