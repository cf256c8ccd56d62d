"""Predicates over the quasi-identifiers, how many people fit them, and rows that are kept raw.

A predicate states, for some columns, which values a person has. All its statements are cells of the
release, or "at most" and "at least" an end of a column.

    from_rows, of_people, of_one_column   predicates as lists of terms, each a few runs of codes
    Crowd.count                           people who fit: 0, 1, or 2 for several
    try_kept_rows                         a few released rows that show every quasi-identifier
                                          exactly

In a release of generalized classes a single exact row isolates a person, although one success among
thousands of predicates is within chance. So these rows are a way to attack of their own. Their
control group is not the same rows tried on other people, which a single row cannot decide, but the
rows of people who were not released: how often such a row fits exactly one released person. This
assumes that a row without a person behind it looks like the row of some other person. A table of
many exact rows may be synthetic and more typical than people are; there the other ways count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.risk.release_attacks.attacked_tables import Cells, Sources
from shoal.risk.release_attacks.estimates import Trial
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.progress import report
from shoal.table.people import order_rows

_BATCH = 250  # predicates between two reports of progress


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates as lists of terms: a column and a run of codes or several.

    indptr: (predicates + 1,) the first term of each.
    columns: (terms,) the position of the column among the quasi-identifiers.
    first_run, last_run: (terms,) its runs in `starts` and `stops`, the last one excluded.
    starts, stops: (runs,) codes, the last one excluded.
    """

    indptr: Counts
    columns: Codes
    first_run: Counts
    last_run: Counts
    starts: Codes
    stops: Codes

    def __len__(self) -> int:
        return len(self.indptr) - 1


def from_rows(cells: Sequence[Cells], entries: Codes, used: Bools) -> Predicates:
    """Return one predicate for each row: the person has the values of its used cells.

    Cells that stand for every value restrict nothing, so they are left out; so are rows without
    another cell, and rows that repeat an earlier one.

    Parameters:
        cells: The released quasi-identifiers.
        entries: (rows, columns) the cells of each row.
        used: (rows, columns) which of them the predicate states.
    """
    says_nothing = np.stack([c.whole[e] for c, e in zip(cells, entries.T, strict=True)], axis=1)
    stated = np.where(used & ~says_nothing, entries, -1)
    stated = np.unique(stated[(stated >= 0).any(axis=1)], axis=0)
    rows, columns = np.nonzero(stated >= 0)
    runs = np.cumsum([0, *(len(c.starts) for c in cells)])
    ends = [c.indptr + start for c, start in zip(cells, runs, strict=False)]
    chosen = stated[rows, columns]
    first, last = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for column, indptr in enumerate(ends):
        terms = columns == column
        first[terms], last[terms] = indptr[chosen[terms]], indptr[chosen[terms] + 1]
    return Predicates(
        np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(stated))))),
        columns.astype(np.int32),
        first,
        last,
        np.concatenate([c.starts for c in cells]),
        np.concatenate([c.stops for c in cells]),
    )


def of_people(cells: Sequence[Cells], rows: Counts) -> Predicates:
    """Return one predicate for each row of people: exactly its values in all columns.

    Parameters:
        cells: The released quasi-identifiers.
        rows: Rows of the original or the control group.
    """
    codes = np.stack([column.column.codes[rows] for column in cells], axis=1).astype(np.int32)
    places = np.arange(codes.size + 1, dtype=np.int64)
    return Predicates(
        places[:: len(cells)],
        np.tile(np.arange(len(cells), dtype=np.int32), len(rows)),
        places[:-1],
        places[1:],
        codes.ravel(),
        codes.ravel() + np.int32(1),
    )


def opened(cells: Cells) -> Cells:
    """Return cells of an ordered column that stand for their values and all beyond.

    Beyond is above the cell if it lies above the median of the release, else below: such predicates
    tolerate noise. Cells without an order or without ends stay as they are.
    """
    column = cells.column
    bounded = np.isfinite(cells.low) & np.isfinite(cells.high)
    if not column.ordered or not bounded.any():
        return cells
    known = column.positions[: column.known]
    # entries that get an open range become a single run; the others keep theirs
    upper = cells.low > np.median(cells.low[cells.codes[bounded[cells.codes]]])
    first = np.where(upper, np.searchsorted(known, cells.low, side="left"), 0)
    stop = np.where(upper, len(known), np.searchsorted(known, cells.high, side="right"))
    lengths = np.where(bounded, (stop > first).astype(np.int64), np.diff(cells.indptr))
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    runs = np.arange(int(indptr[-1])) + np.repeat(cells.indptr[:-1] - indptr[:-1], lengths)
    runs = np.minimum(runs, max(len(cells.starts) - 1, 0))
    has_run = bounded & (lengths > 0)
    starts = cells.starts[runs] if len(cells.starts) else np.zeros(len(runs), np.int32)
    stops = cells.stops[runs] if len(cells.stops) else np.zeros(len(runs), np.int32)
    starts[indptr[:-1][has_run]], stops[indptr[:-1][has_run]] = first[has_run], stop[has_run]
    return replace(cells, indptr=indptr, starts=starts, stops=stops)


