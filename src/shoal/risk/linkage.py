"""Linkage, really attempted: an identified file is laid beside a release and people are looked up.

The attack by which a governor was found in hospital data with the help of a voter list.
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002; to compare with what
guessing achieves, as Giomi et al., "A unified framework for quantifying privacy risk in synthetic
data", PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Counts
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import check_range
from shoal.risk.assignment import Assignment, best_assignment
from shoal.risk.fitting import Fitting, Published, fit_people, published_cells, shared_columns
from shoal.risk.proportion import Interval, proportion, sum_of_chances

ABSENT = -1  # an identified person without a released record


@dataclass(frozen=True)
class Success:
    """What became of the links, for those who know the truth.

    present: identified people who have a released record.
    hits: right links; expected: on average over ties, which were broken by chance.
    precision: of the links, recall: of the people present, each with its interval.
    guess: hits of who takes, for each person, any record that fits, with its interval.
    blind: expected hits of who takes any record at all.
    """

    present: int
    hits: int
    expected: float
    precision: Interval
    recall: Interval
    guess: Interval
    blind: float


@dataclass(frozen=True)
class Linkage:
    """An attempt to find identified people among released records.

    columns: what both files know; people and records: how many are on either side.
    pairs: pairs of a person and a record that fit.
    certain: people who fit one record only; lost: people who fit none.
    links: people linked by the best assignment; exact: whether it is the best indeed.
    success: None where nobody said who is whom.
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
        told = asdict(self)
        if self.success is not None:
            for name in ("precision", "recall", "guess"):
                told["success"][name] = getattr(self.success, name).to_dict()
        return told


@dataclass(frozen=True, eq=False)
class Split:
    """A table parted into what is to be released and a file with names.

    truth: (identified rows,) the row of each person in `released`, ABSENT where there is none.
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
    """Part a table as if it were a hospital's and a voter list: some people are in both.

    share: of the people, those in both; the others are dealt out evenly.
    """
    check_range("share", share, 0, 1)
    if table.counts is not None:
        raise InputError("a weighted table has no rows to part; read it row by row")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table))
    both = round(share * len(table))
    alone = (len(table) - both + 1) // 2
    released = np.sort(order[: both + alone])  # in the table's order
    identified = rng.permutation(np.concatenate([order[:both], order[both + alone :]]))
    places = np.full(len(table), ABSENT, dtype=np.int64)
    places[released] = np.arange(len(released))
    return Split(table.take(released), table.take(identified), places[identified])


def link(
    source: Release | Table,
    identified: Table,
    *,
    on: Sequence[str] | None = None,
    truth: Counts | None = None,
    seed: int = 0,
) -> Linkage:
    """Try to find identified people in a release, and tell how often that is right.

    source: a release, or a table as it would be without any protection.
    on: columns that both know; by default the quasi-identifiers of both.
    truth: (identified rows,) the row of each person in the original, ABSENT where there is none.
    seed: of ties, which are broken by chance.

    The attacker believes that cells tell the truth, and that nobody has two records.
    """
    for table in (identified, source.original if isinstance(source, Release) else source):
        if table.counts is not None:
            raise InputError("a weighted table has no rows to link; read it row by row")
    names = shared_columns(source, identified, on)
    published, rows = published_cells(source, identified, names)
    if truth is not None:
        length = len(source.original) if isinstance(source, Release) else len(source)
        places = np.full(length, ABSENT, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        truth = np.asarray(truth, dtype=np.int64)
        _check_truth(truth, len(identified), length)
        truth = np.where(truth == ABSENT, ABSENT, places[truth])
    return link_published(published, identified, truth, seed)


def link_published(
    published: Mapping[str, Published], identified: Table, truth: Counts | None, seed: int = 0
) -> Linkage:
    """Try to find identified people among published cells; `truth` names rows of these."""
    records = len(next(iter(published.values())).codes)
    if not records or not len(identified):
        raise InputError("nothing to link: one of the sides has no rows")
    found = fit_people(published, identified)
    assigned = best_assignment(found.fits)
    degrees = found.records_of
    return Linkage(
        tuple(published),
        len(identified),
        records,
        pairs=int(degrees.sum()),
        certain=int((degrees == 1).sum()),
        lost=int((degrees == 0).sum()),
        links=int(assigned.linked.sum()),
        exact=assigned.exact,
        success=None if truth is None else _success(found, assigned, truth, records, seed),
    )


def _check_truth(truth: Counts, people: int, rows: int) -> None:
    known = truth[truth != ABSENT]
    if len(truth) != people or (len(known) and not 0 <= known.min() <= known.max() < rows):
        raise InputError("truth must name, for each identified row, a row of the original, or -1")
    if len(np.unique(known)) < len(known):
        raise InputError("truth names a row of the original for several people")


def _success(
    found: Fitting, assigned: Assignment, truth: Counts, records: int, seed: int
) -> Success:
    present = truth != ABSENT
    people, own = found.people[present], found.records[truth[present]]
    width = np.int64(len(found.fits.copies))
    edges = assigned.people * width + assigned.records
    mine = people * width + own
    place = np.minimum(np.searchsorted(edges, mine), max(len(edges) - 1, 0))
    fits: Bools = edges[place] == mine if len(edges) else np.zeros(len(mine), dtype=np.bool_)
    truly = np.bincount(place[fits], minlength=len(edges))  # people whose record is there indeed
    sizes = found.fits.people[assigned.people] * found.fits.copies[assigned.records]
    expected = float((assigned.linked * truly / sizes).sum())
    person, record = _broken_ties(found, assigned, seed)
    hits = int((truth[person] == record).sum())
    chances = np.where(fits, 1 / np.maximum(found.records_of[present], 1), 0.0)
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


def _broken_ties(found: Fitting, assigned: Assignment, seed: int) -> tuple[Counts, Counts]:
    """Return linked people and their records, drawn within each kind."""
    rng = np.random.default_rng(seed)
    edges = np.repeat(np.arange(len(assigned.linked)), assigned.linked)
    dealt = []
    for kinds, ends in ((found.people, assigned.people), (found.records, assigned.records)):
        shuffled = rng.permutation(len(kinds))
        shuffled = shuffled[np.argsort(kinds[shuffled], kind="stable")]
        begins = np.concatenate(([0], np.cumsum(np.bincount(kinds, minlength=kinds.max() + 1))))
        asked = ends[edges]
        order = np.argsort(asked, kind="stable")  # links of one kind follow each other
        ranks = np.empty(len(asked), dtype=np.int64)
        firsts = np.searchsorted(asked[order], asked[order], side="left")
        ranks[order] = np.arange(len(asked)) - firsts
        dealt.append(shuffled[begins[asked] + ranks])
    return dealt[0], dealt[1]
