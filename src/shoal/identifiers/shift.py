"""Shifted dates: each person's dates move by a number of days of their own, so intervals stay."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.publishing.replaced import Replaced
from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.identifiers.plain_text import distinct_texts
from shoal.identifiers.replacement import Context, Replacement
from shoal.support.options import check_flag, check_whole


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
        """Whether the person decides too."""
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
