"""Singling out: people with values that nobody else has, outside the quasi-identifiers.

k-anonymity covers only the quasi-identifiers. A coordinate, an exact amount or a time stamp that is
published unchanged can identify a person alone, regardless of the size of the classes.

    singling_out   people who are alone with a value of a column, or with several values together
    count_linked   people whom all their rows together single out, if a published identifier links
                   rows: neither the number of rows nor unchanged columns are covered by a guarantee

The attacker needs no model of the population: a count over the released rows is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import count_of, listed_names
from shoal.table import encoding
from shoal.table.classes import Classes
from shoal.table.column import Column, Role
from shoal.table.linked import linked_sets, profiles
from shoal.table.people import Unit, count_distinct, group

# below one person in 20, and for fewer than 5, values are rare as they are in every table; above, a
# column works as an identifier
NOTABLE_SHARE = 0.05
NOTABLE_PEOPLE = 5
_MAX_NAMED = 3
_MAX_LISTED = 8
UNCHANGED = (Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True)
class Uniques:
    """People whose combination of values in some columns no one else has.

    Parameters:
        columns: The columns.
        alone: People who are unique in these columns.
        with_quasi: People who are unique in these columns and the published quasi-identifiers; None
            if they were not counted.
        people: Released people.
    """

    columns: tuple[str, ...]
    alone: int
    with_quasi: int | None
    people: int

    @property
    def alone_share(self) -> float:
        """Share of the released people who are unique in these columns."""
        return self.alone / max(self.people, 1)

    @property
    def with_quasi_share(self) -> float | None:
        """Share of those who are unique if the quasi-identifiers are known too."""
        return None if self.with_quasi is None else self.with_quasi / max(self.people, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "columns": list(self.columns),
            "alone": self.alone,
            "alone_share": self.alone_share,
            "with_quasi": self.with_quasi,
            "with_quasi_share": self.with_quasi_share,
            "people": self.people,
        }


@dataclass(frozen=True)
class SinglingOut:
    """People who are singled out by columns that are published unchanged.

    Parameters:
        people: Released people.
        columns: The counts of each column.
        together: The counts of all columns together, None if there are not several.
        insensitive: The counts of all columns that no guarantee covers, together; None without any.
    """

    people: int
    columns: tuple[Uniques, ...]
    together: Uniques | None
    insensitive: Uniques | None

    @property
    def identifying(self) -> tuple[Uniques, ...]:
        """The columns that alone single out many people, worst first."""
        notable = [each for each in self.columns if is_notable(each.alone, each.people)]
        return tuple(sorted(notable, key=lambda each: -each.alone))

    @property
    def notable(self) -> bool:
        """Whether many people are singled out: the guarantee alone would give a wrong picture.

        Sensitive values with the quasi-identifiers do not count: classes are meant to show
        different ones.
        """
        return bool(self.identifying) or self._together_notable or self._insensitive_notable

    @property
    def _together_notable(self) -> bool:
        return self.together is not None and is_notable(self.together.alone, self.people)

    @property
    def _insensitive_notable(self) -> bool:
        found = None if self.insensitive is None else self.insensitive.with_quasi
        return found is not None and is_notable(found, self.people)

    def sentences(self, say: Callable[[int, int], str] = count_of) -> list[str]:
        """Return what is notable, in words; `say` puts a count of people and its total in words."""
        sentences = [
            f"{each.columns[0]} is published unchanged and singles out "
            f"{say(each.alone, self.people)}: nobody else has their value"
            for each in self.identifying[:_MAX_NAMED]
        ]
        more = [each.columns[0] for each in self.identifying[_MAX_NAMED:]]
        if more:
            listed = listed_names(more, _MAX_LISTED)
            sentences.append(f"{listed} also single out people, as many or fewer")
        if self.together is not None and self._together_notable:
            names = listed_names(self.together.columns, _MAX_LISTED)
            if not self.identifying:
                sentences.append(
                    f"{names} are published unchanged and together single out "
                    f"{say(self.together.alone, self.people)}"
                )
            elif self.together.alone > self.identifying[0].alone:
                sentences.append(
                    f"all {len(self.columns)} columns published unchanged together single out "
                    f"{say(self.together.alone, self.people)}"
                )
        if not sentences and self._insensitive_notable:
            assert self.insensitive is not None
            assert self.insensitive.with_quasi is not None
            names = listed_names(self.insensitive.columns, _MAX_LISTED)
            sentences.append(
                f"the quasi-identifiers and {names}, published unchanged, together single out "
                f"{say(self.insensitive.with_quasi, self.people)}"
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, and in words what is notable."""
        return {
            "people": self.people,
            "notable": self.notable,
            "columns": [each.to_dict() for each in self.columns],
            "together": None if self.together is None else self.together.to_dict(),
            "insensitive": None if self.insensitive is None else self.insensitive.to_dict(),
            "sentences": self.sentences(),
        }


