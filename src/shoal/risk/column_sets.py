"""Sets of columns: which of them identify people, and which re-identify people in a release.

    exposure              in a release: a record is linked to the right person with probability at
                          most one in the records published alike in the known attributes, so at
                          most as many people are re-identified as there are kinds of records
    identifying_columns   in a table: distinction, the share of rows that remain if equal rows are
                          merged, and separation, the share of pairs of rows that differ

If people have several records, the bound of exposure is the largest number of records of one person
in each kind, summed over kinds; distinction is the mean over people of 1 / (people who share the
values of their most identifying row), and separation uses pairs of rows of different people. All
figures only grow as columns are added, which is why most sets need not be counted. Motwani & Xu,
"Efficient algorithms for masking and finding quasi-identifiers", VLDB 2007.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.risk.assessment import Method, assess
from shoal.risk.graphs import check_known, published_as
from shoal.risk.population.frequencies import chosen_columns
from shoal.risk.reidentification import highest_by_person
from shoal.support.arrays import Codes, Counts
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report
from shoal.support.proportions import proportion
from shoal.table.classes import SUPPRESSED
from shoal.table.column import Column, Role
from shoal.table.coverage import as_published
from shoal.table.members import Members
from shoal.table.people import Grouping, Unit, group
from shoal.table.table import Table

_MAX_EXPOSED_SETS = 20_000  # sets of one size
Names = tuple[str, ...]


@dataclass(frozen=True)
class Exposed:
    """The risk if an attacker knows these attributes, from `exposure`.

    Attributes:
        known: The attributes.
        value: Expected number of re-identified people, as in an assessment.
        low: Lower end of its interval.
        high: Upper end of its interval.
        method: How it was computed.
        forced: People with a row that can only be matched with their own records.
        bound: Upper bound on the number of re-identified people.
    """

    known: Names
    value: float
    low: float | None
    high: float | None
    method: str
    forced: int
    bound: int


@dataclass(frozen=True)
class Exposure:
    """Result of `exposure`: the sets of attributes that re-identify the most people, worst first.

    Attributes:
        people: Number of released people.
        exposed: The worst sets of each size.
        sets: Number of possible sets.
        assessed: Number of sets that were assessed.
        complete: Whether no other set can be worse; otherwise the limit was reached.
    """

    people: int
    exposed: tuple[Exposed, ...]
    sets: int
    assessed: int
    complete: bool

    def of_size(self, size: int) -> tuple[Exposed, ...]:
        """Return the sets with this number of attributes."""
        return tuple(each for each in self.exposed if len(each.known) == size)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return asdict(self)


def exposure(
    release: Release,
    among: Iterable[str] | None = None,
    *,
    most: int = 3,
    top: int = 3,
    limit: int = 100,
    method: Method = "auto",
    half_width: float = 0.05,
    present: bool = True,
    seed: int | None = None,
    threads: int | None = None,
) -> Exposure:
    """Return, for each number of attributes, the sets that re-identify the most people.

    Parameters:
        release: The release.
        among: Attributes that may be known, by default the quasi-identifiers.
        most: Maximum number of attributes in a set.
        top: Number of sets to return for each size.
        limit: Maximum number of sets to assess.
        method: As for `assess`.
        half_width: As for `assess`.
        present: As for `assess`.
        seed: As for `assess`.
        threads: As for `assess`.

    Returns:
        The worst sets of each size.

    Raises:
        InputError: An option is wrong, or there are too many sets.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "sex": ["f", "m", "f", "m"]})
    >>> release = shoal.anonymize(rows, k=2, quasi=["age", "sex"])
    >>> [(each.known, each.value) for each in exposure(release).exposed]
    [(('sex',), 2.0), (('age',), 1.5), (('age', 'sex'), 2.0)]
    """
    for name, value in (("most", most), ("top", top), ("limit", limit)):
        check_whole(name, value, 1)
    names = check_known(release, among)
    most = min(most, len(names))
    sizes = range(1, most + 1)
    if max((comb(len(names), size) for size in sizes), default=0) > _MAX_EXPOSED_SETS:
        raise InputError(
            f"{len(names)} attributes have too many sets of up to {most}; name fewer attributes, "
            "or lower `most`"
        )
    options = {
        "method": method,
        "half_width": half_width,
        "present": present,
        "seed": seed,
        "threads": threads,
    }
    kinds, worst, left, complete = _Kinds(release), [], limit, True
    # largest sets first: their counts bound those of all their subsets
    for size in reversed(sizes):
        best, used, finished = _worst_of_size(release, names, size, top, left, kinds, options)
        worst += best
        left -= used
        complete &= finished
    sets = sum(comb(len(names), size) for size in sizes)
    worst.sort(key=lambda each: (len(each.known), -each.value, each.known))
    return Exposure(release.classes.released_people, tuple(worst), sets, limit - left, complete)


def _worst_of_size(
    release: Release,
    names: Names,
    size: int,
    top: int,
    limit: int,
    kinds: _Kinds,
    options: dict[str, Any],
) -> tuple[list[Exposed], int, bool]:
    """Return the worst sets of a size, how many were assessed, and whether none can be worse."""
    # a heap of sets by their bound, highest first; a set comes out up to twice: with a bound from
    # its supersets, and again with the bound counted for the set itself, after which it is assessed
    every = list(combinations(names, size))
    waiting = [(-kinds.at_most(each, names), at, False) for at, each in enumerate(every)]
    heapq.heapify(waiting)
    best: list[Exposed] = []
    used = 0
    while waiting:
        bound, at, sure = heapq.heappop(waiting)
        if len(best) == top and -bound <= best[-1].value:
            return best, used, True
        if not sure:
            heapq.heappush(waiting, (-kinds.count(every[at]), at, True))
            continue
        if used == limit:
            return best, used, False
        report("attributes", used)
        risk = assess(release, every[at], **options)
        figures = risk.value, risk.low, risk.high, risk.method, risk.forced
        best = sorted(
            [*best, Exposed(every[at], *figures, -bound)],
            key=lambda each: (-each.value, each.known),
        )[:top]
        used += 1
    return best, used, True


class _Kinds:
    """Upper bounds on the people that a set of attributes can re-identify, counted on demand."""

    def __init__(self, release: Release) -> None:
        self.release, self.ids = release, release.classes.ids
        self.rows = np.flatnonzero(self.ids != SUPPRESSED)
        self.known: dict[Names, int] = {}
        self.columns: dict[str, tuple[Any, int]] = {}

    def at_most(self, known: Names, names: Names) -> int:
        """Return a bound without counting, from supersets that were already counted."""
        more = [tuple(n for n in names if n in known or n == one) for one in names]
        return min(
            (self.known[each] for each in more if each in self.known),
            default=self.release.original.records,
        )

    def count(self, known: Names) -> int:
        """Return the number of kinds, or the largest records of one person summed over kinds."""
        if known not in self.known:
            for name in known:
                if name not in self.columns:
                    said = as_published(published_as(self.release, name), self.ids)
                    self.columns[name] = said.codes[self.rows], len(said.labels)
            codes, domains = zip(*(self.columns[name] for name in known), strict=True)
            self.known[known] = self._bound(group(codes, domains))
        return self.known[known]

    def _bound(self, kinds: Grouping) -> int:
        table = self.release.original
        if table.person is None:
            return len(kinds)
        person = Unit(table.person.columns, table.person.ids[self.rows], table.person.count)
        counts = None if table.counts is None else table.counts[self.rows]
        members = Members.of(kinds.ids, person, counts)
        most = np.zeros(len(kinds), dtype=np.int64)
        np.maximum.at(most, members.place, members.rows)
        return int(most.sum())


_MAX_IDENTIFYING_SETS = 200_000  # sets of columns


@dataclass(frozen=True)
class ColumnSet:
    """How well a set of columns distinguishes people, from `identifying_columns`.

    Attributes:
        columns: The columns.
        distinction: Mean over people of 1 / (number of people who share the values of their most
            identifying row); distinct tuples / rows if each row is a person.
        separation: Share of pairs of rows of different people that differ.
        alone: Share of people with a row whose values no other person has.
        low: Lower end of the 95 % interval of the separation; equal to it if all rows were counted.
        high: Upper end of that interval.
        counted: Whether all rows were counted; if not, the figures come from a sample, whose
            distinction and share of people alone are greater than the table's.
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float
    alone: float
    low: float
    high: float
    counted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {**self.__dict__, "columns": list(self.columns)}


