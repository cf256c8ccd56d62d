"""Linkage attack: links an identified file with a release and looks people up.

Rows are linked with records one to one; a person is re-identified if one of their rows is linked
with one of their records.

This is the attack that found a governor in hospital data with the help of a voter list.
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002; to compare with what
guessing achieves, as Giomi et al., "A unified framework for quantifying privacy risk in synthetic
data", PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.core.fitting import Published, fit_people, published_cells, shared_columns
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.risk.assignment import best_assignment
from shoal.risk.link_success import ABSENT, Success, Truth, people_success, success_of
from shoal.risk.people import by_person
from shoal.support.arrays import Counts
from shoal.support.options import check_range, check_seed


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
    found = fit_people(published, identified)
    assigned = best_assignment(found.fits)
    degrees, ones = found.records_of, np.ones(len(identified), dtype=np.int64)
    person_of_row = identified.person
    single = by_person((degrees == 1).astype(np.int64), ones, person_of_row, np.maximum)[0]
    most = by_person(degrees, ones, person_of_row, np.maximum)[0]
    success = None
    if truth is not None and person_of_row is None and person is None:
        success = success_of(found, assigned, truth, records, seed)
    elif truth is not None:
        success = people_success(
            found, assigned, Truth.of(truth, records, person_of_row, person), seed
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
