"""The narrow interface of stores: a few operations on rows that stay where they are.

Methods know nothing of stores, and stores know nothing of methods: a store counts, maps, joins and
sorts whole numbers. Classes are built here from what it counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from shoal.files.formats import Format
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.partitions import Outcome, Partition, PublishedTexts, Work
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.classes import CountedClasses, Histogram, Tallies
from shoal.table.column import Column, Kind, Role
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.rows.queries import Released


PERSON, HOUSEHOLD = "person", "household"
LINKED = "\0linked"  # stands for the sets of linked rows among the names of columns


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column.

    values: Arrow array, a null for missing ones. counts: (values,) rows with each value.
    """

    values: Any
    counts: Counts


@dataclass(frozen=True)
class Filled:
    """What is counted of an identifier.

    distinct: its distinct values. rows: rows with a value. words: mean number of words of a value,
    0 if it is no text.
    """

    distinct: int
    rows: int
    words: float


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The code of each distinct value of a column, as the engine returned the values."""

    values: Any
    codes: Codes
    domain: int


@dataclass(frozen=True, eq=False)
class Replacing:
    """How an identifier is published in another form.

    publish: returns the published cells of a batch, an Arrow table of `columns`.
    columns: the columns of the source that it needs, the identifier first.
    by_value: whether it is called once for each distinct value, else for all rows in batches.
    links: whether equal published cells link rows; only with `by_value`.
    refuse_shared: is called with the number of published cells that stand for several values; None
    if there are never any. recipe: all that decides about the published cells, without a secret.
    """

    publish: Callable[[Any], Any]
    columns: Sequence[str]
    by_value: bool
    links: bool
    refuse_shared: Callable[[int], NoReturn] | None
    recipe: str


@dataclass(frozen=True)
class Links:
    """What links the rows of a published file.

    columns: identifiers whose equal values link rows. people: whether the rows of a person are
    linked too. missing: texts that mean a missing value in columns that link or identify.
    """

    columns: tuple[str, ...] = ()
    people: bool = False
    missing: tuple[str, ...] = ()


UNLINKED = Links()


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows are encoded.

    dictionaries: the columns that become codes. plain: columns that stay as they are.
    person, household: the columns that identify them. People whom an identifier links are one
    person. replaced: identifiers that are published in another form.
    links: what links the rows of a published file.
    """

    dictionaries: Mapping[str, Dictionary]
    plain: Sequence[str] = ()
    person: Sequence[str] = ()
    household: Sequence[str] = ()
    replaced: Mapping[str, Replacing] = field(default_factory=dict)
    links: Links = UNLINKED

    def equals(self, other: Encoding) -> bool:
        """Return whether another encoding gives every row the same codes."""
        return (
            list(self.dictionaries) == list(other.dictionaries)
            and all(
                each.values.equals(other.dictionaries[name].values)
                and np.array_equal(each.codes, other.dictionaries[name].codes)
                for name, each in self.dictionaries.items()
            )
            and tuple(self.plain) == tuple(other.plain)
            and tuple(self.person) == tuple(other.person)
            and tuple(self.household) == tuple(other.household)
            and self.links == other.links
            and {n: each.recipe for n, each in self.replaced.items()}
            == {n: each.recipe for n, each in other.replaced.items()}
        )


@dataclass(frozen=True)
class Totals:
    """The numbers of rows, people and households; None if no column identifies them."""

    rows: int
    people: int | None = None
    households: int | None = None


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples of codes.

    node: which of the asked maps was applied. words: the tuples, packed.
    counts: (tuples,) rows of each. person, household: (tuples,) of each, None if not asked for.
    linked: (tuples,) the set of linked rows of each, None if not asked for or no rows are linked.
    """

    node: int
    words: list[Counts]
    counts: Counts
    person: Counts | None = None
    household: Counts | None = None
    linked: Counts | None = None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class Joined:
    """The result of each tuple: its words, and the words of its class.

    Tuples may be those of the only name `LINKED`: the numbers of sets of linked rows.
    """

    tuples: Packing
    words: list[Counts]
    classes: list[Counts]


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows are released, in which class.

    classes: the packing of the published quasi-identifiers.
    maps: for each of them the published code of each code; `joined` replaces them if it is given.
    dropped: the words of classes that are not released.
    by_row: whether the maps apply to the entries that were stored row by row.
    by_profile: whether rows are in one class only if the rows linked to them are in the same set of
    classes; further words of a class are then a digest of this set. Spark does not do this.
    """

    classes: Packing
    maps: Mapping[str, Codes]
    dropped: list[Counts] | None = None
    joined: Joined | None = None
    by_row: bool = False
    by_profile: bool = False


