"""Coverage: which original records each released record may stand for.

A bipartite graph, derived from the published cells only:

    tuples (distinct originals)  ── fits ──  boxes (distinct published rows)
        people of each tuple                     copies of each box

Equal originals share a node, and so do equal published rows; results for single records are still
exact, as the records of a node are interchangeable.

    `Coverage`    the rows of a release and their nodes
    `Fits`        the graph: counts of partners, perfect matchings, assignments of k partners
    `PeopleFits`  the same if people have several rows: a person fits k others if their rows do,
                  however many rows each has; only the counts over the pairs differ
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.support.progress import report
from shoal.table.classes import SUPPRESSED
from shoal.table.hierarchy import ROOT
from shoal.table.members import Members, count_reached
from shoal.table.people import group, sum_by
from shoal.table.recoding import Recoding
from shoal.table.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from shoal.table._fits import Cells, Search


_REPORT_PAIRS = 50_000_000  # processed between two progress reports
_NODES = 512  # of a search
_ROOM = 16  # boxes in the nodes of a search, as a multiple of all boxes
_MAX_PAIRS = 2**26  # that are stored
_MAX_FLOW = 2**31 - 1  # of the flow, whose capacities are 32-bit integers
_MAX_ARCS = 2**25  # of the flow between people


@dataclass(frozen=True, eq=False)
class Coverage:
    """Rows and their nodes in the graph; use `take` to select released rows if some are suppressed.

    tuples: (rows,) node of each row's original, SUPPRESSED for a row that is not released.
    boxes: (rows,) node of each row's published cells, likewise.
    """

    fits: Fits
    tuples: Codes
    boxes: Codes

    @classmethod
    def of(
        cls,
        table: Table,
        recodings: Mapping[str, Recoding],
        ids: Codes,
        *,
        everybody: bool = False,
    ) -> Coverage:
        """Return the coverage of a release, over the columns of the recodings.

        Parameters:
            ids: (rows,) class of each row by its published text, SUPPRESSED for a suppressed row.
            everybody: Count people whose records are suppressed as people without a record.
        """
        kept = np.flatnonzero(ids != SUPPRESSED)
        known = np.arange(len(ids)) if everybody else kept  # rows whose people are counted
        columns = [table[name] for name in recodings]
        shown = [as_published(recoding, ids) for recoding in recodings.values()]
        originals = group([c.codes[known] for c in columns], [c.domain for c in columns])
        published = group([r.codes[kept] for r in shown], [len(r.labels) for r in shown])
        tuples, boxes = (np.full(len(ids), SUPPRESSED, dtype=np.int32) for _ in range(2))
        tuples[known], boxes[kept] = originals.ids, published.ids
        counts = table.counts
        parts = (
            _cells(table, shown, known[originals.first], kept[published.first]),
            originals.sizes(None if counts is None else counts[known]),
            published.sizes(None if counts is None else counts[kept]),
            _own_pairs(tuples[kept], published.ids, len(published)),
        )
        if table.unit is None:
            return cls(Fits(*parts), frozen(tuples), frozen(boxes))

        ids, count = table.unit.ids, table.unit.count
        asking = Members.of_pairs(originals.ids, ids[known], count)
        released = np.stack([tuples[kept], published.ids, ids[kept]], axis=1)
        return cls(PeopleFits(*parts, asking, released, count), frozen(tuples), frozen(boxes))

    def take(self, rows: Counts) -> Coverage:
        """Return these rows in the same graph."""
        return replace(self, tuples=self.tuples[rows], boxes=self.boxes[rows])

    def released(self) -> Counts:
        """(rows,) number of people with a released record that the row's person fits."""
        return self.fits.degrees[0][self.tuples]

    def originals(self) -> Counts:
        """(rows,) number of people who fit the row's cells."""
        return self.fits.degrees[1][self.boxes]

    def matchable(self) -> Counts:
        """(rows,) like `released`, if everyone else must still be matched to a record."""
        return self.fits.matchable[self.tuples]

    def short_of(self, k: int) -> Bools:
        """(rows,) whether the person or the cells of a row get fewer than k partners.

        Partners are assigned so that no one has more than k and the number of pairs is maximal. If
        everyone gets k, the graph contains k perfect matchings without a common pair.
        """
        tuples, boxes = self.fits.short_of(k)
        return tuples[self.tuples] | boxes[self.boxes]

    def most_partners(self) -> int:
        """Return the largest k for which everyone gets k partners."""
        low, high = 0, int(min(self.released().min(), self.originals().min()))
        while low < high:
            middle = (low + high + 1) // 2
            if any(part.any() for part in self.fits.short_of(middle)):
                high = middle - 1
            else:
                low = middle
        return low


