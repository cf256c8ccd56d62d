"""Codes that may mean missing values: well-known words, and numbers far from all others.

Messages name only codes of a fixed list, so they never reveal a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from shoal.core.column import Column, Kind
from shoal.core.values.data_types import DATE, FLOAT
from shoal.core.values.encoding import is_text
from shoal.support.arrays import Floats
from shoal.support.wording import counted, option

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
    found: dict[tuple[str, str | None], dict[str, int]] = {}
    for name, each in codes.items():
        for code, rows in each.rows.items():
            found.setdefault((code, each.others), {})[name] = rows
    for (code, others), columns in found.items():
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
