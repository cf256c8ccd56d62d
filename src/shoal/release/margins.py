"""A release known by its counts: weighted rows with the same classes, and each column on its own.

If the rows of a release do not fit in memory, one can still count its classes and, for each column,
how many records with each original value have each published cell. `MarginRelease` has weighted
rows with exactly these counts. Which original values occur together in a record is not known:
figures that need it are not defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from shoal.release.release import Release, Scope
from shoal.support.arrays import Codes, Counts
from shoal.table.classes import Classes, Histogram
from shoal.table.pairs import Pairs
from shoal.table.recoding import Recoding
from shoal.table.table import Table

Sizes = tuple[Counts, Counts]  # numbers of records of tuples, and how many tuples have each
_SCOPES: tuple[Scope, ...] = ("cell", "column", "class", "tuple")


@dataclass(frozen=True, eq=False, repr=False)
class MarginRelease(Release):
    """A release whose counts are true, while its rows are not those of the table.

    Attributes:
        before: The sizes of the original tuples, and how many have each.
        released_before: The same of the released records alone.
        counted: The values of columns inside each class, and the values that their codes stand for;
            classes are in the order of `classes`.
        matched: Whether cells are beside their original values; if not, both are only counted.
    """

    before: Sizes | None = None
    released_before: Sizes | None = None
    counted: Mapping[str, tuple[Any, Histogram]] = field(default_factory=dict)
    matched: bool = True

    @property
    def scope(self) -> Scope:
        """What its figures agree with: cells, their original values, or values inside classes."""
        if not self.matched:
            return "cell"
        return "class" if set(self.recodings) <= set(self.counted) else "column"

    @cached_property
    def classes(self) -> Classes:
        """The equivalence classes, with the values that were counted in each of them."""
        found = super().classes
        held = {}
        for name, (values, histogram) in self.counted.items():
            known = self.original[name].values  # reports leave out values that are not released
            codes = pc.index_in(values, value_set=known).fill_null(-1).to_numpy()
            held[name] = replace(histogram, codes=codes[histogram.codes].astype(np.int32))
            if not np.array_equal(histogram.totals(), found.rows):
                raise ValueError(f"the values of {name!r} were counted in other classes")
        return found.with_histograms(held)

    def knows(self, scope: Scope) -> bool:
        """Return whether figures of this scope are those of the table."""
        return _SCOPES.index(scope) <= _SCOPES.index(self.scope)

    def original_sizes(self) -> Sizes:
        """Return the sizes of the original tuples, and how many have each.

        Without suppressed records these are the tuples of the released records.
        """
        found = self.released_before if self.suppressed is None else self.before
        assert found is not None
        return found


class Pieces(NamedTuple):
    """Records of one column along the classes: the class and value of each piece, and its size.

    The pieces are sorted by class.
    """

    classes: Counts
    codes: Codes
    counts: Counts


def spread(cells: Codes, sizes: Counts, pairs: Pairs) -> Pieces:
    """Distribute the original values of each published cell over the classes that show it.

    Parameters:
        cells: (classes,) the cell of each class.
        sizes: (classes,) records of each class.
        pairs: The pairs; those of a cell have as many records as its classes.

    Returns:
        At most one piece for each class and each pair.

    >>> pairs = Pairs(np.array([0, 0, 1]), np.array([4, 5, 6]), np.array([3, 2, 2]))
    >>> [part.tolist() for part in spread(np.array([0, 1, 0]), np.array([2, 2, 3]), pairs)]
    [[0, 1, 2, 2], [4, 6, 4, 5], [2, 2, 1, 2]]
    """
    order = np.argsort(cells, kind="stable")
    by_pair = np.lexsort((pairs.codes, pairs.cells))
    class_ends = np.cumsum(sizes[order])
    pair_ends = np.cumsum(pairs.counts[by_pair])
    ends = np.union1d(class_ends, pair_ends)
    classes = order[np.searchsorted(class_ends, ends)]
    codes = pairs.codes[by_pair][np.searchsorted(pair_ends, ends)]
    by_class = np.argsort(classes, kind="stable")
    counts = np.diff(ends, prepend=0)
    return Pieces(classes[by_class], codes[by_class].astype(np.int32), counts[by_class])


@dataclass(frozen=True, eq=False)
class Margins:
    """What is counted of a release.

    sizes: (classes,) records of each class, the classes sorted by their cells.
    cells: for each quasi-identifier, (classes,) the published cell of each class.
    pairs: for each quasi-identifier, the released records with each cell and original value.
    lost: for each column, (domain,) the records with each value that are not released.
    others: for each other column, (domain,) the released records with each value.
    """

    sizes: Counts
    cells: Mapping[str, Codes]
    pairs: Mapping[str, Pairs]
    lost: Mapping[str, Counts]
    others: Mapping[str, Counts] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        """Number of records that are not released."""
        return int(next(iter(self.lost.values())).sum())

    def rows(self) -> Rows:
        """Return weighted rows with these counts; there are few more than classes and pairs."""
        hidden = self.suppressed
        sizes = np.append(self.sizes, [hidden] if hidden else []).astype(np.int64)
        columns = {}
        for name, pairs in self.pairs.items():
            last = int(max(self.cells[name].max(initial=-1), pairs.cells.max(initial=-1))) + 1
            cells = np.append(self.cells[name], [last] if hidden else [])
            columns[name] = spread(cells, sizes, pairs.joined(last, self.lost[name]))
        for name, released in self.others.items():
            parts = np.zeros(len(sizes), dtype=np.int32)
            parts[len(self.sizes) :] = 1
            found = Pairs.of_counts(0, released).joined(1, self.lost[name])
            columns[name] = spread(parts, sizes, found)
        return align(sizes, columns)

    def release(
        self, made: Release, table: Table, recodings: Mapping[str, Recoding], rows: Rows
    ) -> MarginRelease:
        """Return the release of weighted rows.

        Parameters:
            made: Its guarantee, and how it was produced.
            table: The table of the rows.
            recodings: The recoding of each quasi-identifier, whose entries are its cells in order.
            rows: The rows.
        """
        hidden = rows.classes == len(self.sizes)
        published = {}
        for name, found in recodings.items():
            entries = np.append(self.cells[name], 0)[rows.classes].astype(np.int32)
            column = replace(found.column, codes=rows.codes[name])
            published[name] = replace(found, column=column, codes=entries).suppress(hidden)
        known = {each.name: getattr(made, each.name) for each in fields(Release)}
        known |= {"original": table, "recodings": published}
        known["suppressed"] = hidden if hidden.any() else None
        return MarginRelease(**known)


class Rows(NamedTuple):
    """Weighted rows: the class of each, its number of records, and its code in each column.

    Records that are not released are in the class after the last.
    """

    classes: Counts
    counts: Counts
    codes: Mapping[str, Codes]


def align(sizes: Counts, columns: Mapping[str, Pieces]) -> Rows:
    """Return rows that have the pieces of every column, class by class.

    Parameters:
        sizes: (classes,) records of each class, 1 or more.
        columns: The pieces of each column, which fill every class.

    >>> pieces = {"a": Pieces(np.array([0, 0]), np.array([7, 8]), np.array([1, 2]))}
    >>> pieces["b"] = Pieces(np.array([0, 0]), np.array([3, 4]), np.array([2, 1]))
    >>> rows = align(np.array([3]), pieces)
    >>> rows.counts.tolist(), rows.codes["a"].tolist(), rows.codes["b"].tolist()
    ([1, 1, 1], [7, 8, 8], [3, 3, 4])
    """
    class_ends = np.cumsum(sizes)
    ends, ends_of = class_ends, {}
    for name, pieces in columns.items():
        ends_of[name] = np.cumsum(pieces.counts)
        ends = np.union1d(ends, ends_of[name])
    codes = {
        name: columns[name].codes[np.searchsorted(found, ends)] for name, found in ends_of.items()
    }
    return Rows(np.searchsorted(class_ends, ends), np.diff(ends, prepend=0), codes)