@dataclass(frozen=True, eq=False)
class Fits:
    """The graph between distinct originals (tuples) and distinct published rows (boxes).

    people: (tuples,) originals of each tuple; copies: (boxes,) released records of each box.
    own: (pairs, 2) tuple and box of released rows; the pair fits if the row is truthful.
    """

    cells: Cells
    people: Counts
    copies: Counts
    own: Codes

    def __post_init__(self) -> None:
        object.__setattr__(self, "_short", {})

    def _visit_pairs(self, kernel: Callable[..., int], *arrays: Any) -> None:
        """Run a kernel over all pairs that may fit, and report progress."""
        search, done = start_search(len(self.people), len(self.copies)), 0
        while search.left[0]:
            report("verify", done, len(self.people))
            done += int(kernel(self.cells, search, _REPORT_PAIRS, *arrays))

    @cached_property
    def _counted(self) -> tuple[Counts, Counts, Counts]:
        from shoal.table._fits import count_fits

        by_tuple, pairs = (np.zeros(len(self.people), dtype=np.int64) for _ in range(2))
        by_box = np.zeros(len(self.copies), dtype=np.int64)
        self._visit_pairs(count_fits, self.people, self.copies, by_tuple, by_box, pairs)
        return frozen(by_tuple), frozen(by_box), frozen(pairs)

    @property
    def degrees(self) -> tuple[Counts, Counts]:
        """(tuples,) number of released records that each fits; (boxes,) of originals that fit."""
        return self._counted[:2]

    @property
    def pairs(self) -> int:
        """Number of pairs of a tuple and a box that fit."""
        return int(self._counted[2].sum())

    @cached_property
    def edges(self) -> tuple[Counts, Codes]:
        """The boxes that cover each tuple, in compressed row form: row starts and boxes."""
        from shoal.table._fits import list_fits

        indptr = np.concatenate(([0], np.cumsum(self._counted[2])))
        if indptr[-1] > _MAX_PAIRS:
            raise InputError(
                f"{indptr[-1]:,} pairs of people and records fit, which is too many to match; "
                "use k-k-anonymity or k-anonymity"
            )
        indices = np.empty(int(indptr[-1]), dtype=np.int32)
        self._visit_pairs(list_fits, indptr, indices)
        return frozen(indptr), frozen(indices)

    @cached_property
    def matchable(self) -> Counts:
        """(tuples,) number of released records that each can have in some perfect matching.

        One such matching gives everyone their own record. Any other pair that fits is in a perfect
        matching if and only if it lies on a cycle that alternates between pairs that fit and pairs
        of a row with its own cells: along the cycle, everyone takes the next record.
        """
        (indptr, indices), tuples = self.edges, len(self.people)
        parts, box_parts = strong_parts(indptr, indices, self.own, len(self.copies))
        heads = np.repeat(np.arange(tuples, dtype=np.int32), np.diff(indptr))
        usable = parts[heads] == box_parts[indices]
        return frozen(sum_by(heads[usable], tuples, self.copies[indices[usable]]))

    def short_of(self, k: int) -> tuple[Bools, Bools]:
        """Return which tuples and boxes get fewer than k partners in a maximum assignment."""
        cache: dict[int, tuple[Bools, Bools]] = self.__dict__["_short"]
        if k not in cache:
            by_tuple, by_box = self.degrees
            tuples, boxes = by_tuple < k, by_box < k
            if not (tuples.any() or boxes.any()):
                tuples, boxes = self._flow(k)
            cache[k] = frozen(tuples), frozen(boxes)
        return cache[k]

    def _flow(self, k: int) -> tuple[Bools, Bools]:
        """Assign partners: each person to k boxes, each box to k people, no pair twice."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        (indptr, indices), tuples, boxes = self.edges, len(self.people), len(self.copies)
        wanted = int(self.people.sum()) * k
        if wanted > _MAX_FLOW:
            raise InputError(f"{wanted:,} partners are too many to assign; choose a smaller k")
        heads = np.repeat(np.arange(tuples), np.diff(indptr))
        people, copies = self.people[heads], self.copies[indices]
        most = np.minimum(people * np.minimum(copies, k), copies * np.minimum(people, k))
        # source ─ k a person ─→ tuples ─ pairs that fit ─→ boxes ─ k a record ─→ sink
        source, sink = tuples + boxes, tuples + boxes + 1
        begins = np.concatenate([heads, np.full(tuples, source), tuples + np.arange(boxes)])
        ends = np.concatenate([indices + tuples, np.arange(tuples), np.full(boxes, sink)])
        limits = np.concatenate([most, self.people * k, self.copies * k]).astype(np.int32)
        arcs = csr_array((limits, (begins, ends)), shape=(sink + 1, sink + 1))
        flow = maximum_flow(arcs, source, sink).flow
        out = flow[[source], :].toarray().ravel()[:tuples]
        into = -flow[[sink], :].toarray().ravel()[tuples : tuples + boxes]
        return out < self.people * k, into < self.copies * k


def strong_parts(indptr: Counts, indices: Codes, own: Codes, boxes: int) -> tuple[Codes, Codes]:
    """(tuples,) and (boxes,) strong component of each; pairs within one lie on cycles."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tuples = len(indptr) - 1
    heads = np.repeat(np.arange(tuples, dtype=np.int32), np.diff(indptr))
    begins = np.concatenate([heads, own[:, 1] + tuples])
    ends = np.concatenate([indices + tuples, own[:, 0]])
    ones = np.ones(len(begins), dtype=np.int8)
    arcs = csr_array((ones, (begins, ends)), shape=(tuples + boxes, tuples + boxes))
    _, parts = connected_components(arcs, connection="strong")
    return parts[:tuples], parts[tuples:]


