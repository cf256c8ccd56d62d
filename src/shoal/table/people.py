"""Units of protection: the person, or the household, that each row is about.

Guarantees about people never count rows: one person with five rows is one person.

    `Unit`                 the person of each row, by the columns that identify people
    `deciding_identifier`  whether identifiers repeat, if no such column is declared
    `group`, `group_keys`  dense ids of equal rows; the only place that groups rows: codes are
                           packed into keys, which are sorted unless few are possible
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.errors import InputError, RepeatedIdentifier
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.support.wording import counted, folded_name
from shoal.table import encoding

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
_KEY_LIMIT = 2**62  # so that a key and a row number fit in one int64
_FEW = 2**16  # keys below this, or below the number of rows, are not sorted
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
        people = group([codes for codes, _ in encoded], [len(values) for _, values in encoded])
        return cls(tuple(columns), people.ids, len(people))

    def take(self, rows: Any) -> Unit:
        """Return the units of some rows, renumbered without gaps."""
        people = group_keys(self.ids[rows].astype(np.int64))
        return Unit(self.columns, people.ids, len(people))


def joined(person: Unit, household: Unit) -> Unit:
    """Return units such that k of them are at least k people and at least k households.

    These are usually the households. A person in several households merges them into one unit.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # a graph of people and households, with an edge for each row: units are its components
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
    """Return the identifier that decides who the people are, from its name and counts.

    Parameters:
        count: Counts the values of an identifier; None if it is free text or cannot be compared.
    """
    numbers = [name for name in identifiers if not is_free_text(name)]
    # only names of the best kind are counted: a visit number never decides against a patient's
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
    deciding = deciding_identifier(data, identifiers)
    if deciding is not None and deciding.repeats:
        raise RepeatedIdentifier(deciding.column, deciding.distinct, deciding.filled)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Dense ids of equal rows, numbered in lexicographic order of the columns.

    ids: (rows,) the group of each row.
    first: (groups,) one row of each group, the earliest.
    """

    ids: Codes
    first: Counts

    def __len__(self) -> int:
        return len(self.first)

    def sizes(self, counts: Counts | None = None) -> Counts:
        """Return the number of records in each group; `counts` are multiplicities of rows."""
        return sum_by(self.ids, len(self), counts)


def group(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> Grouping:
    """Group rows by equal codes; the codes of column j are below domains[j].

    columns: taken one at a time, so that a generator holds only one in memory.
    """
    return group_keys(_packed(columns, domains)[0])


def order_rows(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> Counts:
    """Return the rows in lexicographic order of their codes, equal ones in their own order.

    Parameters:
        columns: (rows,) codes, taken one at a time; those of column j are below domains[j].
        domains: The number of codes of each column.

    >>> order_rows([np.array([1, 0, 1]), np.array([0, 7, 0])], [2, 8]).tolist()
    [1, 0, 2]
    """
    keys, bound = _packed(columns, domains)
    bits = len(keys).bit_length()
    if bound <= _FEW:
        return np.argsort(keys.astype(np.uint16), kind="stable")  # 16 bits are sorted much faster
    if bound << bits > _KEY_LIMIT:
        return np.argsort(keys, kind="stable")
    return _sort_packed(keys, bits)[0]


def _packed(columns: Iterable[Codes | Counts], domains: Sequence[int]) -> tuple[Counts, int]:
    """Return (rows,) keys in the lexicographic order of the codes, and their bound."""
    if not domains:
        raise ValueError("nothing to group by")
    each = iter(columns)
    keys, bound = next(each).astype(np.int64), max(int(domains[0]), 1)
    limit = _KEY_LIMIT >> len(keys).bit_length()  # so that keys can be sorted with their rows
    for codes, domain in zip(each, domains[1:], strict=True):
        width = max(int(domain), 1)
        if bound > limit // width:  # the next key would be too long: replace keys by dense ids
            packed = group_keys(keys)
            keys, bound = packed.ids.astype(np.int64), len(packed)
        keys *= width
        keys += codes
        bound *= width
    return keys, bound


def sum_by(ids: Codes | Counts, groups: int, counts: Counts | None = None) -> Counts:
    """Return the number of rows, or the sum of their counts, in each group; id −1 is ignored."""
    if len(ids) and ids.min() < 0:
        kept = ids >= 0
        ids = ids[kept]
        counts = counts if counts is None else counts[kept]
    if counts is None:
        return np.bincount(ids, minlength=groups).astype(np.int64, copy=False)
    # float64 sums of counts are exact below 2**53 records
    return np.bincount(ids, weights=counts, minlength=groups).astype(np.int64)


def group_keys(keys: Counts) -> Grouping:
    """Group rows by one integer key each."""
    rows = len(keys)
    if not rows:
        return Grouping(frozen(np.empty(0, np.int32)), frozen(np.empty(0, np.int64)))
    low = int(keys.min())
    span = int(keys.max()) - low + 1
    keys = np.subtract(keys, low, dtype=np.int64)
    if span <= max(rows, _FEW):
        return _group_by_marks(keys, span)
    bits = rows.bit_length()
    if span << bits <= _KEY_LIMIT:
        order, starts = _sort_packed(keys, bits)
    else:
        order = np.argsort(keys, kind="stable")
        starts = _where_new(keys[order])
    ids = np.empty(rows, dtype=np.int32)
    ids[order] = np.cumsum(starts, dtype=np.int32) - 1
    return Grouping(frozen(ids), frozen(order[starts]))


def _group_by_marks(keys: Counts, span: int) -> Grouping:
    """Group rows by keys below a small span, without sorting."""
    present = np.zeros(span, dtype=np.bool_)
    present[keys] = True
    rank = np.cumsum(present, dtype=np.int32)
    rank -= 1
    ids = rank[keys]
    first = np.empty(int(rank[-1]) + 1, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(keys) - 1, -1, -1)  # the last one assigned remains
    return Grouping(frozen(ids), frozen(first))


def _sort_packed(keys: Counts, bits: int) -> tuple[Counts, Bools]:
    """Return the stable order of keys, and where a new key begins in it.

    Key and row number are sorted as one number, key first, which is several times faster than a
    stable sort of positions.

    Parameters:
        keys: Overwritten.
        bits: Width of a row number.
    """
    keys <<= bits
    keys |= np.arange(len(keys))
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    return order, _where_new(keys)


def _where_new(ordered: Counts) -> Bools:
    starts = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    return starts
