"""How often links between identified rows and released records are right.

To compare with what guessing achieves, as Giomi et al., "A unified framework for quantifying
privacy risk in synthetic data", PoPETs 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.people import Unit
from shoal.risk.assignment import Assignment
from shoal.risk.fitting import Fitting
from shoal.risk.people import KindEdges, Members, at_least_once
from shoal.risk.proportion import Interval, clustered_proportion, proportion, sum_of_chances
from shoal.support.arrays import Bools, Codes, Counts

ABSENT = -1  # an identified person without a released record
_DRAWS = 50  # ways to break ties over which people found are averaged


@dataclass(frozen=True)
class Success:
    """What became of the links, for those who know the truth.

    present: identified people who have a released record.
    hits: people with a right link; expected: on average over ties, which were broken by chance.
    precision: right links among all links; recall: hits among the people present; each with its
        interval. Links of one person are not taken for independent.
    guess: people found by taking any record that fits for each row, with its interval.
    blind: people expected to be found by taking any record at all.
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

    whom: (identified rows,) the person of each row, from 0; people: how many there are.
    owner: (records,) the person of each record, ABSENT where it is nobody's who is looked for.
    """

    whom: Codes
    people: int
    owner: Codes

    @classmethod
    def of(
        cls, truth: Counts, records: int, identified: Unit | None, released: Unit | None
    ) -> Truth:
        """Return it from rows that are known to be the same person's.

        truth: (identified rows,) a record of the row's person, ABSENT where there is none.
        identified, released: the people of either side, as far as they are named.
        """
        known = np.flatnonzero(truth != ABSENT)
        if identified is not None:
            whom, people = identified.ids, identified.count
        else:  # rows of one released person are one person's; the others are all different
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
    """Return how often links are right where people have several rows or records."""
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
    """(people,) right links and all links of each, ties broken by chance."""
    row, record = broken_ties(found, assigned, seed)
    whom = truth.whom[row]
    right = truth.owner[record] == whom
    return (
        np.bincount(whom[right], minlength=truth.people),
        np.bincount(whom, minlength=truth.people),
    )


def _guess(found: Fitting, truth: Truth, seed: int) -> Interval:
    """Return the people found by taking any record that fits for each row."""
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
    """Return the people expected to be found by taking any record for each row."""
    held = np.bincount(truth.owner[truth.owner != ABSENT], minlength=truth.people)
    return float(at_least_once(held[truth.whom] / records, truth.whom, truth.people).sum())


def success_of(
    found: Fitting, assigned: Assignment, truth: Counts, records: int, seed: int
) -> Success:
    """Return how often links are right where each row and each record is a person.

    truth: (identified rows,) the record of each, ABSENT where there is none.
    """
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