def as_published(recoding: Recoding, ids: Codes) -> Recoding:
    """Return a recoding that states no more than its published text.

    A single value that is published for a wider subset stands for the values of the rows that show
    it and nothing else, because the subset is not published.
    """
    column, subsets = recoding.column, recoding.subsets
    code_of = {text: code for code, text in enumerate(column.labels)}
    codes = np.array([code_of.get(text, -1) for text in recoding.labels], dtype=np.int32)
    root = subsets.whole & np.array([text == ROOT for text in recoding.labels], dtype=np.bool_)
    single = (codes >= 0) & (subsets.sizes > 1) & ~root
    single &= subsets.hold(np.arange(len(subsets), dtype=np.int32), np.maximum(codes, 0))
    if recoding.levels is not None:
        single &= recoding.levels < 0
    if not single[recoding.codes[ids != SUPPRESSED]].any():
        return recoding
    return Recoding.of_groups(column, ids, int(ids.max()) + 1, "set", use_hierarchy=False)


def start_search(tuples: int, boxes: int) -> Search:
    """Return a new search over all pairs."""
    from shoal.table._fits import SAMPLE, Search

    room = np.empty(_ROOM * boxes, dtype=np.int32)
    room[:boxes] = np.arange(boxes)
    nodes = np.zeros((_NODES, 4), dtype=np.int64)
    nodes[0] = 0, tuples, 0, boxes
    left = np.full(1, int(tuples > 0 and boxes > 0))
    order = np.arange(tuples, dtype=np.int32)
    return Search(order, room, nodes, left, np.empty(SAMPLE, dtype=np.int32))


def _own_pairs(tuples: Codes, boxes: Codes, count: int) -> Codes:
    """(pairs, 2) distinct pairs of tuple and box over all rows."""
    pairs = np.unique(tuples.astype(np.int64) * count + boxes)
    return np.stack(np.divmod(pairs, max(count, 1)), axis=1).astype(np.int32)


