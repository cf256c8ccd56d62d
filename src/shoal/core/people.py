"""Units of protection: the person, or the household, that each row is about.

Guarantees about people never count rows: one person with five rows is one person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.core.grouping import group, group_keys
from shoal.core.values import encoding
from shoal.errors import InputError, RepeatedIdentifier
from shoal.support.arrays import Codes, Counts, frozen
from shoal.support.wording import counted, folded_name

_PERSON = (
    r"patient|person|subject|participant|respondent|member|customer|client|user|student|pupil"
    r"|employee|passenger|citizen|resident|insured|proband|kunde|versicher|mitglied|schueler|einwohner"
    r"|(^|_)(ssn|nhs|mrn|pid)($|_)"
)
_SHARED = r"name|mail|phone|telefon|addres|adress|strasse"  # several people may share these
_FREE_TEXT = r"bemerk|kommentar|comment|remark|freitext|free_?text|anamnes|(^|_)notes?($|_)|notiz"
TEXT_WORDS = 8  # on average; texts with more are sentences, not identifiers
_EVENT = (
    r"encounter|visit|appointment|admission|stay|episode|event|case|row|record|line|index|order|transaction"
    r"|invoice|claim|sample|specimen|incident|accident|session|entry|besuch|aufnahme|fall|beleg"
)
_NUMBER = r"(_(id|nr|nbr|no|num|ref|key|hash)|number|nummer|id|nr|nbr)$"
_KIND = r"(^|_)(type|kind|class|group|category|status|typ|art|gruppe)"


@dataclass(frozen=True, eq=False)
class Unit:
    """The person (or household) behind each row.

    columns: the columns that identify it; they are never published.
    ids: (rows,) its number, from 0 without gaps.
    count: how many there are.
    """

    columns: tuple[str, ...]
    ids: Codes
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozen(self.ids))

    def __repr__(self) -> str:
        return f"Unit({', '.join(self.columns)}: {self.count:,} in {counted(len(self.ids), 'row')})"

    @classmethod
    def of(cls, data: Any, columns: Sequence[str], what: str) -> Unit:
        """Return the units of an Arrow table, by the columns that identify them.

        Raises:
            InputError: A row has no value in an identifying column.
        """
        encoded = []
        for name in columns:
            cells = encoding.with_missing(data.column(name), name)
            if cells.null_count:
                raise InputError(
                    f"column {name!r} identifies the {what}, but "
                    f"{counted(cells.null_count, 'row has', 'rows have')} no value in it; "
                    "fill them in or remove these rows"
                )
            encoded.append(encoding.encode(cells, name))
        found = group([codes for codes, _ in encoded], [len(values) for _, values in encoded])
        return cls(tuple(columns), found.ids, len(found))

    def take(self, rows: Any) -> Unit:
        """Return the units of some rows, renumbered without gaps."""
        found = group_keys(self.ids[rows].astype(np.int64))
        return Unit(self.columns, found.ids, len(found))


def joined(person: Unit, household: Unit) -> Unit:
    """Return units such that k of them are at least k people and at least k households.

    These are usually the households. A person in several households merges them into one unit.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(person.ids), dtype=np.int8)
    shape = (person.count + household.count,) * 2
    links = csr_array((ones, (person.ids, household.ids + person.count)), shape=shape)
    count, parts = connected_components(links, directed=False)
    return Unit((*person.columns, *household.columns), parts[person.ids].astype(np.int32), count)


def count_distinct(ids: Codes, groups: int, unit: Unit) -> Counts:
    """Return the number of different units in each group; rows of group −1 are ignored."""
    kept = np.flatnonzero(ids >= 0)
    pairs = distinct_rows(ids[kept], groups, unit.ids[kept], unit.count)
    return np.bincount(ids[kept][pairs], minlength=groups).astype(np.int64)


def distinct_rows(ids: Codes, groups: int, unit: Codes, units: int) -> Counts:
    """Return one row for each distinct pair of a group and a unit."""
    return group([ids, unit], [groups, units]).first if len(ids) else np.zeros(0, np.int64)


@dataclass(frozen=True)
class Deciding:
    """The identifier that decides whether people have several rows.

    distinct: number of distinct values; filled: number of rows with a value.
    """

    column: str
    distinct: int
    filled: int

    @property
    def repeats(self) -> bool:
        """Whether a value occurs more than once."""
        return self.distinct < self.filled


def deciding_identifier(data: Any, identifiers: Sequence[str]) -> Deciding | None:
    """Return the identifier that decides who the people are, None if none can be compared.

    The number of a patient or a member takes precedence, the number of a visit or a row comes last.
    Among identifiers of one kind the one with the most distinct values decides, so two people with
    the same name do not matter if there is an identification number. Free text never decides: two
    people may write the same text.

    >>> import pyarrow as pa
    >>> visits = pa.table({"visit_id": [1, 2, 3], "patient": ["a", "a", "b"]})
    >>> deciding_identifier(visits, visits.column_names)
    Deciding(column='patient', distinct=2, filled=3)
    """

    def count(name: str) -> Deciding | None:
        cells = encoding.with_missing(data.column(name), name).drop_null()
        if encoding.is_text(cells.type) and words_per_value(cells) >= TEXT_WORDS:
            return None
        try:
            return Deciding(name, len(pc.unique(cells)), len(cells))
        except (NotImplementedError, ValueError):  # values of this type cannot be compared
            return None

    return deciding_of(identifiers, count)


def deciding_of(
    identifiers: Sequence[str], count: Callable[[str], Deciding | None]
) -> Deciding | None:
    """Return the identifier that decides who the people are.

    count: counts the values of an identifier; None if it is free text or cannot be compared.
    """
    numbers = [name for name in identifiers if not is_free_text(name)]
    best = max(map(_kind_of_name, numbers), default=0)
    counted_names = (count(name) for name in numbers if _kind_of_name(name) == best)
    found = [each for each in counted_names if each is not None]
    return max(found, key=lambda each: (each.distinct, not each.repeats), default=None)


def _kind_of_name(name: str) -> int:
    """Return 2 for the name of a person's number, 0 for that of an event's or a row's, else 1."""
    folded = folded_name(name)
    if re.search(_PERSON, folded) and not re.search(_SHARED, folded):
        return 2
    return 0 if re.search(_EVENT, folded) else 1


def is_person_number(name: str) -> bool:
    """Return whether a column name means a person's number, not that of an event or a kind.

    >>> [is_person_number(name) for name in ("customer_no", "PatientId", "patient_age", "visit_id")]
    [True, True, False, False]
    """
    folded = folded_name(name)
    other = f"{_EVENT}|{_KIND}"
    return (
        _kind_of_name(name) == 2
        and bool(re.search(_NUMBER, folded))
        and not re.search(other, folded)
    )


def is_free_text(name: str) -> bool:
    """Return whether a column name suggests free text, which does not identify people."""
    return bool(re.search(_FREE_TEXT, folded_name(name)))


def words_per_value(texts: Any) -> float:
    """Return the mean number of words per text, 0 if there are none."""
    return float(pc.mean(pc.add(pc.count_substring(texts, " "), 1)).as_py() or 0)


def check_repeated(data: Any, identifiers: Sequence[str]) -> None:
    """Reject repeated identifiers if no person column is given.

    Raises:
        RepeatedIdentifier: The deciding identifier has repeated values.
    """
    found = deciding_identifier(data, identifiers)
    if found is not None and found.repeats:
        raise RepeatedIdentifier(found.column, found.distinct, found.filled)
