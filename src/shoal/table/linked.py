"""Rows of one person that are seen together: every few of them, or all that an identifier links.

    `count_combinations`  for kᵐ-anonymity: how many people have each multiset of at most m rows
    `link_rows`           for published identifiers: anyone who sees a pseudonym sees all rows of a
                          person, who then hides only among people whose linked rows show the same
                          set of quasi-identifier values; so a class is a set of such people
    `Replaced`            an identifier in its published form, and whether it links rows

An event is the class of a row: all cells that the row publishes. A person has a multiset of events
if she has each of them at least as often. The set form is by Terrovitis, Mamoulis & Kalnis,
"Privacy-preserving anonymization of set-valued data", VLDB 2008; it does not cover two rows with
equal cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.progress import report
from shoal.table import encoding
from shoal.table.column import Column, Kind, Role
from shoal.table.people import Unit, group, group_keys, joined
from shoal.table.table import Table

_MAX_OF_PERSON = 1_000_000_000  # combinations of the rows of one person
_MAX_IN_ALL = 10_000_000_000  # combinations of the rows of each person, added up
_REPORTS = 50  # of progress
_PROFILE = "the rows linked to this one"  # the name of a quasi-identifier


@dataclass(frozen=True, eq=False)
class EventCounts:
    """What the multisets of at most m events show.

    fewest: the fewest people who have a multiset that a person has, 0 if nobody has an event.
    below: (people,) who has a multiset that fewer than k people have.
    alone: (people,) who has a multiset that nobody else has.
    rare: (events,) which are part of a multiset that fewer than k people have.
    """

    fewest: int
    below: Bools
    alone: Bools
    rare: Bools


def count_combinations(
    people: Codes, items: Codes, *, events: int, k: int, counts: Counts | None = None
) -> EventCounts:
    """Count the people with each multiset of at most `events` events that a person has.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
        events: The most events of a multiset.
        k: The number of people who should have each multiset.
        counts: (rows,) how many equal rows each row stands for; None for one.

    Raises:
        InputError: There are too many multisets to count.

    >>> import numpy as np
    >>> people, wards = np.array([0, 0, 1, 1, 2], np.int32), np.array([0, 1, 0, 1, 0], np.int32)
    >>> count_combinations(people, wards, events=1, k=3).rare.tolist()
    [False, True]
    >>> count_combinations(people, np.zeros(5, np.int32), events=2, k=3).fewest
    2
    """
    total = int(people.max()) + 1 if len(people) else 0
    count = int(items.max()) + 1 if len(items) else 0
    below, alone = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    rare = np.zeros(count, np.bool_)
    if not len(people):
        return EventCounts(0, below, alone, rare)
    pairs = group([people, items], [total, count])
    owners, held, sizes = people[pairs.first], items[pairs.first], pairs.sizes(counts)
    rows = np.bincount(owners, weights=sizes, minlength=total)
    most = int(min(events, rows.max()))
    times = np.minimum(sizes, most).astype(np.int32)
    _check_countable(owners, times, total, most)
    support = np.bincount(held, minlength=count)
    rare |= support < k
    below[owners[support[held] < k]] = True
    alone[owners[support[held] == 1]] = True
    fewest = int(support.min())
    if most > 1:
        # Every multiset with an event that nobody else has is rare. So the walk leaves such events
        # out, but all other events of their owner are rare too, in a multiset of the two.
        whole = below.copy()
        shared = support[held] > 1
        found = _walk(owners[shared], held[shared], times[shared], total, count, most, k)
        fewest = min(fewest, int(found.fewest[0]))
        whole |= found.whole
        below |= found.below
        alone |= found.alone
        rare |= found.rare
        rare[held[whole[owners]]] = True
    return EventCounts(fewest, below, alone, rare)


def _walk(
    owners: Codes, held: Codes, times: Codes, people: int, events: int, most: int, k: int
) -> Any:
    """Return what all multisets show, as `Found`.

    Events with few people come first, because their multisets have the fewest extensions.

    Parameters:
        owners, held, times: (pairs,) a person, an event and how often, ordered by person.
    """
    from shoal.table._combinations import Entries, Found, Walk, walk_cells

    fewest = np.full(1, len(owners) + 1, np.int64)
    below, alone, whole = (np.zeros(people, np.bool_) for _ in range(3))
    found = Found(fewest, below, alone, whole, np.zeros(events, np.bool_))
    if not len(owners):
        return found
    support = np.bincount(held, minlength=events)
    names = np.argsort(support, kind="stable")
    place = np.empty(events, np.int32)
    place[names] = np.arange(events, dtype=np.int32)
    order = group([owners, place[held]], [people, events]).first
    owners, cells, times = owners[order], place[held[order]], times[order]
    begins = np.concatenate([[0], np.cumsum(support[names])])
    by_cell = np.argsort(cells, kind="stable")
    later = _later(owners, cells, times, people, events)
    lists, opened = int(max(support.max(), later.max())), int(later.max()) if most > 2 else 0
    depths = max(most - 1, 1)
    work = Walk(
        np.zeros(events * most, np.int64),
        np.empty(min(int(later.max()), events * most), np.int64),
        np.empty((depths, lists), np.int64),
        *(np.empty((depths, opened), np.int64) for _ in range(3)),
        *(np.zeros(depths, np.int64) for _ in range(4)),
    )
    entries = Entries(owners, cells, times, begins, by_cell)
    ends = np.searchsorted(np.cumsum(later), np.linspace(0, later.sum(), _REPORTS + 1)[1:])
    begin = 0
    for step, end in enumerate([*(ends[:-1] + 1).tolist(), events]):
        report("count combinations", step, _REPORTS)
        walk_cells(begin, max(end, begin), k, most, entries, found, work)
        begin = max(end, begin)
    return found._replace(rare=found.rare[place])


def _later(owners: Codes, cells: Codes, times: Codes, people: int, events: int) -> Counts:
    """(events,) the occurrences of later events that the people with each event have, in all."""
    before = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])
    ends = np.cumsum(np.bincount(owners, minlength=people))
    after = before[ends[owners]] - before[1:]
    return np.bincount(cells, weights=after, minlength=events).astype(np.int64)


def _check_countable(owners: Codes, times: Codes, people: int, most: int) -> None:
    """Reject people with more combinations than can be counted.

    Raises:
        InputError: One person has too many, or all together.
    """
    each = count_multisets(owners, times, people, most)
    for number, limit, whose in (
        (each.max(), _MAX_OF_PERSON, "the rows of one person have"),
        (each.sum(), _MAX_IN_ALL, "the rows of each person have, added up,"),
    ):
        if number > limit:
            raise InputError(
                f"{whose} {number:,.0f} combinations of at most {most:,} rows, but at most "
                f"{limit:,} can be counted; choose a smaller m, name fewer known columns, or leave "
                "out people with very many rows"
            )


def count_multisets(owners: Codes, times: Codes, people: int, most: int) -> Floats:
    """(people,) the number of different multisets of 1 to `most` events that each person has.

    Parameters:
        owners: (pairs,) a person with an event.
        times: (pairs,) how often she has it, at most `most`.

    >>> owners, times = np.array([0, 0, 1], np.int32), np.array([1, 1, 2], np.int32)
    >>> count_multisets(owners, times, 2, 2).tolist()
    [3.0, 2.0]
    """
    # The number of multisets of size n is the coefficient of z^n in the product of 1 + z + … + z^t
    # over the person's events. Its logarithmic derivative adds up over the events: the power sum i
    # of 1 + z + … + z^t is 1, or −t if t + 1 divides i. Newton's identities give the coefficients.
    with_times = [
        np.bincount(owners[times == t], minlength=people).astype(np.float64)
        for t in range(1, most + 1)
    ]
    every = np.sum(with_times, axis=0)
    sums = []
    for i in range(1, most + 1):
        dividing = [(t + 1) * number for t, number in enumerate(with_times, 1) if i % (t + 1) == 0]
        sums.append(every - np.sum(dividing, axis=0))
    of_size = [np.ones(people)]
    for n in range(1, most + 1):
        of_size.append(np.sum([sums[i - 1] * of_size[n - i] for i in range(1, n + 1)], axis=0) / n)
    found: Floats = np.sum(of_size[1:], axis=0)
    return found


def link_rows(table: Table, identifiers: Sequence[Any], *, as_profiles: bool = True) -> Table:
    """Return published rows with one more quasi-identifier: what the linked rows show.

    The people of the table are then such that k of them are at least k sets of linked rows. The
    table is returned unchanged if no rows are linked.

    Parameters:
        table: The published rows.
        identifiers: The published columns that link them, as Arrow arrays.
        as_profiles: With False the quasi-identifiers stay as they are, for a guarantee that covers
            combinations of rows of a person.
    """
    sets = linked_sets(identifiers, table.counts)
    return link_sets(table, sets, as_profiles=as_profiles)


def link_sets(table: Table, sets: Codes | None, *, as_profiles: bool = True) -> Table:
    """Return the table as `link_rows` does, by the set of linked rows of each row, or None."""
    if sets is None or not len(table):
        return table
    linked = Unit((), sets, int(sets.max()) + 1)
    person = linked if table.person is None else joined(table.person, linked)
    if not as_profiles:
        return replace(table, person=person)
    quasi = table.quasi_columns
    classes = group([c.codes for c in quasi], [c.domain for c in quasi])
    shown = profiles(sets, classes.ids)
    names = pa.array(np.arange(int(shown.max()) + 1))
    profile = Column(_PROFILE, Role.QUASI, Kind.NOMINAL, shown, names)
    return replace(table, columns=(*table.columns, profile), person=person)


def linked_sets(identifiers: Sequence[Any], counts: Counts | None = None) -> Codes | None:
    """(rows,) the number of the set that each row is linked to; None if no rows are linked.

    Two rows are linked if they have the same value in one of the columns, or are both linked to
    another row. A missing value links nothing.

    Parameters:
        identifiers: The columns, as Arrow arrays.
        counts: (rows,) how many equal rows each row stands for; None for one.
    """
    sets: Codes | None = None
    for cells in identifiers:
        equal = _equal_cells(cells, counts)
        if equal is None:
            continue
        if sets is None:
            sets = equal
        else:
            one, other = (Unit((), ids, int(ids.max()) + 1) for ids in (sets, equal))
            sets = joined(one, other).ids
    return sets


def _equal_cells(cells: Any, counts: Counts | None) -> Codes | None:
    """(rows,) the number of each cell, with one of its own for a missing cell; None if unique."""
    plain = encoding.with_missing(cells, "")
    encoded = plain.dictionary_encode(null_encoding="mask")
    distinct, missing = len(encoded.dictionary), plain.null_count
    several = counts is not None and bool((counts[plain.is_valid().to_numpy(False)] > 1).any())
    if distinct + missing == len(plain) and not several:
        return None
    ids: Codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    ids[ids < 0] = distinct + np.arange(missing, dtype=np.int32)
    return ids


def representatives(sets: Codes, columns: Sequence[Column]) -> Counts:
    """Return a row of each set: the first by its values, so that no order of rows decides.

    Parameters:
        sets: (rows,) the set that each row belongs to, without gaps.
        columns: The columns whose values are compared, the first of them first.
    """
    first = group_keys(sets.astype(np.int64)).first
    varying = [column.codes for column in columns if not is_constant(column, sets, first)]
    if not varying:
        return first
    order = np.lexsort([*varying[::-1], sets])
    starts = np.flatnonzero(np.diff(sets[order], prepend=-1))
    return order[starts].astype(np.int64)


def is_constant(column: Column, sets: Codes, first: Counts) -> bool:
    """Return whether all rows of each set have one value; `first` is a row of each set."""
    return bool(np.array_equal(column.codes[first][sets], column.codes))


def profiles(sets: Codes, classes: Codes) -> Codes:
    """(rows,) a number for the set of classes that the rows linked to each row are in.

    Two numbers are equal if and only if the sets of classes are equal. How many rows of a class a
    person has makes no difference.

    Parameters:
        sets: (rows,) the set of linked rows that each row belongs to.
        classes: (rows,) the class of each row.
    """
    people, groups = int(sets.max()) + 1, int(classes.max()) + 1
    pairs = group([sets, classes], [people, groups]).first  # ordered by set, then by class
    owner, member = sets[pairs], classes[pairs].astype(np.int64)
    sizes = np.bincount(owner, minlength=people)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # walk down the sorted classes of all sets at once: sets share a node while they agree
    node, fresh = sizes.astype(np.int64), int(sizes.max()) + 1
    active: Counts = np.arange(people)
    for step in range(int(sizes.max())):
        active = active[sizes[active] > step]
        reached = group([group_keys(node[active]).ids, member[starts[active] + step]],
                        [len(active), groups])  # fmt: skip
        node[active] = fresh + reached.ids
        fresh += len(reached)
    return group_keys(node).ids[sets]


@dataclass(frozen=True, eq=False)
class Replaced:
    """One identifier as it is published; `Release.replaced` has those of a release.

    Attributes:
        column: The name of the column.
        cells: (rows,) the published cells, as an Arrow array.
        links: Whether equal cells show that rows belong to one person.
        treatment: How the cells were made, in words.
        record: How the cells were made, as plain data, without any secret.
    """

    column: str
    cells: Any = field(repr=False)
    links: bool
    treatment: str
    record: Mapping[str, Any] = field(default_factory=dict)

    def take(self, rows: Any) -> Any:
        """Return the cells of some rows: positions, of which some may be missing, or a slice."""
        if isinstance(rows, slice):
            rows = np.arange(len(self.cells))[rows]
        return self.cells.take(rows if isinstance(rows, pa.Array) else pa.array(rows))