def _cells(table: Table, shown: Sequence[Recoding], originals: Counts, published: Counts) -> Any:
    """Return the values of the original rows and the runs of the published cells."""
    from shoal.table._fits import Cells

    # columns with many values first, as they exclude most pairs
    shown = sorted(shown, key=lambda r: -r.column.domain)
    offsets = np.cumsum([0, *(len(r.subsets.starts) for r in shown)])
    codes = np.stack([table[r.name].codes[originals] for r in shown], axis=1)
    entries = [r.codes[published] for r in shown]
    parts = list(zip(shown, entries, offsets.tolist(), strict=False))
    return Cells(
        codes,
        np.stack([r.subsets.indptr[entry] + begin for r, entry, begin in parts], axis=1),
        np.stack([r.subsets.indptr[entry + 1] + begin for r, entry, begin in parts], axis=1),
        np.concatenate([r.subsets.starts for r in shown]),
        np.concatenate([r.subsets.stops for r in shown]),
    )


@dataclass(frozen=True, eq=False)
class PeopleFits(Fits):
    """A graph of rows whose partners are counted as people.

    asking: the tuples of people, including people whose rows are suppressed.
    released: (rows, 3) tuple, box and person of each released row.
    persons: number of people.
    """

    asking: Members
    released: Codes
    persons: int

    @cached_property
    def offering(self) -> Members:
        """The boxes of people."""
        return Members.of_pairs(self.released[:, 1], self.released[:, 2], self.persons)

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

    def _holders(self, kinds: Members, places: int) -> csr_array:
        """(places, persons) a 1 for each person of a place."""
        from scipy.sparse import csr_array

        ones = np.ones(len(kinds), dtype=np.int32)
        return csr_array((ones, (kinds.place, kinds.person)), shape=(places, self.persons))

    def short_of(self, k: int) -> tuple[Bools, Bools]:
        """Return which tuples and boxes get fewer than k people, except for large boxes.

        Rows of a box that k people share need no partners elsewhere, but can be partners.
        """
        cache: dict[int, tuple[Bools, Bools]] = self.__dict__["_short"]
        if k not in cache:
            cache[k] = self._flow(k)
        return cache[k]

    def _flow(self, k: int) -> tuple[Bools, Bools]:
        """Assign partners: each row to boxes of k people, each box to rows of k people.

        Between two people rows are matched one to one: a row takes one box of a person, and a box
        one row of a person. So an arc passes two intermediate nodes, one for the row and the other
        person and one for the box and the other person, each with the number of rows as capacity.
        Rows and boxes that must get k have their own source and sink, which the flow must saturate:

            feed ─→ rows that must ─┐                                ┌─→ boxes that must ─→ drain
                                    ├─→ (row, person) ─→ (person, box)
            source ─→ other rows  ──┘                                └─→ other boxes ─→ sink

        feed ─→ sink, source ─→ drain and sink ─→ source let partners that need nothing take part.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        # a box of k people needs no partners elsewhere
        shared = np.bincount(self.offering.place, minlength=len(self.copies)) >= k
        tuples, boxes, persons = self.released.T
        asking = Members.of_pairs(2 * tuples + shared[boxes], persons, self.persons)
        offering = Members.of_pairs(boxes, persons, self.persons)
        asks, offers = self._pairs(asking.place // 2, offering.place)
        to_person = group([asks, offering.person[offers]], [len(asking), self.persons])
        of_person = group([asking.person[asks], offers], [self.persons, len(offering)])
        kinds = [len(asking), len(to_person), len(of_person), len(offering)]
        # nodes are numbered through: rows, (row, person), (person, box), boxes, then the four ends
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
        flow = maximum_flow(network, feed, drain).flow
        out = flow[[feed], :].toarray().ravel()[: kinds[0]]
        into = -flow[[drain], :].toarray().ravel()[third:end]
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


def _any_by(flags: Bools, places: Codes, count: int) -> Bools:
    """Return, for each place, whether any of its flags is set."""
    hit = np.zeros(count, dtype=np.bool_)
    hit[places[flags]] = True
    return hit
