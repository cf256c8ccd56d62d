"""Coarser identifiers: masked texts, rounded and limited numbers.

They still show something that others may know of a person, so they become quasi-identifiers, which
the guarantee covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Coarsening
from shoal.support.options import check_range, check_whole


@dataclass(frozen=True)
class Mask(Coarsening):
    """Texts with all but some characters hidden, and with one length: `*****1234`.

    Parameters:
        first: Characters shown at the start.
        last: Characters shown at the end.
        sign: The character that hides others.

    >>> import pyarrow as pa
    >>> Mask(last=2).coarsen("phone", pa.array(["555-0199", "5", None])).to_pylist()
    ['*****99', '*****', None]
    """

    name: ClassVar[str] = "mask"
    first: int = 0
    last: int = 0
    sign: str = "*"

    def __post_init__(self) -> None:
        check_whole("first", self.first, 0)
        check_whole("last", self.last, 0)
        if not isinstance(self.sign, str) or len(self.sign) != 1:
            raise InputError("sign must be one character")

    def coarsen(self, column: str, cells: Any) -> Any:
        """Return the masked cells; a text that would show all of itself is hidden."""
        indices, texts = distinct_texts(cells, column)
        return pa.array([self._masked(t) for t in texts.to_pylist()], pa.string()).take(indices)

    def _masked(self, text: str) -> str:
        hidden = self.sign * 5
        if len(text) <= self.first + self.last:
            return hidden
        return f"{text[: self.first]}{hidden}{text[len(text) - self.last :]}"


@dataclass(frozen=True)
class Round(Coarsening):
    """Numbers rounded to a multiple.

    Parameters:
        to: The multiple, such as 10 or 0.5.

    >>> import pyarrow as pa
    >>> Round(to=10).coarsen("income", pa.array(["1234", "1235.5", None])).to_pylist()
    ['1230', '1240', None]
    """

    name: ClassVar[str] = "round"
    to: float = 1

    def __post_init__(self) -> None:
        check_range("to", self.to, 0, above=True)

    def coarsen(self, column: str, cells: Any) -> Any:
        """Return the rounded numbers, as text."""
        numbers = _numbers(column, cells)
        whole = pc.round(pc.divide(numbers, pa.scalar(float(self.to))), 0, "half_towards_infinity")
        return _texts(pc.multiply(whole, pa.scalar(float(self.to))))


@dataclass(frozen=True)
class Clip(Coarsening):
    """Top- and bottom-coding: numbers beyond a limit are shown as the limit.

    Parameters:
        low: The least number that is shown; None for no limit.
        high: The greatest number that is shown; None for no limit.

    >>> import pyarrow as pa
    >>> Clip(high=90).coarsen("age", pa.array(["47", "103"])).to_pylist()
    ['47', '90']
    """

    name: ClassVar[str] = "clip"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise InputError("clip needs low, high or both")
        for option, value in (("low", self.low), ("high", self.high)):
            if value is not None:
                check_range(option, value, float("-inf"))
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError("low must not exceed high")

    def coarsen(self, column: str, cells: Any) -> Any:
        """Return the limited numbers, as text."""
        numbers = _numbers(column, cells)
        for limit, pick in ((self.low, pc.max_element_wise), (self.high, pc.min_element_wise)):
            if limit is not None:
                numbers = pick(numbers, pa.scalar(float(limit)), skip_nulls=False)
        return _texts(numbers)


def _numbers(column: str, cells: Any) -> Any:
    plain = encoding.with_missing(cells, column)
    try:
        return plain.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"column {column!r}: some cells are not numbers") from None


def _texts(numbers: Any) -> Any:
    """Return numbers as the texts in which they are published."""
    return pa.array(encoding.texts(numbers), pa.string())
