"""Statistics of the values of a column: how often they repeat, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column
from shoal.core.people import words_per_value
from shoal.core.values.data_types import FLOAT
from shoal.core.values.encoding import is_text
from shoal.core.values.spelled import is_spelled

_SAMPLE = 2_000  # values that are examined
_PROSE_WORDS = 5  # on average
_PAIR = (
    r"^\s*(POINT\s*)?[(\[]?\s*-?[0-9]{1,3}\.[0-9]+\s*[\s,;]\s*-?[0-9]{1,3}\.[0-9]+\s*[)\]]?\s*$"
    r"|^(MULTI)?(POINT|LINESTRING|POLYGON)\s*\("
)


@dataclass(frozen=True, eq=False)
class Shape:
    """How the values of a column are distributed over its rows.

    filled: rows with a value; distinct: distinct values; alone: rows with a unique value.
    extent: smallest and largest position of the values.
    """

    values: Any
    rows: int
    filled: int
    distinct: int
    alone: int
    extent: tuple[float, float]

    @classmethod
    def of(cls, column: Column) -> Shape:
        """Return the shape of an encoded column."""
        counts = np.bincount(column.codes, minlength=column.domain)[: column.known]
        filled, alone = int(counts.sum()), int((counts == 1).sum())
        values = column.values[: column.known]
        return cls(values, len(column), filled, column.known, alone, column.extent)

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return is_text(self.values.type)

    @property
    def is_fractional(self) -> bool:
        """Whether the values are numbers with decimal places."""
        return is_fractional(self.values.type)

    @property
    def is_temporal(self) -> bool:
        """Whether the values are dates or times."""
        return bool(pa.types.is_temporal(self.values.type))

    @property
    def is_constant(self) -> bool:
        """Whether every row has the same value."""
        return self.distinct == 1 and self.filled == self.rows

    @property
    def is_category(self) -> bool:
        """Whether many rows share each value, unlike numbers or names of records."""
        few = self.distinct <= 20 and self.filled >= 3 * self.distinct
        return few or (self.distinct <= 2_000 and self.filled >= 10 * self.distinct)

    @property
    def is_choice(self) -> bool:
        """Whether there are only a few values, such as yes and no."""
        return self.distinct <= 5 and self.filled >= 10 * self.distinct

    @property
    def singles_out(self) -> bool:
        """Whether at least one row in five has a unique value."""
        return self.filled > 20 and 5 * self.alone >= self.filled

    @property
    def is_own(self) -> bool:
        """Whether most rows have a unique value."""
        return self.filled > 20 and 2 * self.alone >= self.filled

    @property
    def is_number_text(self) -> bool:
        """Whether nearly all values are numbers that were read as text."""
        if not self.is_text or not self.distinct:
            return False
        texts = pc.utf8_trim_whitespace(self.values.slice(0, _SAMPLE))
        return bool(pc.mean(pc.match_substring_regex(texts, FLOAT)).as_py() >= 0.9)

    @property
    def is_prose(self) -> bool:
        """Whether the values are sentences that few rows share."""
        if not self.is_text or self.distinct <= 20 or self.is_category:
            return False
        return words_per_value(self.values.slice(0, _SAMPLE)) >= _PROSE_WORDS

    @property
    def is_position_text(self) -> bool:
        """Whether the values are pairs of coordinates, or shapes, written as text."""
        if not self.is_text or not self.distinct:
            return False
        share = pc.mean(pc.match_substring_regex(self.values.slice(0, _SAMPLE), _PAIR)).as_py()
        return bool(share >= 0.9)

    def lies_within(self, limit: float) -> bool:
        """Whether the values are numbers between minus and plus the limit."""
        kind = self.values.type
        numeric = self.is_fractional or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        return bool(numeric and max(map(abs, self.extent)) <= limit)


def is_fractional(kind: Any) -> bool:
    """Whether values of an Arrow type have decimal places."""
    return bool(
        is_spelled(kind)
        or pa.types.is_floating(kind)
        or (pa.types.is_decimal(kind) and getattr(kind, "scale", 0) > 0)
    )
