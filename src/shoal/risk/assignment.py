"""The best one-to-one assignment of people to released records, with rare matches preferred.

People with equal values are one node, and so are records with equal cells: the result is a
transportation problem, whose best solutions are integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.coverage import Fits
from shoal.core.grouping import sum_by
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report

_MAX_EDGES = 400_000  # edges that are solved exactly, in some seconds


@dataclass(frozen=True, eq=False)
class Assignment:
    """The number of links between each kind of people and each kind of records.

    Parameters:
        people, records: (edges,) the kinds.
        linked: (edges,) the number of links.
        exact: Whether no assignment has a greater weight; if not, links were chosen rarest first.
    """

    people: Codes
    records: Codes
    linked: Counts
    exact: bool

    def __repr__(self) -> str:
        return f"Assignment(links={int(self.linked.sum())}, exact={self.exact})"


def best_assignment(fits: Fits) -> Assignment:
    """Return the assignment of greatest weight.

    The weight of a pair is 1 / √(records that the person fits · people who fit the record), so a
    match counts more if there are fewer alternatives on either side.
    """
    indptr, records = fits.edges
    kinds = _alike(indptr, records)
    first = np.unique(kinds, return_index=True)[1]
    widths = np.diff(indptr)[first]
    begins = np.concatenate(([0], np.cumsum(widths)))
    edges = np.repeat(indptr[first] - begins[:-1], widths) + np.arange(int(begins[-1]))
    people = np.repeat(np.arange(len(first), dtype=np.int32), widths)
    by_person, by_record = fits.degrees
    rarity = by_person[first][people].astype(np.float64) * by_record[records[edges]]
    supply = sum_by(kinds, len(first), fits.people)
    report("link", 0, 1)
    exact = len(edges) <= _MAX_EDGES
    solve = _solve if exact else _rarest_first
    flow = solve(people, records[edges], 1 / np.sqrt(rarity), supply, fits.copies)
    report("link", 1, 1)
    linked = _dealt(flow, people, begins, kinds, fits.people, indptr)
    every = np.repeat(np.arange(len(fits.people), dtype=np.int32), np.diff(indptr))
    return Assignment(every, records, linked, exact)


def _alike(indptr: Counts, records: Codes) -> Codes:
    """(kinds of people,) the same number for kinds that fit the same records."""
    seen: dict[bytes, int] = {}
    ends = zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    kinds = [seen.setdefault(records[a:b].tobytes(), len(seen)) for a, b in ends]
    return np.array(kinds, dtype=np.int32)


def _dealt(
    flow: Counts, people: Codes, begins: Counts, kinds: Codes, supply: Counts, indptr: Counts
) -> Counts:
    """Distribute the links of interchangeable people among them, and return the links of each edge.

    People and links of one kind are intervals on a line; an overlap is a link.
    """
    linked = np.zeros(int(indptr[-1]), dtype=np.int64)
    used = np.flatnonzero(flow)
    if not len(used):
        return linked
    order = np.argsort(kinds, kind="stable")
    interval_ends = np.cumsum(supply[order])  # of each person
    offsets = np.concatenate(([0], np.cumsum(sum_by(kinds, len(begins) - 1, supply))))
    before = np.concatenate(([0], np.cumsum(flow)))
    starts = offsets[people[used]] + before[used] - before[begins[people[used]]]
    stops = starts + flow[used]
    cuts = np.unique(np.concatenate([starts, stops, interval_ends]))
    lows, lengths = cuts[:-1], np.diff(cuts)
    edge = np.searchsorted(starts, lows, side="right") - 1
    inside = (edge >= 0) & (lows < stops[edge])
    edge, lows, lengths = edge[inside], lows[inside], lengths[inside]
    person = order[np.searchsorted(interval_ends, lows, side="right")]
    rank = used[edge] - begins[people[used[edge]]]
    np.add.at(linked, indptr[person] + rank, lengths)
    return linked


def _solve(
    people: Codes, records: Codes, weights: Floats, supply: Counts, demand: Counts
) -> Counts:
    """Solve the transportation problem at a vertex, where all flows are integers."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    edges = len(people)
    if not edges:
        return np.zeros(0, dtype=np.int64)
    rows = np.concatenate([people.astype(np.int64), records.astype(np.int64) + len(supply)])
    columns = np.tile(np.arange(edges), 2)
    shape = (len(supply) + len(demand), edges)
    limits = csr_array((np.ones(2 * edges), (rows, columns)), shape=shape)
    solution = linprog(
        -weights, A_ub=limits, b_ub=np.concatenate([supply, demand]), method="highs-ds"
    )
    flow: Counts = np.rint(solution.x).astype(np.int64)
    return flow


def _rarest_first(
    people: Codes, records: Codes, weights: Floats, supply: Counts, demand: Counts
) -> Counts:
    """Link along the heaviest edges first; the total weight is at least half of the best."""
    left, free = supply.tolist(), demand.tolist()
    linked = np.zeros(len(people), dtype=np.int64)
    ends = list(zip(people.tolist(), records.tolist(), strict=True))
    for edge in np.argsort(-weights, kind="stable").tolist():
        person, record = ends[edge]
        count = min(left[person], free[record])
        if count:
            linked[edge] = count
            left[person] -= count
            free[record] -= count
    return linked