def is_notable(count: int, people: int) -> bool:
    """Return whether a count of people is more than a few with rare values."""
    return count >= NOTABLE_PEOPLE and count > NOTABLE_SHARE * people


def singling_out(classes: Classes, *, with_quasi: bool = True) -> SinglingOut:
    """Count the released people with unique values in columns that are published unchanged.

    A person with several rows is singled out by a row that no other person shares. A missing value
    counts as a value: the only person without a value is singled out too.

    Parameters:
        classes: The classes of the released rows; the sensitive and the insensitive columns of
            their table are published unchanged.
        with_quasi: Whether to count with the quasi-identifiers too, as the classes show them.

    Returns:
        The counts, for each column, for all together, and for the insensitive ones.

    Examples:
        >>> import pyarrow as pa
        >>> from shoal.table.table import Table
        >>> data = pa.table({"zip": ["1", "1", "2", "2"], "height": [170, 181, 170, 170]})
        >>> table = Table.from_arrow(data, {"zip": "quasi", "height": "sensitive"})
        >>> found = singling_out(Classes.by_quasi(table))
        >>> found.columns[0].alone, found.columns[0].with_quasi
        (1, 2)
    """
    counter = _Counter(classes, with_quasi)
    table = classes.table
    unchanged = [column for column in table if column.role in UNCHANGED]
    insensitive = [column for column in unchanged if column.role is Role.INSENSITIVE]
    return SinglingOut(
        people=classes.released_people,
        columns=tuple(counter.count([column]) for column in unchanged),
        together=counter.count(unchanged) if len(unchanged) > 1 else None,
        insensitive=counter.count(insensitive) if insensitive else None,
    )


class _Counter:
    """Counts over the released rows of classes."""

    def __init__(self, classes: Classes, with_quasi: bool) -> None:
        self.classes, self.with_quasi = classes, with_quasi
        self.rows = np.flatnonzero(classes.ids >= 0)
        self.codes: dict[str, Codes] = {}
        table = classes.table
        self.person = None if table.person is None else table.person.take(self.rows)
        self.counts = None if table.counts is None else table.counts[self.rows]

    def codes_of(self, column: Column) -> Codes:
        """(released rows,) a number for each value, computed once."""
        if column.name not in self.codes:
            self.codes[column.name] = _value_numbers(column)[self.rows]
        return self.codes[column.name]

    def count(self, columns: Sequence[Column]) -> Uniques:
        """Return the number of people who are unique in these columns."""
        names = tuple(column.name for column in columns)
        codes = [self.codes_of(column) for column in columns]
        domains = [int(each.max(initial=0)) + 1 for each in codes]
        if not len(self.rows):
            return Uniques(names, 0, 0 if self.with_quasi else None, 0)
        values = group(codes, domains)
        alone = count_alone(values.ids, len(values), self.person, self.counts)
        both = None
        if self.with_quasi:
            ids = self.classes.ids[self.rows]
            pairs = group([ids, values.ids], [len(self.classes), len(values)])
            both = count_alone(pairs.ids, len(pairs), self.person, self.counts)
        return Uniques(names, alone, both, self.classes.released_people)


