"""Replacements that keep a part of the original: coarser texts and numbers, and shifted dates.

`Mask`, `Round` and `Clip` still show something that others may know of a person, so their columns
become quasi-identifiers, which the guarantee covers. `Shift` moves the dates of each person by a
number of days of their own, so intervals stay; the guarantee does not cover them.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.replacement import Coarsening, Context, Replacement
from shoal.support.options import check_flag, check_range, check_whole
from shoal.table import encoding
from shoal.table.linked import Replaced


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


@dataclass(frozen=True)
class Shift(Replacement):
    """Dates moved by a secret number of days, the same for all dates of a person.

    Intervals between the dates of a person stay exact, also across tables of one key and domain.
    Seasons and days of the week do not, unless the shift is of whole weeks. The intervals identify
    nearly everyone with several dates, and anyone who knows the period of the data, or that it has
    working days only, can rule out shifts: the guarantee does not cover shifted dates.

    Parameters:
        days: The greatest number of days, forwards or backwards; 0 days are never drawn.
        whole_weeks: Whether shifts are whole weeks, so that dates keep their day of the week.

    >>> from datetime import date
    >>> import pyarrow as pa
    >>> from shoal.identifiers import Context, Key
    >>> context = Context(Key.new(), "a study", pa.array(["ann", "ann"]))
    >>> days = pa.array([date(2024, 3, 4), date(2024, 3, 14)])
    >>> first, second = Shift(whole_weeks=True).publish("day", days, context).cells.to_pylist()
    >>> f"{first:%A}", (second - first).days
    ('Monday', 10)
    """

    name: ClassVar[str] = "shift"
    links: ClassVar[bool] = False
    days: int = 365
    whole_weeks: bool = False

    def __post_init__(self) -> None:
        check_flag("whole_weeks", self.whole_weeks)
        check_whole("days", self.days, self._step)

    @property
    def _step(self) -> int:
        """The days between two shifts."""
        return 7 if self.whole_weeks else 1

    @property
    def by_cell(self) -> bool:
        """Whether the replacement of a cell depends on more than its text: on the person."""
        return True

    @property
    def type(self) -> Any:
        """The Arrow type of shifted dates."""
        return pa.date32()

    def publish(self, column: str, cells: Any, context: Context) -> Replaced:
        """Return the shifted dates of a column."""
        if context.person is None:
            raise InputError(
                f"column {column!r}: dates are shifted by person; declare the column that "
                "identifies people as person"
            )
        unit = ["whole weeks"] if self.whole_weeks else []
        key = context.derive(column, self.name, str(self.days), *unit)
        days = _days(column, cells)
        indices, people = distinct_texts(context.person, "person")
        moves = np.array([self._move(key, text) for text in people.to_pylist()], np.int32)
        offsets = moves[indices.to_numpy(zero_copy_only=False)] if len(moves) else moves
        shifted = pc.add(days.cast(pa.int32()), pa.array(offsets, pa.int32())).cast(pa.date32())
        return Replaced(
            column,
            shifted,
            links=self.links,
            treatment=self._treatment,
            record={
                "replace": self.name,
                "days": self.days,
                **({"whole_weeks": True} if self.whole_weeks else {}),
                **context.record,
            },
        )

    @property
    def _treatment(self) -> str:
        if self.whole_weeks:
            return (
                f"dates shifted by whole weeks, up to {self.days // 7:,}, the same for all dates "
                "of a person; days of the week and intervals are exact, and the guarantee does not "
                "cover them"
            )
        return (
            f"dates shifted by up to {self.days:,} days, the same for all dates of a person; "
            "intervals are exact, and the guarantee does not cover them"
        )

    def _move(self, key: bytes, person: str) -> int:
        number = int.from_bytes(hmac.digest(key, person.encode(), hashlib.sha256)[:16], "big")
        most = self.days // self._step
        drawn = number % (2 * most)  # the bias is below 2**-64
        # 0 … most − 1 are shifts backwards, the others forwards; 0 days are left out
        return self._step * (drawn - most if drawn < most else drawn - most + 1)


def _days(column: str, cells: Any) -> Any:
    """Return the dates of a column."""
    plain = encoding.with_missing(cells, column)
    try:
        return plain.cast(pa.date32())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {column!r}: some cells are not dates like 2024-03-09; shift needs dates"
        ) from None
