"""Coverage if people have several rows: partners are counted as people.

A person fits k others if their rows do, however many rows each of them has. The pairs of rows are
the same as in `coverage`; only the counts over them differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.coverage import Fits, strong_parts
from shoal.core.grouping import group, group_keys
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.support.progress import report

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 4_096  # kinds of rows whose partners are counted at once
_MAX_ARCS = 2**25  # of a flow


@dataclass(frozen=True, eq=False)
class Kinds:
    """Distinct pairs of a place and a person; a place is a tuple or a box of the graph.

    place, person: (kinds,). rows: (kinds,) number of rows of each pair.
    """

    place: Codes
    person: Codes
    rows: Counts

    @classmethod
    def of(cls, places: Codes, persons: Codes, count: int) -> Kinds:
        """Return the pairs of a place and a person that occur."""
        found = group_keys(places.astype(np.int64) * count + persons)
        return cls(places[found.first], persons[found.first], found.sizes())

    def __len__(self) -> int:
        return len(self.place)


@dataclass(frozen=True, eq=False)
class PeopleFits(Fits):
    """A graph of rows whose partners are counted as people.

    asking: the tuples of people, including people whose rows are suppressed.
    released: (rows, 3) tuple, box and person of each released row.
    persons: number of people.
    """

    asking: Kinds
    released: Codes
    persons: int

    @cached_property
    def offering(self) -> Kinds:
        """The boxes of people."""
        return Kinds.of(self.released[:, 1], self.released[:, 2], self.persons)

    @cached_property
    def degrees(self) -> tuple[Counts, Counts]:
        """(tuples,) number of people with a released row that each fits; (boxes,) who fit each."""
        graph = self._graph(*self.edges)
        out = count_reached(graph, self._holders(self.offering, len(self.copies)))
        back = count_reached(graph.T.tocsr(), self._holders(self.asking, len(self.people)))
        return frozen(out), frozen(back)

    @cached_property
    def matchable(self) -> Counts:
        """(tuples,) number of people whose rows each can have in some perfect matching of rows."""
        indptr, indices = self.edges
        parts, box_parts = strong_parts(indptr, indices, self.own, len(self.copies))
        heads = np.repeat(np.arange(len(self.people)), np.diff(indptr))
        usable = parts[heads] == box_parts[indices]
        each = np.bincount(heads[usable], minlength=len(self.people))
        graph = self._graph(np.concatenate(([0], np.cumsum(each))), indices[usable])
        return frozen(count_reached(graph, self._holders(self.offering, len(self.copies))))

    def _graph(self, indptr: Counts, indices: Codes) -> csr_array:
        from scipy.sparse import csr_array

        ones = np.ones(len(indices), dtype=np.int32)
        return csr_array((ones, indices, indptr), shape=(len(self.people), len(self.copies)))

    def _holders(self, kinds: Kinds, places: int) -> csr_array:
        from scipy.sparse import csr_array

        ones = np.ones(len(kinds), dtype=np.int32)
        return csr_array((ones, (kinds.place, kinds.person)), shape=(places, self.persons))

    def short_of(self, k: int) -> tuple[Bools, Bools]:
        """Return which tuples and boxes get fewer than k people, except for large boxes.

        Rows of a box that k people share need no partners elsewhere, but can be partners.
        """
        known: dict[int, tuple[Bools, Bools]] = self.__dict__["_short"]
        if k not in known:
            known[k] = self._flow(k)
        return known[k]

    def _flow(self, k: int) -> tuple[Bools, Bools]:
        """Assign partners: each row to boxes of k people, each box to rows of k people.

        Between two people rows are matched one to one: a row takes one box of a person, and a box
        one row of a person. So an arc passes two intermediate nodes, one for the row and the other
        person and one for the box and the other person, each with the number of rows as capacity.
        Rows and boxes that must get k have their own source and sink, which the flow must saturate.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        shared = np.bincount(self.offering.place, minlength=len(self.copies)) >= k
        tuples, boxes, persons = self.released.T
        asking = Kinds.of(2 * tuples + shared[boxes], persons, self.persons)
        offering = Kinds.of(boxes, persons, self.persons)
        asks, offers = self._pairs(asking.place // 2, offering.place)
        to_person = group([asks, offering.person[offers]], [len(asking), self.persons])
        of_person = group([asking.person[asks], offers], [self.persons, len(offering)])
        kinds = [len(asking), len(to_person), len(of_person), len(offering)]
        first, second, third, end = np.cumsum(kinds).tolist()
        source, sink, feed, drain = range(end, end + 4)
        rows, taken = np.arange(kinds[0]), third + np.arange(kinds[3])
        owner, taker = asks[to_person.first], offers[of_person.first]
        free, open_ = asking.place % 2 == 1, shared[offering.place]
        wanted, given = asking.rows * k, offering.rows * k
        arcs = [
            (np.where(free, source, feed), rows, wanted),
            (owner, first + np.arange(kinds[1]), asking.rows[owner]),
            (first + to_person.ids, second + of_person.ids, asking.rows[asks]),
            (second + np.arange(kinds[2]), third + taker, offering.rows[taker]),
            (taken, np.where(open_, sink, drain), given),
            ([source, feed, sink], [drain, sink, source],
             [wanted[~free].sum(), given[~open_].sum(), wanted.sum()]),
        ]  # fmt: skip
        begins, ends, limits = (np.concatenate(part) for part in zip(*arcs, strict=True))
        network: Any = csr_array((limits.astype(np.int32), (begins, ends)), shape=(drain + 1,) * 2)
        dealt = maximum_flow(network, feed, drain).flow
        out = dealt[[feed], :].toarray().ravel()[: kinds[0]]
        into = -dealt[[drain], :].toarray().ravel()[third:end]
        return (
            _any_by(~free & (out < wanted), asking.place // 2, len(self.people)),
            _any_by(~open_ & (into < given), offering.place, len(self.copies)),
        )

    def _pairs(self, asking: Codes, offering: Codes) -> tuple[Codes, Codes]:
        """Return pairs of kinds: one that asks and one that offers and fits it.

        asking: (kinds,) the tuple of each; offering: (kinds,) the box of each.
        """
        graph = self._graph(*self.edges)
        reached = int(np.diff(graph.indptr)[asking].sum())
        widest = int(np.bincount(offering).max(initial=0))
        if reached * widest > _MAX_ARCS:
            raise InputError(
                "too many pairs of people and rows fit to match them; use k-k-anonymity or "
                "k-anonymity"
            )
        asks = _selection(asking, len(self.people))
        pairs = (asks @ graph @ _selection(offering, len(self.copies)).T).tocoo()
        return pairs.row.astype(np.int32), pairs.col.astype(np.int32)


def _selection(places: Codes, count: int) -> csr_array:
    """(kinds, places) a 1 at the place of each kind."""
    from scipy.sparse import csr_array

    ones = np.ones(len(places), dtype=np.int32)
    return csr_array((ones, (np.arange(len(places)), places)), shape=(len(places), count))


def count_reached(graph: csr_array, holders: csr_array) -> Counts:
    """Return, for each row of the graph, the number of people that it reaches."""
    counts = []
    for begin in range(0, graph.shape[0], _BLOCK):
        report("verify", begin, graph.shape[0])
        counts.append(np.diff((graph[begin : begin + _BLOCK] @ holders).indptr))
    return np.concatenate([*counts, np.zeros(0, np.int64)]).astype(np.int64)


def _any_by(flags: Bools, places: Codes, count: int) -> Bools:
    """Return, for each place, whether any of its flags is set."""
    hit = np.zeros(count, dtype=np.bool_)
    hit[places[flags]] = True
    return hit
