"""Success of links between identified rows and released records, compared with guessing.

Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.fitting import Fitting
from shoal.core.members import KindEdges, Members
from shoal.core.people import Unit
from shoal.risk.assignment import Assignment
from shoal.risk.people import at_least_once
from shoal.risk.proportion import Interval, clustered_proportion, proportion, sum_of_chances
from shoal.support.arrays import Bools, Codes, Counts

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


def people_success(found: Fitting, assigned: Assignment, truth: Truth, seed: int) -> Success:
    """Return how often links are right if people have several rows or records.

    Parameters:
        found: The identified rows and the records that they fit.
        assigned: The links, by kinds of rows and of records.
        truth: The person of each row and record.
        seed: Seed of random tie-breaking.
    """
    present = len(np.unique(truth.owner[truth.owner != ABSENT]))
    drawn = [_right_links(found, assigned, truth, seed + turn) for turn in range(_DRAWS)]
    right, links = drawn[0]
    hits = int((right > 0).sum())
    records = len(truth.owner)
    return Success(
        present,
        hits,
        float(np.mean([(each > 0).sum() for each, _ in drawn])),
        clustered_proportion(right, links),
        proportion(hits, present),
        _guess(found, truth, seed),
        _blind(truth, records),
    )


def _right_links(
    found: Fitting, assigned: Assignment, truth: Truth, seed: int
) -> tuple[Counts, Counts]:
    """(people,) correct links and all links of each person, ties broken at random."""
    row, record = broken_ties(found, assigned, seed)
    whom = truth.whom[row]
    right = truth.owner[record] == whom
    return (
        np.bincount(whom[right], minlength=truth.people),
        np.bincount(whom, minlength=truth.people),
    )


def _guess(found: Fitting, truth: Truth, seed: int) -> Interval:
    """Return the number of people found by a random matching record for each row."""
    edges = KindEdges(*found.fits.edges, len(found.fits.copies))
    asking = Members.of(found.people, Unit((), truth.whom, truth.people))
    held = np.where(truth.owner == ABSENT, np.int32(-1), found.records)
    owner = Unit((), np.maximum(truth.owner, 0), truth.people)
    own = edges.own_of(asking, Members.of(held, owner))
    fitting = np.maximum(edges.sum_records(found.fits.copies)[asking.place], 1)
    chances = at_least_once(
        np.repeat(own / fitting, asking.rows), np.repeat(asking.person, asking.rows), truth.people
    )
    return sum_of_chances(chances, seed)


def _blind(truth: Truth, records: int) -> float:
    """Return the expected number of people found by a random record for each row."""
    held = np.bincount(truth.owner[truth.owner != ABSENT], minlength=truth.people)
    return float(at_least_once(held[truth.whom] / records, truth.whom, truth.people).sum())


def success_of(
    found: Fitting, assigned: Assignment, truth: Counts, records: int, seed: int
) -> Success:
    """Return how often links are right if each row and each record is a different person.

    Parameters:
        found: The identified rows and the records that they fit.
        assigned: The links, by kinds of rows and of records.
        truth: (identified rows,) the record of each person, ABSENT if there is none.
        records: Number of released records.
        seed: Seed of random tie-breaking.
    """
    present = truth != ABSENT
    people, own = found.people[present], found.records[truth[present]]
    width = np.int64(len(found.fits.copies))
    edges = assigned.people * width + assigned.records
    mine = people * width + own
    edge = np.minimum(np.searchsorted(edges, mine), max(len(edges) - 1, 0))
    fits: Bools = edges[edge] == mine if len(edges) else np.zeros(len(mine), dtype=np.bool_)
    truly = np.bincount(edge[fits], minlength=len(edges))  # people whose own record has the kind
    sizes = found.fits.people[assigned.people] * found.fits.copies[assigned.records]
    expected = float((assigned.linked * truly / sizes).sum())
    person, record = broken_ties(found, assigned, seed)
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


def broken_ties(found: Fitting, assigned: Assignment, seed: int) -> tuple[Counts, Counts]:
    """Return the linked rows and their records, drawn at random within each kind."""
    rng = np.random.default_rng(seed)
    edges = np.repeat(np.arange(len(assigned.linked)), assigned.linked)
    dealt = []
    for kinds, ends in ((found.people, assigned.people), (found.records, assigned.records)):
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
