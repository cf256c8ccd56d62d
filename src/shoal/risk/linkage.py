"""Linkage attack: links an identified file with a release and looks people up.

This is the attack that found a governor in hospital data with the help of a voter list. Rows are
linked with records one to one; a person is re-identified if one of their rows is linked with one of
their records.

    split_for_linkage   a table to release, and a list of identified people of whom some are in it
    link                the best assignment of rows to released records (`alignment.py`)
    Success             how often the links are right, and how often random candidates would be

Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002; the comparison with
guessing after Giomi et al., "A unified framework for quantifying privacy risk in synthetic data",
PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.release.fitting import Fitting, Published, fit_people, published_cells, shared_columns
from shoal.release.release import Release
from shoal.risk.alignment import Assignment, best_assignment
from shoal.risk.reidentification import at_least_once, by_person
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.options import check_range, check_seed
from shoal.support.proportions import Interval, clustered_proportion, proportion, sum_of_chances
from shoal.table.members import KindEdges, Members
from shoal.table.people import Unit
from shoal.table.table import Table


@dataclass(frozen=True)
class Linkage:
    """Result of `link`: identified people linked with released records.

    Attributes:
        columns: The compared columns.
        people: Number of identified people.
        records: Number of released records.
        pairs: Pairs of an identified row and a record that fit.
        certain: People with a row that fits only one record.
        lost: People who fit no record.
        links: Rows linked by the best assignment.
        exact: Whether the assignment is proven to be the best.
        success: How often links are right, None if the truth is not given.
    """

    columns: tuple[str, ...]
    people: int
    records: int
    pairs: int
    certain: int
    lost: int
    links: int
    exact: bool
    success: Success | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        figures = asdict(self)
        if self.success is not None:
            for name in ("precision", "recall", "guess"):
                figures["success"][name] = getattr(self.success, name).to_dict()
        return figures


@dataclass(frozen=True, eq=False)
class Split:
    """Result of `split_for_linkage`: a table to release and an identified file.

    Attributes:
        released: The table to release.
        identified: The identified people.
        truth: (identified rows,) the row of each person in `released`, ABSENT if there is none.
    """

    released: Table
    identified: Table
    truth: Counts

    def __repr__(self) -> str:
        both = int((self.truth != ABSENT).sum())
        return (
            f"Split(released={len(self.released)}, identified={len(self.identified)}, both={both})"
        )


def split_for_linkage(table: Table, share: float = 0.5, seed: int = 0) -> Split:
    """Split a table into a table to release and a list of identified people; some are in both.

    Parameters:
        table: The table to split. All rows of a person go to the same part.
        share: Share of the people who are in both parts; the others are divided evenly.
        seed: Seed of the split.

    Returns:
        The two tables and which rows belong together.

    Raises:
        InputError: The table is weighted.

    >>> import shoal
    >>> split_for_linkage(shoal.datasets.patients(100), share=0.2)
    Split(released=60, identified=60, both=20)
    """
    check_range("share", share, 0, 1)
    check_seed(seed)
    if table.counts is not None:
        raise InputError("a weighted table cannot be split; read it without weights")
    rng = np.random.default_rng(seed)
    order = rng.permutation(table.people)
    both = round(share * len(order))
    alone = (len(order) - both + 1) // 2
    released = np.sort(_rows_of(table, order[: both + alone]))  # in the table's order
    others = np.concatenate([order[:both], order[both + alone :]])
    identified = rng.permutation(_rows_of(table, others))
    places = np.full(len(table), ABSENT, dtype=np.int64)
    places[released] = np.arange(len(released))
    return Split(table.take(released), table.take(identified), places[identified])


def _rows_of(table: Table, people: Counts) -> Counts:
    """Return the rows of some people."""
    if table.person is None:
        return people
    return np.flatnonzero(np.isin(table.person.ids, people))


def link(
    source: Release | Table,
    identified: Table,
    *,
    known: Sequence[str] | None = None,
    truth: Counts | None = None,
    seed: int = 0,
) -> Linkage:
    """Link identified people with a release, and measure how often the links are right.

    The attacker assumes that all cells are true and links no two rows with the same record. If the
    original or the identified table declares people with several rows, a link of any row of a
    person with any of their records is right, and people are counted.

    Parameters:
        source: A release, or an unprotected table.
        identified: The table of identified people.
        known: Columns that both have; by default the quasi-identifiers of both.
        truth: (identified rows,) the row of each person in the original, ABSENT if there is none.
        seed: Seed of random tie-breaking.

    Returns:
        The links and, if the truth is given, their success.

    Raises:
        InputError: A table is weighted or has no rows, the tables share no column to compare, or
            the truth is not valid.

    >>> import pyarrow as pa
    >>> import shoal
    >>> release = shoal.anonymize(pa.table({"age": [31, 33, 47, 48]}), k=2, quasi="age")
    >>> voters = shoal.read(pa.table({"age": [33, 47, 60]}), roles={"age": "quasi"})
    >>> found = link(release, voters)
    >>> found.links, found.certain, found.lost
    (2, 0, 1)
    """
    for table in (identified, source.original if isinstance(source, Release) else source):
        if table.counts is not None:
            raise InputError("a weighted table cannot be linked; read it without weights")
    names = shared_columns(source, identified, known)
    published, rows = published_cells(source, identified, names)
    if truth is not None:
        length = len(source.original) if isinstance(source, Release) else len(source)
        places = np.full(length, ABSENT, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        truth = np.asarray(truth, dtype=np.int64)
        _check_truth(truth, len(identified), length)
        truth = np.where(truth == ABSENT, ABSENT, places[truth])
    person = (source.original if isinstance(source, Release) else source).person
    owner = None if person is None else person.take(rows)
    return link_published(published, identified, truth, seed, owner)


def link_published(
    published: Mapping[str, Published],
    identified: Table,
    truth: Counts | None,
    seed: int = 0,
    person: Unit | None = None,
) -> Linkage:
    """Link identified people with published cells.

    Parameters:
        published: The released columns, in terms of the values of `identified`.
        identified: The table of identified people.
        truth: (identified rows,) the published row of each person, ABSENT if there is none.
        seed: Seed of random tie-breaking.
        person: The person of each published row, if known.

    Raises:
        InputError: The release or the identified table has no rows.
    """
    check_seed(seed)
    records = len(next(iter(published.values())).codes)
    if not records or not len(identified):
        raise InputError("nothing to link: the release or the identified table has no rows")
    fitting = fit_people(published, identified)
    assigned = best_assignment(fitting.fits)
    degrees, ones = fitting.records_of, np.ones(len(identified), dtype=np.int64)
    person_of_row = identified.person
    single = by_person((degrees == 1).astype(np.int64), ones, person_of_row, np.maximum)[0]
    most = by_person(degrees, ones, person_of_row, np.maximum)[0]
    success = None
    if truth is not None and person_of_row is None and person is None:
        success = success_of(fitting, assigned, truth, records, seed)
    elif truth is not None:
        success = people_success(
            fitting, assigned, Truth.of(truth, records, person_of_row, person), seed
        )
    return Linkage(
        tuple(published),
        identified.people,
        records,
        pairs=int(degrees.sum()),
        certain=int(single.sum()),
        lost=int((most == 0).sum()),
        links=int(assigned.linked.sum()),
        exact=assigned.exact,
        success=success,
    )


def _check_truth(truth: Counts, people: int, rows: int) -> None:
    known = truth[truth != ABSENT]
    if len(truth) != people or (len(known) and not 0 <= known.min() <= known.max() < rows):
        raise InputError("truth must give a row of the original, or -1, for each identified row")
    if len(np.unique(known)) < len(known):
        raise InputError("truth must give each row of the original at most once")


ABSENT = -1  # an identified person without a released record
_DRAWS = 50  # random ways to break ties, over which the people found are averaged


@dataclass(frozen=True)
class Success:
    """How often the links of `link` are right, if the truth is given.

    Attributes:
        present: Identified people with a released record.
        hits: People with a correct link.
        expected: Expected number of such people over random ways to break ties.
        precision: Share of correct links, with an interval that does not assume that the links of
            one person are independent.
        recall: Share of hits among the people present, with its interval.
        guess: People found by a random matching record for each row, with its interval.
        blind: Expected number of people found by a random record for each row.
    """

    present: int
    hits: int
    expected: float
    precision: Interval
    recall: Interval
    guess: Interval
    blind: float


@dataclass(frozen=True, eq=False)
class Truth:
    """Which records belong to which identified person.

    Parameters:
        whom: (identified rows,) the person of each row, from 0.
        people: Number of identified people.
        owner: (records,) the person of each record, ABSENT if they are not identified.
    """

    whom: Codes
    people: int
    owner: Codes

    @classmethod
    def of(
        cls, truth: Counts, records: int, identified: Unit | None, released: Unit | None
    ) -> Truth:
        """Return the truth from rows of the same person.

        Parameters:
            truth: (identified rows,) a record of the row's person, ABSENT if there is none.
            records: Number of released records.
            identified: The person of each identified row, if declared.
            released: The person of each released record, if declared.
        """
        known = np.flatnonzero(truth != ABSENT)
        if identified is not None:
            whom, people = identified.ids, identified.count
        else:  # rows of one released person are one person; all others are different
            assert released is not None
            apart = released.count + np.arange(len(truth))
            apart[known] = released.ids[truth[known]]
            _, numbers = np.unique(apart, return_inverse=True)
            whom, people = numbers.astype(np.int32), int(numbers.max(initial=-1)) + 1
        owner = np.full(records, ABSENT, dtype=np.int32)
        owner[truth[known]] = whom[known]
        if released is not None:
            same = np.full(released.count, ABSENT, dtype=np.int32)
            same[released.ids[truth[known]]] = whom[known]
            owner = same[released.ids]
        return cls(whom, people, owner)


def people_success(fitting: Fitting, assigned: Assignment, truth: Truth, seed: int) -> Success:
    """Return how often links are right if people have several rows or records.

    Parameters:
        fitting: The identified rows and the records that they fit.
        assigned: The links, by kinds of rows and of records.
        truth: The person of each row and record.
        seed: Seed of random tie-breaking.
    """
    present = len(np.unique(truth.owner[truth.owner != ABSENT]))
    drawn = [_right_links(fitting, assigned, truth, seed + turn) for turn in range(_DRAWS)]
    right, links = drawn[0]
    hits = int((right > 0).sum())
    records = len(truth.owner)
    return Success(
        present,
        hits,
        float(np.mean([(each > 0).sum() for each, _ in drawn])),
        clustered_proportion(right, links),
        proportion(hits, present),
        _guess(fitting, truth, seed),
        _blind(truth, records),
    )


def _right_links(
    fitting: Fitting, assigned: Assignment, truth: Truth, seed: int
) -> tuple[Counts, Counts]:
    """(people,) correct links and all links of each person, ties broken at random."""
    # the assignment links kinds; a draw says which rows and records of a kind are linked
    row, record = broken_ties(fitting, assigned, seed)
    whom = truth.whom[row]
    right = truth.owner[record] == whom
    return (
        np.bincount(whom[right], minlength=truth.people),
        np.bincount(whom, minlength=truth.people),
    )


def _guess(fitting: Fitting, truth: Truth, seed: int) -> Interval:
    """Return the number of people found by a random matching record for each row."""
    edges = KindEdges(*fitting.fits.edges, len(fitting.fits.copies))
    asking = Members.of(fitting.people, Unit((), truth.whom, truth.people))
    held = np.where(truth.owner == ABSENT, np.int32(-1), fitting.records)
    owner = Unit((), np.maximum(truth.owner, 0), truth.people)
    own = edges.own_of(asking, Members.of(held, owner))
    matching = np.maximum(edges.sum_records(fitting.fits.copies)[asking.place], 1)
    chances = at_least_once(
        np.repeat(own / matching, asking.rows), np.repeat(asking.person, asking.rows), truth.people
    )
    return sum_of_chances(chances, seed)


def _blind(truth: Truth, records: int) -> float:
    """Return the expected number of people found by a random record for each row."""
    held = np.bincount(truth.owner[truth.owner != ABSENT], minlength=truth.people)
    return float(at_least_once(held[truth.whom] / records, truth.whom, truth.people).sum())


def success_of(
    fitting: Fitting, assigned: Assignment, truth: Counts, records: int, seed: int
) -> Success:
    """Return how often links are right if each row and each record is a different person.

    Parameters:
        fitting: The identified rows and the records that they fit.
        assigned: The links, by kinds of rows and of records.
        truth: (identified rows,) the record of each person, ABSENT if there is none.
        records: Number of released records.
        seed: Seed of random tie-breaking.
    """
    present = truth != ABSENT
    people, own = fitting.people[present], fitting.records[truth[present]]
    width = np.int64(len(fitting.fits.copies))
    edges = assigned.people * width + assigned.records
    mine = people * width + own
    edge = np.minimum(np.searchsorted(edges, mine), max(len(edges) - 1, 0))
    fits: Bools = edges[edge] == mine if len(edges) else np.zeros(len(mine), dtype=np.bool_)
    truly = np.bincount(edge[fits], minlength=len(edges))  # people whose own record has the kind
    sizes = fitting.fits.people[assigned.people] * fitting.fits.copies[assigned.records]
    expected = float((assigned.linked * truly / sizes).sum())
    person, record = broken_ties(fitting, assigned, seed)
    hits = int((truth[person] == record).sum())
    chances = np.where(fits, 1 / np.maximum(fitting.records_of[present], 1), 0.0)
    count = int(present.sum())
    return Success(
        count,
        hits,
        expected,
        proportion(hits, len(person)),
        proportion(hits, count),
        sum_of_chances(chances, seed),
        count / records,
    )


def broken_ties(fitting: Fitting, assigned: Assignment, seed: int) -> tuple[Counts, Counts]:
    """Return the linked rows and their records, drawn at random within each kind."""
    rng = np.random.default_rng(seed)
    edges = np.repeat(np.arange(len(assigned.linked)), assigned.linked)
    dealt = []
    # shuffle the rows of each kind, then give the n-th link of a kind its n-th row
    for kinds, ends in ((fitting.people, assigned.people), (fitting.records, assigned.records)):
        shuffled = rng.permutation(len(kinds))
        shuffled = shuffled[np.argsort(kinds[shuffled], kind="stable")]
        begins = np.concatenate(([0], np.cumsum(np.bincount(kinds, minlength=kinds.max() + 1))))
        asked = ends[edges]
        order = np.argsort(asked, kind="stable")  # links of one kind are adjacent
        ranks = np.empty(len(asked), dtype=np.int64)
        firsts = np.searchsorted(asked[order], asked[order], side="left")
        ranks[order] = np.arange(len(asked)) - firsts
        dealt.append(shuffled[begins[asked] + ranks])
    return dealt[0], dealt[1]
