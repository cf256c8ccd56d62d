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
from shoal.support.options import check_whole


@dataclass(frozen=True)
class Shift(Replacement):
    """Dates moved by a secret number of days, the same for all dates of a person.

    Intervals between the dates of a person stay exact, also across tables of one key and domain.
    Seasons and days of the week do not. Rare intervals can still identify a person: the guarantee
    does not cover shifted dates.

    Parameters:
        days: The greatest number of days, forwards or backwards; 0 days are never drawn.
    """

    name: ClassVar[str] = "shift"
    links: ClassVar[bool] = False
    days: int = 365

    def __post_init__(self) -> None:
        check_whole("days", self.days, 1)

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
        key = context.derive(column, self.name, str(self.days))
        days = _days(column, cells)
        indices, people = distinct_texts(context.person, "person")
        moves = np.array([self._move(key, text) for text in people.to_pylist()], np.int32)
        offsets = moves[indices.to_numpy(zero_copy_only=False)] if len(moves) else moves
        shifted = pc.add(days.cast(pa.int32()), pa.array(offsets, pa.int32())).cast(pa.date32())
        return Replaced(
            column,
            shifted,
            links=self.links,
            treatment=f"dates shifted by up to {self.days:,} days, the same for all dates of a "
            "person; intervals are exact, and the guarantee does not cover them",
            record={"replace": self.name, "days": self.days, **context.record},
        )

    def _move(self, key: bytes, person: str) -> int:
        number = int.from_bytes(hmac.digest(key, person.encode(), hashlib.sha256)[:16], "big")
        drawn = number % (2 * self.days)  # the bias is below 2**-64
        return drawn - self.days if drawn < self.days else drawn - self.days + 1


def _days(column: str, cells: Any) -> Any:
    """Return the dates of a column."""
    plain = encoding.with_missing(cells, column)
    try:
        return plain.cast(pa.date32())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {column!r}: some cells are not dates like 2024-03-09; shift needs dates"
        ) from None
