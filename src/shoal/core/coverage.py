"""Who may be whom: which original records each released record may stand for.

A bipartite graph, read from the published cells alone. Equal originals are one node, and so are
released records that are published alike; what is asked here of single records is answered exactly
all the same, as records behind one node may trade places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.arrays import Bools, Codes, Counts, frozen
from shoal.core.classes import SUPPRESSED
from shoal.core.grouping import group, sum_by
from shoal.core.hierarchy import ROOT
from shoal.core.progress import report
from shoal.core.recoding import Recoding
from shoal.core.table import Table
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core._fits import Cells, Search

_PAIRS = 50_000_000  # looked at between two reports
_NODES, _ROOM = 512, 16  # of a search: nodes, boxes in them as a multiple of all
_MOST = 2**26  # pairs that are written down
_WHOLE = 2**31 - 1  # what the flow counts with


@dataclass(frozen=True, eq=False)
class Coverage:
    """Rows with their place in the graph; `take` the released ones where some are left out.

    tuples: (rows,) the kind of original behind each released row, SUPPRESSED for one left out.
    boxes: (rows,) the kind of published row, likewise.
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
        """Return the coverage of a release, by the columns that recodings are given of.

        ids: (rows,) the class of each row by its published text, SUPPRESSED for one left out.
        everybody: people who are left out are people all the same, without a record of their own.
        """
        kept = np.flatnonzero(ids != SUPPRESSED)
        known = np.arange(len(ids)) if everybody else kept
        columns = [table[name] for name in recodings]
        spoken = [spoken_of(recoding, ids) for recoding in recodings.values()]
        originals = group([c.codes[known] for c in columns], [c.domain for c in columns])
        published = group([r.codes[kept] for r in spoken], [len(r.labels) for r in spoken])
        tuples, boxes = (np.full(len(ids), SUPPRESSED, dtype=np.int32) for _ in range(2))
        tuples[known], boxes[kept] = originals.ids, published.ids
        counts = table.counts
        parts = (
            _cells(table, spoken, known[originals.first], kept[published.first]),
            originals.sizes(None if counts is None else counts[known]),
            published.sizes(None if counts is None else counts[kept]),
            _own(tuples[kept], published.ids, len(published)),
        )
        if table.unit is None:
            return cls(Fits(*parts), frozen(tuples), frozen(boxes))
        from shoal.core.people_fits import Kinds, PeopleFits

        ids, count = table.unit.ids, table.unit.count
        asking = Kinds.of(originals.ids, ids[known], count)
        released = np.stack([tuples[kept], published.ids, ids[kept]], axis=1)
        return cls(PeopleFits(*parts, asking, released, count), frozen(tuples), frozen(boxes))

    def take(self, rows: Counts) -> Coverage:
        """Return these rows in the same graph."""
        return replace(self, tuples=self.tuples[rows], boxes=self.boxes[rows])

    def released(self) -> Counts:
        """(rows,) how many people have a released record that each row's person fits."""
        return self.fits.degrees[0][self.tuples]

    def originals(self) -> Counts:
        """(rows,) how many people fit each row's cells."""
        return self.fits.degrees[1][self.boxes]

    def matchable(self) -> Counts:
        """(rows,) as `released`, where everybody else must still find a record of their own."""
        return self.fits.matchable[self.tuples]

    def short_of(self, k: int) -> Bools:
        """(rows,) whether the person or the cells of a row end up with fewer than k partners.

        Partners are dealt out so that nobody has more than k and as many pairs as possible are
        made: where everybody gets k, the graph holds k perfect matchings without a common pair.
        """
        tuples, boxes = self.fits.short_of(k)
        return tuples[self.tuples] | boxes[self.boxes]

    def most_partners(self) -> int:
        """Return the largest k that leaves nobody short."""
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
    """The graph between kinds of originals (tuples) and kinds of published rows (boxes).

    people: (tuples,) originals of each kind; copies: (boxes,) released records of each kind.
    own: (pairs, 2) tuple and box of rows that are released: a truthful one is a pair that fits.
    """

    cells: Cells
    people: Counts
    copies: Counts
    own: Codes

    def __post_init__(self) -> None:
        object.__setattr__(self, "_short", {})

    def _look(self, kernel: Callable[..., int], *arrays: Any) -> None:
        """Have a kernel go through all pairs that may fit, and report now and then."""
        search, done = start_search(len(self.people), len(self.copies)), 0
        while search.left[0]:
            report("verify", done, len(self.people))
            done += int(kernel(self.cells, search, _PAIRS, *arrays))

    @cached_property
    def _counted(self) -> tuple[Counts, Counts, Counts]:
        from shoal.core._fits import count_fits

        by_tuple, pairs = (np.zeros(len(self.people), dtype=np.int64) for _ in range(2))
        by_box = np.zeros(len(self.copies), dtype=np.int64)
        self._look(count_fits, self.people, self.copies, by_tuple, by_box, pairs)
        return frozen(by_tuple), frozen(by_box), frozen(pairs)

    @property
    def degrees(self) -> tuple[Counts, Counts]:
        """(tuples,) released records that each fits; (boxes,) originals that fit each."""
        return self._counted[:2]

    @property
    def pairs(self) -> int:
        """How many pairs of a tuple and a box fit."""
        return int(self._counted[2].sum())

    @cached_property
    def edges(self) -> tuple[Counts, Codes]:
        """The boxes that cover each tuple, one after the other, and where those of each begin."""
        from shoal.core._fits import list_fits

        indptr = np.concatenate(([0], np.cumsum(self._counted[2])))
        if indptr[-1] > _MOST:
            raise InputError(
                f"{indptr[-1]:,} pairs of records fit each other, more than can be matched; "
                "ask for k-k-anonymity, or for k-anonymity"
            )
        indices = np.empty(int(indptr[-1]), dtype=np.int32)
        self._look(list_fits, indptr, indices)
        return frozen(indptr), frozen(indices)

    @cached_property
    def matchable(self) -> Counts:
        """(tuples,) released records that each can have in some perfect matching.

        Everybody with their own record is such a matching. Any other pair that fits is in one just
        where both lie on a cycle that leaves tuples by pairs that fit and boxes by rows' own.
        """
        (indptr, indices), tuples = self.edges, len(self.people)
        parts, box_parts = strong_parts(indptr, indices, self.own, len(self.copies))
        heads = np.repeat(np.arange(tuples, dtype=np.int32), np.diff(indptr))
        usable = parts[heads] == box_parts[indices]
        return frozen(sum_by(heads[usable], tuples, self.copies[indices[usable]]))

    def short_of(self, k: int) -> tuple[Bools, Bools]:
        """Tell which tuples and which boxes a largest dealing of partners leaves short of k."""
        known: dict[int, tuple[Bools, Bools]] = self.__dict__["_short"]
        if k not in known:
            by_tuple, by_box = self.degrees
            tuples, boxes = by_tuple < k, by_box < k
            if not (tuples.any() or boxes.any()):
                tuples, boxes = self._flow(k)
            known[k] = frozen(tuples), frozen(boxes)
        return known[k]

    def _flow(self, k: int) -> tuple[Bools, Bools]:
        """Deal out partners: each person to k boxes, each box to k people, no pair twice."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        (indptr, indices), tuples, boxes = self.edges, len(self.people), len(self.copies)
        wanted = int(self.people.sum()) * k
        if wanted > _WHOLE:
            raise InputError(f"{wanted:,} partners are more than can be dealt out; lower k")
        heads = np.repeat(np.arange(tuples), np.diff(indptr))
        people, copies = self.people[heads], self.copies[indices]
        most = np.minimum(people * np.minimum(copies, k), copies * np.minimum(people, k))
        source, sink = tuples + boxes, tuples + boxes + 1
        begins = np.concatenate([heads, np.full(tuples, source), tuples + np.arange(boxes)])
        ends = np.concatenate([indices + tuples, np.arange(tuples), np.full(boxes, sink)])
        limits = np.concatenate([most, self.people * k, self.copies * k]).astype(np.int32)
        arcs = csr_array((limits, (begins, ends)), shape=(sink + 1, sink + 1))
        dealt = maximum_flow(arcs, source, sink).flow
        out = dealt[[source], :].toarray().ravel()[:tuples]
        into = -dealt[[sink], :].toarray().ravel()[tuples : tuples + boxes]
        return out < self.people * k, into < self.copies * k


def strong_parts(indptr: Counts, indices: Codes, own: Codes, boxes: int) -> tuple[Codes, Codes]:
    """(tuples,) and (boxes,) the part of each; pairs of one part lie on cycles, others do not."""
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


def spoken_of(recoding: Recoding, ids: Codes) -> Recoding:
    """Return a recoding that says no more than its text does.

    A single value published for a wider subset may stand for the values of the rows that show it,
    and for nothing else: the subset behind it is not published.
    """
    column, subsets = recoding.column, recoding.subsets
    place = {text: code for code, text in enumerate(column.labels)}
    codes = np.array([place.get(text, -1) for text in recoding.labels], dtype=np.int32)
    root = subsets.whole & np.array([text == ROOT for text in recoding.labels], dtype=np.bool_)
    single = (codes >= 0) & (subsets.sizes > 1) & ~root
    single &= subsets.hold(np.arange(len(subsets), dtype=np.int32), np.maximum(codes, 0))
    if recoding.levels is not None:
        single &= recoding.levels < 0
    if not single[recoding.codes[ids != SUPPRESSED]].any():
        return recoding
    return Recoding.of_groups(column, ids, int(ids.max()) + 1, "set", use_hierarchy=False)


def start_search(tuples: int, boxes: int) -> Search:
    """Return a search through all pairs, from its beginning."""
    from shoal.core._fits import SAMPLE, Search

    room = np.empty(_ROOM * boxes, dtype=np.int32)
    room[:boxes] = np.arange(boxes)
    nodes = np.zeros((_NODES, 4), dtype=np.int64)
    nodes[0] = 0, tuples, 0, boxes
    left = np.full(1, int(tuples > 0 and boxes > 0))
    order = np.arange(tuples, dtype=np.int32)
    return Search(order, room, nodes, left, np.empty(SAMPLE, dtype=np.int32))


def _own(tuples: Codes, boxes: Codes, many: int) -> Codes:
    """(pairs, 2) the pairs of tuple and box that rows have, each once."""
    pairs = np.unique(tuples.astype(np.int64) * many + boxes)
    return np.stack(np.divmod(pairs, max(many, 1)), axis=1).astype(np.int32)


def _cells(table: Table, spoken: Sequence[Recoding], originals: Counts, published: Counts) -> Any:
    """Return the values of some rows, and the runs of the cells of others."""
    from shoal.core._fits import Cells

    spoken = sorted(spoken, key=lambda r: -r.column.domain)  # few pass a fine column
    offsets = np.cumsum([0, *(len(r.subsets.starts) for r in spoken)])
    codes = np.stack([table[r.name].codes[originals] for r in spoken], axis=1)
    entries = [r.codes[published] for r in spoken]
    parts = list(zip(spoken, entries, offsets.tolist(), strict=False))
    return Cells(
        codes,
        np.stack([r.subsets.indptr[entry] + begin for r, entry, begin in parts], axis=1),
        np.stack([r.subsets.indptr[entry + 1] + begin for r, entry, begin in parts], axis=1),
        np.concatenate([r.subsets.starts for r in spoken]),
        np.concatenate([r.subsets.stops for r in spoken]),
    )