def of_one_column(cells: Sequence[Cells], count: int, rng: np.random.Generator) -> Predicates:
    """Return predicates over one column: a cell that is released once, or an end of the column.

    The ends are the lowest and the highest released cell: at most, or at least, what it allows.

    Parameters:
        cells: The released quasi-identifiers.
        count: The maximum number of predicates, drawn at random.
    """
    terms: list[tuple[int, list[tuple[int, int]]]] = []
    for place, column in enumerate(cells):
        times = np.bincount(column.codes, minlength=len(column))
        rare = np.flatnonzero((times == 1) & ~column.whole & (column.sizes > 0))
        for entry in rare.tolist():
            runs = slice(int(column.indptr[entry]), int(column.indptr[entry + 1]))
            pairs = zip(column.starts[runs].tolist(), column.stops[runs].tolist(), strict=True)
            terms.append((place, list(pairs)))
        terms += [(place, [run]) for run in _ends(column, times) if run not in ((0, 0), ())]
    chosen = rng.permutation(len(terms))[:count].tolist()
    picked = [terms[index] for index in chosen]
    lengths = [len(runs) for _, runs in picked]
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    flat = np.array([run for _, runs in picked for run in runs], dtype=np.int32).reshape(-1, 2)
    return Predicates(
        np.arange(len(picked) + 1, dtype=np.int64),
        np.array([place for place, _ in picked], dtype=np.int32),
        ends[:-1],
        ends[1:],
        np.ascontiguousarray(flat[:, 0]),
        np.ascontiguousarray(flat[:, 1]),
    )


def _ends(column: Cells, times: Counts) -> list[tuple[int, int]]:
    """Return the codes up to the lowest released cell, and those from the highest."""
    bounded = np.flatnonzero(np.isfinite(column.low) & np.isfinite(column.high) & (times > 0))
    if not column.column.ordered or len(bounded) < 2:
        return []
    known = column.column.positions[: column.column.known]
    lowest = column.high[bounded][np.argmin(column.low[bounded])]
    highest = column.low[bounded][np.argmax(column.high[bounded])]
    up_to = int(np.searchsorted(known, lowest, side="right"))
    starting = int(np.searchsorted(known, highest, side="left"))
    runs = [(0, up_to), (starting, len(known))]
    return [(start, stop) for start, stop in runs if 0 < stop - start < len(known)]


class Crowd:
    """People, arranged to count those who fit a predicate."""

    def __init__(self, sources: Sources, rows: slice) -> None:
        columns = [cells.column for cells in sources.quasi.values()]
        self._codes = np.stack([column.codes[rows] for column in columns], axis=1)
        self._codes = np.ascontiguousarray(self._codes, dtype=np.int32)
        self._by_code = np.stack(
            [
                order_rows([codes], [column.domain]).astype(np.int32)
                for codes, column in zip(self._codes.T, columns, strict=True)
            ]
        )
        begins = [
            np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=column.domain))))
            for codes, column in zip(self._codes.T, columns, strict=True)
        ]
        self._begins = np.concatenate(begins).astype(np.int64)
        self._bases = np.cumsum([0, *(len(each) for each in begins[:-1])]).astype(np.int64)
        self._who = np.ascontiguousarray(sources.who[rows], dtype=np.int32)

    def count(self, predicates: Predicates) -> Counts:
        """(predicates,) the number of people who fit each: 0, 1, or 2 for two or more."""
        from shoal.risk.release_attacks._nearest import count_people

        fits = np.zeros(len(predicates), dtype=np.int64)
        for start in range(0, len(predicates), _BATCH):
            report("trying predicates", start, len(predicates))
            part = slice(start, min(start + _BATCH, len(predicates)))
            count_people(
                predicates.indptr[part.start : part.stop + 1],
                predicates.columns,
                predicates.first_run,
                predicates.last_run,
                predicates.starts,
                predicates.stops,
                self._begins,
                self._bases,
                self._by_code,
                self._codes,
                self._who,
                fits[part],
            )
        return fits


KEPT = "rows kept raw"
_MAX_ROWS = 30  # more exact rows look like a synthetic table


def try_kept_rows(
    sources: Sources, crowds: list[Crowd], attacks: int, rng: np.random.Generator
) -> Trial | None:
    """Return the trial with rows that are released once and show exact values, None if none are.

    Parameters:
        crowds: The people of the original, and those of the control group if there are any.
        attacks: The maximum number of people of the control group to compare with.
    """
    cells = list(sources.quasi.values())
    once = sources.distinct.first[sources.distinct.sizes() == 1]
    entries = np.stack([column.codes[once] for column in cells], axis=1)
    exact = np.stack([c.sizes[e] == 1 for c, e in zip(cells, entries.T, strict=True)], axis=1)
    entries = entries[exact.all(axis=1)]
    if not 0 < len(entries) <= _MAX_ROWS:
        return None
    predicates = from_rows(cells, entries, np.ones(entries.shape, dtype=np.bool_))
    fits = crowds[0].count(predicates) == 1
    if len(crowds) == 1:
        return Trial(KEPT, int(fits.sum()), len(fits), 0, 0, 0.0) if len(fits) else None
    fits &= crowds[1].count(predicates) == 0
    people = of_people(cells, sources.draw(attacks, rng, control=True))
    others = (crowds[0].count(people) == 1) & (crowds[1].count(people) == 1)
    blind = float(others.mean())
    return Trial(KEPT, int(fits.sum()), len(fits), int(others.sum()), len(others), blind)