@dataclass(frozen=True, eq=False)
class Order:
    """The order of released rows, and how they are returned.

    packing: the published columns with a dictionary, in the order of the file.
    ranks: for each of these that is not a quasi-identifier, the rank of each code.
    plain: the other columns, each with the kind of its order: number, text, value, or natural for
    the order of few texts.
    sequence: all columns in the order of the file.
    """

    packing: Packing
    ranks: Mapping[str, Codes]
    plain: Mapping[str, str]
    sequence: Sequence[str]


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of classes: the words of each class, and its rows.

    value: (entries,) the code of a further column, if one was asked for.
    people, households: (entries,) different ones, None if they are unknown.
    """

    words: list[Counts]
    rows: Counts
    value: Codes | None = None
    people: Counts | None = None
    households: Counts | None = None


@dataclass(frozen=True)
class Facts:
    """What is known of a column that has no dictionary, in the released rows.

    distinct: its distinct values. numbers: whether all texts are numbers. widest: the largest
    absolute integer. midnights: whether all times are at midnight. formulas: whether a spreadsheet
    would run some texts.
    """

    distinct: int
    numbers: bool = False
    widest: int = 0
    midnights: bool = False
    formulas: bool = False

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Facts:
        """Return facts by name, as an engine returns them; None of no rows is nothing."""
        known: dict[str, Any] = {name: value or 0 for name, value in found.items()}
        return cls(**known)


class Scanned(Protocol):
    """How the rows of a source are read.

    names: the columns. types: the Arrow type of each column, None if all cells are text.
    guesses: file settings that the data determines.
    """

    @property
    def names(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def types(self) -> Mapping[str, Any] | None: ...  # noqa: D102

    @property
    def guesses(self) -> Mapping[str, str]: ...  # noqa: D102


class Source(Protocol):
    """Where rows are: files, or a frame of another system; its text is a description."""

    @property
    def name(self) -> Path:
        """The name of the source in messages."""

    def scan(self, form: Format, expected: set[str]) -> AbstractContextManager[Scanned]:
        """Return how to read the rows."""

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the engine of these rows, with working files in a folder."""


class Engine(Protocol):
    """Rows of one source.

    Six operations: statistics of columns, encoding, distinct tuples with counts, maps of their
    results back to the rows, a function mapped over partitions, and counts of what was written.
    `rest` and `close` free what they occupy.
    """

    name: str

    def statistics(
        self, most: Mapping[str, int], identifiers: Sequence[str] = ()
    ) -> Mapping[str, Values | Filled | int]:
        """Return the distinct values of columns, or their number if it exceeds `most`.

        identifiers: columns whose values are only counted, however many there are.
        """

    def encode(self, encoding: Encoding) -> Totals:
        """Encode all rows, and count them."""

    def tuples(
        self,
        packing: Packing,
        nodes: Sequence[Mapping[str, Codes]],
        most: int | None,
        people: bool = False,
    ) -> Tuples | int:
        """Return the distinct tuples after the first of the maps that leaves at most `most`.

        If there are always more, return the least number, approximately. A `most` of 0 only counts
        tuples, None returns all at the first map.
        people: count the rows of each person and household separately.
        """

    def release(self, plan: Plan) -> Released:
        """Return the released rows."""

    def count_written(
        self, files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool
    ) -> Counted:
        """Count the classes of written files.

        labels: for each quasi-identifier the published cells, in the order of their codes.
        value: a further column of `labels` to count by; if `labels` does not have it, its distinct
        cells are counted as people, each missing one as a person. text: whether the files are CSV.
        """

    def map_partitions(
        self,
        groups: Sequence[Sequence[Partition]],
        work: Work,
        processes: int | None = None,
        texts: PublishedTexts | None = None,
    ) -> Iterator[Outcome]:
        """Run the work on the rows of each group of partitions, and yield its outcomes in order.

        Groups without rows are left out. The rows of a group are sorted by all their cells, so that
        nothing depends on the order of the source.
        texts: collects the published texts; with it the entry of each row is kept for `release`,
        with a plan `by_row`.
        """

    def rest(self) -> None:
        """Free memory for work outside the engine."""

    def close(self) -> None:
        """Remove what the engine stored."""