def _value_numbers(column: Column) -> Codes:
    """(rows,) a number for each value; insensitive columns store one per row, with repeats."""
    if column.role is not Role.INSENSITIVE:
        return column.codes
    cells = column.values
    if pa.types.is_nested(cells.type):
        cells = pa.array([None if cell is None else repr(cell) for cell in cells.to_pylist()])
    encoded = encoding.with_missing(cells, column.name).dictionary_encode(null_encoding="encode")
    numbers: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return numbers[column.codes]


def count_alone(
    ids: Codes, groups: int, person: Unit | None = None, counts: Counts | None = None
) -> int:
    """Return the number of people with a row in a group that no other person is in.

    Parameters:
        ids: (rows,) the group of each row.
        groups: Number of groups.
        person: The person of each row, None if each record is a different person.
        counts: (rows,) records behind each row of a weighted table.
    """
    if person is None:
        weights = None if counts is None else counts.astype(np.float64)
        return int(np.count_nonzero(np.bincount(ids, weights, minlength=groups) == 1))
    sizes = count_distinct(ids, groups, person)
    return len(np.unique(person.ids[sizes[ids] == 1]))


@dataclass(frozen=True)
class LinkedRows:
    """People singled out by the rows that a published identifier links.

    Parameters:
        columns: The identifiers that link rows.
        people: Sets of linked rows: people, unless a person has several identifiers.
        by_count: People who are unique by their quasi-identifiers and their number of rows.
        by_values: People who are unique by the set of all values in their rows.
    """

    columns: tuple[str, ...]
    people: int
    by_count: int
    by_values: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "columns": list(self.columns),
            "people": self.people,
            "by_count": self.by_count,
            "by_count_share": self.by_count / max(self.people, 1),
            "by_values": self.by_values,
            "by_values_share": self.by_values / max(self.people, 1),
        }


def count_linked(release: Release) -> LinkedRows | None:
    """Count the people whom linked rows single out; None if no rows are linked.

    >>> import pyarrow as pa
    >>> import shoal
    >>> visits = pa.table({"who": list("aabbccc"), "age": [30, 30, 31, 31, 32, 32, 32]})
    >>> release = shoal.anonymize(visits, k=3, quasi="age", person="who",
    ...     replace={"who": "pseudonym"}, key=shoal.identifiers.Key.new(), domain="a study")
    >>> count_linked(release).by_count
    1
    """
    if release.original.counts is not None:
        return None  # the rows stand for rows on disk, where they are counted
    links = {name: each for name, each in release.replaced.items() if each.links}
    rows = np.flatnonzero(release.classes.ids >= 0)
    sets = linked_sets([each.take(rows) for each in links.values()])
    if sets is None:
        return None
    classes = release.classes.ids[rows]
    shown = profiles(sets, classes)
    people = int(sets.max()) + 1
    first = group([sets], [people]).first
    sizes = np.bincount(sets, minlength=people)
    counted = group([shown[first], sizes], [int(shown.max()) + 1, int(sizes.max()) + 1])
    unchanged = [c for c in release.original if c.role in (Role.SENSITIVE, Role.INSENSITIVE)]
    codes = [classes, *(_codes(column, rows) for column in unchanged)]
    values = group(codes, [int(each.max()) + 1 for each in codes])
    whole = profiles(sets, values.ids)[first]
    return LinkedRows(
        tuple(links),
        people,
        int((counted.sizes() == 1).sum()),
        int((np.bincount(whole) == 1).sum()),
    )


def _codes(column: Column, rows: Any) -> Codes:
    """(rows,) a code for each cell; equal codes are equal values."""
    if column.role is Role.SENSITIVE:
        kept: Codes = column.codes[rows]
        return kept
    codes, _ = encoding.encode(column.take(rows).to_arrow(), column.name)
    return codes