@dataclass(frozen=True)
class IdentifyingColumns:
    """Result of `identifying_columns`: sets of columns by how well they distinguish people.

    Attributes:
        rows: Number of rows of the table.
        people: Number of people of the table.
        sampled: Number of rows that were evaluated.
        wanted: The distinction of a near-key.
        sets: All evaluated sets, most identifying first.
        keys: The smallest sets with at least this distinction, fewest columns first; none of them
            contains another.
        skipped: Number of sets that were not evaluated because they contain a near-key.
    """

    rows: int
    people: int
    sampled: int
    wanted: float
    sets: tuple[ColumnSet, ...]
    keys: tuple[ColumnSet, ...]
    skipped: int

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return the figures as plain data, the first `most` of the sets."""
        return {
            "rows": self.rows,
            "people": self.people,
            "sampled": self.sampled,
            "wanted": self.wanted,
            "sets": [each.to_dict() for each in self.sets[:most]],
            "keys": [each.to_dict() for each in self.keys],
            "skipped": self.skipped,
        }


def identifying_columns(
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    most: int = 3,
    distinction: float = 0.9,
    sample: int = 100_000,
    counted: int = 20,
    seed: int = 0,
) -> IdentifyingColumns:
    """Measure every set of up to `most` columns, and list those that identify nearly everyone.

    Parameters:
        table: The table.
        columns: By default all except identifiers and insensitive columns.
        most: Maximum number of columns in a set.
        distinction: The distinction of a near-key; sets that contain a near-key are not evaluated.
        sample: Number of rows to evaluate in a larger table, with all rows of a person or none.
        counted: Number of the most identifying sets of the sample to count in all rows.
        seed: Seed of the sample.

    Returns:
        The sets and the near-keys.

    Raises:
        InputError: There are too many sets of columns.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 31, 47, 47], "sex": ["f", "m", "f", "m"]})
    >>> table = shoal.read(rows, roles={"age": "quasi", "sex": "quasi"})
    >>> [key.columns for key in identifying_columns(table).keys]
    [('age', 'sex')]
    """
    check_whole("most", most, 1)
    check_range("distinction", distinction, 0, 1, above=True)
    check_whole("sample", sample, 2)
    if columns is None:
        excluded = (Role.IDENTIFIER, Role.INSENSITIVE)
        columns = [column.name for column in table if column.role not in excluded]
    chosen = [table[name] for name in chosen_columns(table, columns)]
    total = sum(comb(len(chosen), size) for size in range(1, min(most, len(chosen)) + 1))
    if total > _MAX_IDENTIFYING_SETS:
        raise InputError(
            f"{total:,} sets of columns are too many; name fewer columns, or lower `most`"
        )
    rows = _sampled_rows(table, sample, seed)
    sets = _IdentifyingSearch(table, chosen, rows, distinction).run(min(most, len(chosen)), total)
    sets = _recount(table, sets, counted)
    ranked = sorted(sets, key=lambda one: (-one.distinction, -one.separation, len(one.columns)))
    keys = sorted(
        (one for one in sets if one.distinction >= distinction),
        key=lambda one: (len(one.columns), -one.distinction),
    )
    return IdentifyingColumns(
        len(table),
        table.people,
        len(rows),
        distinction,
        tuple(ranked),
        tuple(keys),
        total - len(sets),
    )


def _sampled_rows(table: Table, sample: int, seed: int) -> Counts:
    if len(table) <= sample or table.counts is not None:
        return np.arange(len(table))
    rng = np.random.default_rng(seed)
    if table.person is None:
        return np.sort(rng.choice(len(table), sample, replace=False))
    order = rng.permutation(table.person.count)
    rows = np.cumsum(np.bincount(table.person.ids, minlength=len(order))[order])
    drawn = order[: max(int(np.searchsorted(rows, sample, side="right")), 2)]
    return np.flatnonzero(np.isin(table.person.ids, drawn))


class _IdentifyingSearch:
    """A search over sets of columns by size; each set extends the set of its first columns."""

    def __init__(
        self, table: Table, columns: Sequence[Column], rows: Counts, wanted: float
    ) -> None:
        self.table, self.wanted = table, wanted
        self.whole = len(rows) == len(table)
        self.columns = columns if self.whole else [column.take(rows) for column in columns]
        self.person = table.person
        if self.person is not None and not self.whole:
            self.person = self.person.take(rows)
        self.keys: list[frozenset[int]] = []

    def run(self, most: int, total: int) -> list[ColumnSet]:
        """Return the evaluated sets."""
        measured: list[ColumnSet] = []
        # groups of equal rows of the sets one column smaller, so that a set needs one column more
        groups: dict[tuple[int, ...], Grouping] = {}
        for size in range(1, most + 1):
            grown: dict[tuple[int, ...], Grouping] = {}
            fresh: list[frozenset[int]] = []
            for chosen in self._without_keys(size):
                report("identifying columns", len(measured), total)
                made = self._group(groups.get(chosen[:-1]), chosen)
                names = tuple(self.columns[place].name for place in chosen)
                measured.append(self._measure(names, made))
                if measured[-1].distinction >= self.wanted:
                    fresh.append(frozenset(chosen))
                elif size < most:
                    grown[chosen] = made
            self.keys += fresh
            groups = grown
        return measured

    def _measure(self, names: tuple[str, ...], made: Grouping) -> ColumnSet:
        """Measure a set; near-keys of a sample are counted in all rows."""
        if self.whole:
            return _measured(names, made, self.table.counts, self.person)
        people = len(made.ids) if self.person is None else self.person.count
        sampled = _sampled(_measured(names, made, None, self.person), people)
        return count(self.table, names) if sampled.distinction >= self.wanted else sampled

    def _without_keys(self, size: int) -> Iterator[tuple[int, ...]]:
        """Yield the sets of a size that contain no near-key."""
        for chosen in combinations(range(len(self.columns)), size):
            if not any(key <= set(chosen) for key in self.keys):
                yield chosen

    def _group(self, parent: Grouping | None, chosen: tuple[int, ...]) -> Grouping:
        last = self.columns[chosen[-1]]
        if parent is None:
            return group([last.codes], [last.domain])
        ids: Codes = parent.ids
        return group([ids, last.codes], [len(parent), last.domain])


def count(table: Table, names: tuple[str, ...]) -> ColumnSet:
    """Measure one set of columns in all rows of a table."""
    columns = [table[name] for name in names]
    made = group([c.codes for c in columns], [c.domain for c in columns])
    return _measured(names, made, table.counts, table.person)


def _measured(
    names: tuple[str, ...], made: Grouping, counts: Counts | None, person: Unit | None
) -> ColumnSet:
    if person is not None:
        return _measured_people(names, Members.of(made.ids, person, counts))
    sizes = made.sizes(counts).astype(np.float64)
    rows = float(sizes.sum())
    pairs = rows * (rows - 1)
    apart = 1 - float((sizes * (sizes - 1)).sum()) / pairs if pairs else 1.0
    alone = float((sizes == 1).sum()) / max(rows, 1)
    return ColumnSet(names, len(made) / max(rows, 1), apart, alone, apart, apart, True)


def _measured_people(names: tuple[str, ...], members: Members) -> ColumnSet:
    people = np.bincount(members.place)[members.place]  # (pairs,) who share the values
    highest = highest_by_person(1 / people, members)[members.present]
    rows = members.rows.astype(np.float64)
    tuples = np.bincount(members.place, rows)
    mine = np.bincount(members.person, rows)
    pairs = tuples.sum() ** 2 - (mine**2).sum()  # of rows of different people
    alike = (tuples**2).sum() - (rows**2).sum()
    apart = 1 - float(alike / pairs) if pairs else 1.0
    count = max(len(highest), 1)
    alone = float((highest == 1).sum()) / count
    return ColumnSet(names, float(highest.sum()) / count, apart, alone, apart, apart, True)


def _sampled(one: ColumnSet, people: int) -> ColumnSet:
    """Return a set with the interval of its separation: that of as many pairs of different people.

    The average over all pairs of a sample varies less than that, if people have as many rows each.
    """
    tries = people // 2
    interval = proportion(round(one.separation * tries), tries)
    return replace(one, low=interval.low, high=interval.high, counted=False)


def _recount(table: Table, sets: Sequence[ColumnSet], counted: int) -> list[ColumnSet]:
    """Return the sets, of which the most identifying ones of a sample are counted in all rows."""
    ranked = sorted(sets, key=lambda one: (one.counted, -one.distinction, -one.separation))
    open_sets = [one for one in ranked if not one.counted][:counted]
    again = []
    for place, one in enumerate(open_sets):
        report("count in all rows", place, len(open_sets))
        again.append(count(table, one.columns))
    return [*again, *ranked[len(open_sets) :]]