def same_classes(one: Counted, other: Counted) -> bool:
    """Return whether two counts have the same classes with the same numbers of rows."""
    first, second = order_of(one), order_of(other)
    if len(first) != len(second) or any(bool((word < 0).any()) for word in other.words):
        return False
    pairs = zip([*one.words, one.rows], [*other.words, other.rows], strict=True)
    return all(np.array_equal(a[first], b[second]) for a, b in pairs)


def order_of(counted: Counted) -> Counts:
    """Return the order of classes by their words, then by the further column."""
    keys = [counted.value] if counted.value is not None else []
    words: list[Any] = [*keys, *counted.words[::-1]]
    return np.lexsort(words) if words else np.arange(1)


@dataclass(frozen=True, eq=False)
class Counting:
    """How classes are counted.

    classes: counts them, by the codes of a further column if one is named.
    with_value: counts their people with a value of a column; None if each row is one person.
    cells: the published cells of each quasi-identifier. total: of all classes.
    codes: for each sensitive column the code of each counted value, if they differ.
    count_people: counts the different people of some classes, in the order of `order_of`.
    """

    classes: Callable[[str | None], Counted]
    with_value: Callable[[str, int], Counted] | None
    cells: Mapping[str, Any]
    total: Totals
    codes: Mapping[str, Codes] | None = None
    count_people: Callable[[Bools], int] | None = None


def counted_classes(
    counting: Counting, sensitive: Mapping[str, Column], origin: Table | None = None
) -> CountedClasses:
    """Return classes with the values of sensitive columns.

    origin: the table whose distributions are assumed to be public.
    """
    whole = counting.classes(None)
    order = order_of(whole)
    words = [word[order] for word in whole.words]
    packing = Packing.of({name: len(each) + 1 for name, each in counting.cells.items()})
    columns = [
        Column(name, Role.QUASI, Kind.NOMINAL, packing.unpack(words, name), each)
        for name, each in counting.cells.items()
    ]
    people, rows, with_value = {}, {}, {}
    for name, column in sensitive.items():
        codes = None if counting.codes is None else counting.codes[name]
        people[name], rows[name] = histograms_of(counting.classes(name), codes)
        with_value[name] = _with_value(counting, column, whole, order, rows[name])
        columns.append(replace(column, codes=np.zeros(len(order), dtype=np.int32)))
    total = counting.total
    tallies = Tallies(
        whole.rows[order],
        None if whole.people is None else whole.people[order],
        None if whole.households is None else whole.households[order],
        total.people,
        total.households,
        people,
        rows,
        with_value,
        counting.count_people,
    )
    return CountedClasses.counted(Table(tuple(columns), tallies.rows), tallies, origin)


def _with_value(
    counting: Counting, column: Column, whole: Counted, order: Counts, rows: Histogram
) -> Counts:
    """(classes,) people with a value of a column that is not missing."""
    everyone = whole.rows if whole.people is None else whole.people
    if column.missing is None:
        return everyone[order]
    if counting.with_value is None or whole.people is None:
        known = np.where(rows.codes == column.missing, 0, rows.counts)
        return np.add.reduceat(known, rows.indptr[:-1]) if len(order) else known
    found = counting.with_value(column.name, column.missing)
    assert found.people is not None
    place = {key: n for n, key in enumerate(zip(*(w.tolist() for w in found.words), strict=True))}
    people = np.append(found.people, 0)
    keys = zip(*(word[order].tolist() for word in whole.words), strict=True)
    return people[[place.get(key, -1) for key in keys]]


def histograms_of(found: Counted, codes: Codes | None) -> tuple[Histogram, Histogram]:
    """Return the people and the rows of each class with each value."""
    assert found.value is not None
    values = found.value if codes is None else codes[found.value]
    keys: list[Any] = [values, *found.words[::-1]]
    order = np.lexsort(keys)
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[:1] = True
    for word in found.words:
        ordered = word[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    indptr = np.append(np.flatnonzero(fresh), len(order)).astype(np.int64)
    rows = Histogram(indptr, values[order].astype(np.int32), found.rows[order])
    if found.people is None:
        return rows, rows
    return Histogram(indptr, rows.codes, found.people[order]), rows
