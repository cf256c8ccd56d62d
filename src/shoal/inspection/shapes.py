"""How the values of a column repeat and how they are written, and codes that may mean missing.

    Shape.of      counts and forms of the values, from which `roles.py` suggests a role
    find_codes    well-known words, and numbers of a known form far from all others
    offer_codes   the columns that have a code, and what to do about it

Messages name only codes of a fixed list, so they never reveal a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.support.arrays import Floats
from shoal.support.wording import counted, option
from shoal.table.column import Column, Kind
from shoal.table.encoding import is_spelled, is_text
from shoal.table.people import words_per_value
from shoal.table.types import DATE, FLOAT

_SAMPLE = 2_000  # values that are examined
_PROSE_WORDS = 5  # on average
_PAIR = (
    r"^\s*(POINT\s*)?[(\[]?\s*-?[0-9]{1,3}\.[0-9]+\s*[\s,;]\s*-?[0-9]{1,3}\.[0-9]+\s*[)\]]?\s*$"
    r"|^(MULTI)?(POINT|LINESTRING|POLYGON)\s*\("
)


@dataclass(frozen=True, eq=False)
class Shape:
    """How the values of a column are distributed over its rows.

    filled: rows with a value; distinct: distinct values.
    alone: rows with a unique value; rare: rows whose value occurs once or twice.
    positions: the values as numbers; extent: the smallest and the largest.
    """

    values: Any
    rows: int
    filled: int
    distinct: int
    alone: int
    rare: int
    positions: Floats
    extent: tuple[float, float]

    @classmethod
    def of(cls, column: Column) -> Shape:
        """Return the shape of an encoded column."""
        counts = np.bincount(column.codes, minlength=column.domain)[: column.known]
        filled, alone = int(counts.sum()), int((counts == 1).sum())
        values = column.values[: column.known]
        rare = alone + 2 * int((counts == 2).sum())
        positions = column.positions[: column.known]
        return cls(values, len(column), filled, column.known, alone, rare, positions, column.extent)

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return is_text(self.values.type)

    @property
    def is_fractional(self) -> bool:
        """Whether the values are numbers with decimal places."""
        return is_fractional(self.values.type)

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        kind = self.values.type
        is_whole = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        return bool(self.is_fractional or is_whole)

    @property
    def has_decimals(self) -> bool:
        """Whether some numbers have decimal places, unlike numbers of records read as 1.0."""
        if not self.is_fractional:
            return False
        numbers = self.positions[np.isfinite(self.positions)]
        return bool((numbers != np.floor(numbers)).any())

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
        """Whether many rows have a unique value: one in five of texts, one in twenty of others."""
        return self.filled > 20 and (5 if self.is_text else 20) * self.alone >= self.filled

    @property
    def is_own(self) -> bool:
        """Whether most rows have a unique value."""
        return self.filled > 20 and 2 * self.alone >= self.filled

    @property
    def is_sparse_text(self) -> bool:
        """Whether the values are texts, most of which occur once or twice."""
        return self.is_text and self.filled > 20 and 2 * self.rare >= self.filled

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
        return self.is_number and max(map(abs, self.extent)) <= limit


def is_fractional(kind: Any) -> bool:
    """Whether values of an Arrow type have decimal places."""
    return bool(
        is_spelled(kind)
        or pa.types.is_floating(kind)
        or (pa.types.is_decimal(kind) and getattr(kind, "scale", 0) > 0)
    )


_WORDS = frozenset(
    "? ?? . .. - -- --- * na n/a n.a. #n/a <na> nan null nil none (null) missing (missing) blank"
    " (blank) unknown unk undefined unspecified unbekannt desconocido inconnu refused declined"
    " k.a.".split()
) | {
    "not available",
    "not known",
    "not specified",
    "not stated",
    "not recorded",
    "not reported",
    "no answer",
    "no data",
    "prefer not to say",
    "prefer not to answer",
    "don't know",
    "do not know",
    "keine angabe",
}
_SURE = frozenset(
    "? ?? . .. - -- --- na n/a n.a. #n/a <na> nan null (null) missing (missing)".split()
)
_NINES = frozenset(
    int(sign * digits) for digits in (2, 3, 4, 5, 6) for sign in "789"
) | {97, 98, 997, 998, 9997, 9998, 99997, 99998}  # fmt: skip
_NUMBERS = np.array([*_NINES, *(-code for code in (1, 7, 8, 9, *_NINES))], dtype=np.float64)
_FORMS = {"numbers": FLOAT, "dates": DATE}


@dataclass(frozen=True)
class Codes:
    """The codes of a column that may mean missing.

    rows: for each code, the number of rows that have it.
    others: the type of all other values, "numbers" or "dates"; None for text.
    """

    rows: dict[str, int] = field(default_factory=dict)
    others: str | None = None

    @property
    def are_sure(self) -> bool:
        """Whether the codes surely mean missing: all other values are numbers, or they say so."""
        return self.others is not None or all(c.strip().casefold() in _SURE for c in self.rows)


def find_codes(column: Column | None) -> Codes:
    """Return the codes of a column that may mean missing.

    >>> find_codes(Column.encode("age", [31, 45, 999, 52, 999])).rows
    {'999': 2}
    """
    if column is None or not column.known:
        return Codes()
    counts = np.bincount(column.codes, minlength=column.domain).tolist()
    if column.kind is Kind.NUMERIC:
        apart = _apart(column.positions[: column.known])
        return Codes({str(column.labels[index]): counts[index] for index in apart})
    if not is_text(column.values.type):
        return Codes()
    labels = [str(label) for label in column.labels[: column.known]]
    known = [label.strip().casefold() in _WORDS for label in labels]
    words = [index for index, is_word in enumerate(known) if is_word]
    rest = [index for index, is_word in enumerate(known) if not is_word]
    others = next(
        (what for what, form in _FORMS.items() if all(re.match(form, labels[p]) for p in rest)),
        None,
    )
    if not rest:
        return Codes({labels[index]: counts[index] for index in words})
    if others == "numbers":
        words += [
            rest[index] for index in _apart(np.array([float(labels[index]) for index in rest]))
        ]
    return Codes({labels[p]: counts[p] for p in words}, others if words else None)


def _apart(numbers: Floats) -> list[int]:
    """Return the indices of codes that are far from all other numbers.

    A negative code is if no other number is negative and they span more than 1. Any other code is
    if the gap between it and the others is wider than half of their range.
    """
    # codes that turn out to be ordinary join the others, which may make further codes ordinary
    is_code = np.isin(numbers, _NUMBERS)
    while is_code.any() and (~is_code).sum() > 1:
        others = numbers[~is_code]
        low, high = others.min(), others.max()
        gap = max((high - low) / 2, 1)
        apart = (numbers < low - gap) | (numbers > high + gap)
        if low >= 0 and high - low > 1:
            apart |= numbers < 0
        if apart[is_code].all():
            return [int(index) for index in np.flatnonzero(is_code)]
        is_code &= apart  # next to an age of 97, 98 is an age
    return []


def offer_codes(
    codes: Mapping[str, Codes], encoded: Mapping[str, Column | None]
) -> Iterator[tuple[list[str], str]]:
    """Yield, for each code, the columns that have it and what to do about it."""
    by_code: dict[tuple[str, str | None], dict[str, int]] = {}
    for name, each in codes.items():
        for code, rows in each.rows.items():
            by_code.setdefault((code, each.others), {})[name] = rows
    for (code, others), columns in by_code.items():
        cells = counted(sum(columns.values()), "cell")
        hint = f"{code} in {cells} may mean a missing value"
        hint += f", because the other values are {others}" if others else ""
        if _is_ordinary(code, columns, encoded):
            yield list(columns), f"{hint}: add  missing: [{code!r}]  to the column's schema"
        else:
            yield list(columns), f"{hint}: add {option('missing', [code])}"


def _is_ordinary(
    code: str, columns: Mapping[str, int], encoded: Mapping[str, Column | None]
) -> bool:
    """Return whether another column has the code as an ordinary value."""
    return any(
        code in column.labels
        for name, column in encoded.items()
        if column is not None and name not in columns and re.match(FLOAT, code)
    )
