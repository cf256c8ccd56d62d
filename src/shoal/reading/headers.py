"""Detect whether a CSV file begins with column names or with its first record.

Nothing of the first line is shown unless it clearly contains names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.core.values.data_types import DATE, FLOAT, TIME
from shoal.errors import InputError
from shoal.reading.dialects import Dialect

_OTHER = r"^[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}( .*)?$|^[$€£]?-?[0-9][0-9.,]*%?$|^[<>=]+[0-9]+"
_BLANK = ("", "?", "na", "n/a", "nan", "null", "none", "unknown", ".", "-")
_CATEGORY = 5  # rows per value, on average, of a column whose every value should recur


@dataclass(frozen=True)
class _Votes:
    """Votes of the columns on whether the first line is a header.

    amounts: names that are numbers or dates, like the values below them; recurring: names that are
    also values below; words: names above numbers or dates, which no record would have; absent:
    names that no row has, above a few values that many rows share.
    """

    amounts: int = 0
    recurring: int = 0
    words: int = 0
    absent: int = 0

    def __add__(self, other: _Votes) -> _Votes:
        return _Votes(
            self.amounts + other.amounts,
            self.recurring + other.recurring,
            self.words + other.words,
            self.absent + other.absent,
        )


def check_header(path: Path, dialect: Dialect) -> None:
    """Raise an error if the first line looks like a record; the message does not quote it."""
    if looks_like_data(dialect.header, dialect.records):
        raise InputError(
            f"{path}: the first row looks like data, not column names; state that it has no names "
            "(--no-header, header: false), add a row of names, or state that these are the names "
            "(--header, header: true)"
        )


def numbered(count: int) -> tuple[str, ...]:
    """Return the names of columns that have none: column_1 and so on."""
    return tuple(f"column_{number}" for number in range(1, count + 1))


def holds_names(dialect: Dialect) -> bool:
    """Return whether the first line is clearly a header: some of its words are above numbers."""
    return _count(dialect.header, dialect.records).words > 0


def looks_like_data(header: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line of a file looks like one of its records.

    >>> looks_like_data(["39", "m"], [["50", "f"], ["38", "m"]])
    True
    >>> looks_like_data(["age", "sex"], [["50", "f"], ["38", "m"]])
    False
    """
    votes = _count(header, records)
    repeated = sum(times - 1 for name, times in Counter(header).items() if name.strip())
    if votes.words:
        return votes.recurring > 2 * votes.words
    return votes.amounts + votes.recurring + repeated > votes.absent


def _count(header: Sequence[str], records: Sequence[Sequence[str]]) -> _Votes:
    complete = [record for record in records if len(record) == len(header)]
    columns = ([record[index] for record in complete] for index in range(len(header)))
    return sum(map(_vote, header, columns), _Votes())


def _vote(name: str, below: Sequence[str]) -> _Votes:
    values = [value for value in below if value.strip().casefold() not in _BLANK]
    if name.strip().casefold() in _BLANK:
        return _Votes()
    amounts = bool(values) and all(map(_is_amount, values))
    if _is_amount(name):
        return _Votes(amounts=int(amounts or not values))
    if amounts:
        return _Votes(words=1)
    if name in values:
        return _Votes(recurring=1)
    return _Votes(absent=int(len(values) >= _CATEGORY * len(set(values))))


def _is_amount(text: str) -> bool:
    """Return whether a text is a number, a date or similar."""
    plain = text.strip()
    return any(re.match(form, plain) for form in (FLOAT, DATE, TIME, _OTHER))
