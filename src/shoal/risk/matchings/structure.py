"""Attack matrices: which people can have which records, and the independent components.

Row i is a person, column j a record, and an entry the weight that the attacker gives the pair; only
ratios matter. An attacker who knows that everyone has one record rules out pairs that are in no
perfect matching.

    check_matrix   numbers of at least 0, as many rows as columns
    split          drops pairs that are in no perfect matching; what remains falls into components
    collapse       the kinds of rows and columns of a component: identical lines are
                   interchangeable, so counts replace subsets, and with few kinds their number is
                   polynomial

Dulmage & Mendelsohn, "Coverings of bipartite graphs", Canadian Journal of Mathematics 10, 1958;
Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_choice
from shoal.support.wording import counted

Sums = Literal["any", "rows", "both"]
NOWHERE = -1  # the true record is in another component, or ruled out
ROUNDOFF = 2.0**-53  # largest relative error of one rounding, the unit of all error bounds
_SUM_TOLERANCE = 1e-6  # how far the sum of a row or column of probabilities may be from 1


class Edges(NamedTuple):
    """Positive entries, row by row: those of row i are at indptr[i] … indptr[i + 1] − 1."""

    indptr: Counts
    indices: Counts
    weights: Floats


class Multiplicity(NamedTuple):
    """The people and records that the rows and columns of a component stand for.

    Parameters:
        row_counts, column_counts: (rows,) people of each row, (columns,) records of each column.
        own_rows: (true pairs,) the row of each; `Component.mapping` has their columns.
        own: (true pairs,) the number of each in the graph.
    """

    row_counts: Counts
    column_counts: Counts
    own_rows: Counts
    own: Counts


@dataclass(frozen=True, eq=False)
class Component:
    """Rows and columns that perfect matchings match only with each other.

    Parameters:
        rows, columns: (rows,), (columns,) their positions in the matrix or graph, ascending.
        mapping: (true pairs,) the index in `columns` of each true record, or NOWHERE; in a matrix
            there is one true pair for each row.
        stored: The entries, dense or as edges, 0 for pairs that are in no perfect matching.
        multiplicity: The people and records of each row and column, None in a matrix: one each.
    """

    rows: Counts
    columns: Counts
    mapping: Counts
    stored: Floats | Edges = field(repr=False)
    multiplicity: Multiplicity | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Number of rows; in a matrix also of columns."""
        return len(self.rows)

    @property
    def people(self) -> int:
        """Number of people."""
        if self.multiplicity is None:
            return self.size
        return int(self.multiplicity.row_counts.sum())

    @property
    def own_rows(self) -> Counts:
        """(true pairs,) the row of each true pair."""
        if self.multiplicity is None:
            return np.arange(self.size)
        return self.multiplicity.own_rows

    @cached_property
    def dense(self) -> Floats:
        """(rows, columns) the entries; of a matrix only."""
        if not isinstance(self.stored, Edges):
            return self.stored
        matrix = np.zeros((self.size, self.size))
        heads = np.repeat(np.arange(self.size), np.diff(self.stored.indptr))
        matrix[heads, self.stored.indices] = self.stored.weights
        return frozen(matrix)

    @cached_property
    def edges(self) -> Edges:
        """The positive entries, row by row."""
        if isinstance(self.stored, Edges):
            return self.stored
        heads, indices = np.nonzero(self.stored)
        indptr = np.searchsorted(heads, np.arange(self.size + 1))
        return Edges(indptr, np.ascontiguousarray(indices), self.stored[heads, indices])

    @cached_property
    def edge_count(self) -> int:
        """Number of pairs that can be matched."""
        if isinstance(self.stored, Edges):
            return len(self.stored.indices)
        return int(np.count_nonzero(self.stored))

    @property
    def share(self) -> float:
        """Share of pairs that can be matched."""
        return self.edge_count / (len(self.rows) * len(self.columns))

    @property
    def full(self) -> bool:
        """Whether every pair can be matched."""
        return self.share == 1

    @property
    def unweighted(self) -> Component:
        """The same pairs, all of weight 1."""
        return self.with_weights(np.ones(len(self.edges.indices)))

    def with_weights(self, weights: Floats) -> Component:
        """Return the same pairs with other weights, in the order of `edges`."""
        return replace(self, stored=Edges(self.edges.indptr, self.edges.indices, weights))


@dataclass(frozen=True, eq=False)
class Structure:
    """A checked attack matrix, split into components.

    Parameters:
        mapping: (rows,) the column of each row's true record.
        components: The components, ordered by their first row.
    """

    mapping: Counts
    components: tuple[Component, ...]

    @property
    def size(self) -> int:
        """Number of rows and of columns."""
        return len(self.mapping)

    @property
    def unweighted(self) -> Structure:
        """The same feasible pairs, all of weight 1."""
        return Structure(self.mapping, tuple(each.unweighted for each in self.components))


def split(matrix: Any, mapping: Any = None, *, sums: Sums = "any") -> Structure:
    """Check an attack matrix, drop pairs that are in no perfect matching, and split the rest.

    Parameters:
        matrix: (n, n) weights of at least 0: an array, nested lists or a scipy sparse array.
        mapping: (n,) the column of each row's true record, by default its own number.
        sums: "rows" requires rows that sum to 1, "both" also columns.

    Returns:
        The components.

    Raises:
        InputError: The matrix or the mapping is not valid, or there is no perfect matching.
    """
    stored = check_matrix(matrix, sums=sums)
    size = stored.shape[0]
    true = check_mapping(mapping, size)
    if isinstance(stored, np.ndarray) and stored.all():
        every = frozen(np.arange(size))
        return Structure(true, (Component(every, every, true, frozen(stored)),))
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    pattern = csr_array(stored != 0)
    owner = _owners(pattern, true)  # (columns,) the row that has it in one perfect matching
    # an arc leads from a row to the owner of each column that it may have: the pair is in some
    # perfect matching if and only if the arc lies on a cycle, along which columns are passed on
    arcs = csr_array((pattern.data, owner[pattern.indices], pattern.indptr), shape=pattern.shape)
    _, parts = connected_components(arcs, connection="strong")
    return Structure(true, _components(stored, true, parts, parts[owner]))


def check_matrix(matrix: Any, *, sums: Sums = "any") -> Any:
    """Return the matrix as float64, dense or in compressed sparse rows.

    Parameters:
        matrix: (n, n) weights of at least 0: an array, nested lists or a scipy sparse array.
        sums: "rows" requires rows that sum to 1, "both" also columns.

    Raises:
        InputError: The matrix is not square, or has entries that are not finite or negative.
    """
    check_choice("sums", sums, ("any", "rows", "both"))
    stored = _as_numbers(matrix)
    shape = tuple(stored.shape)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        size = " × ".join(map(str, shape)) or "a single number"
        raise InputError(f"the attack matrix must have as many rows as columns, not {size}")
    entries = stored if isinstance(stored, np.ndarray) else stored.data
    for wrong, problem in (
        (~np.isfinite(entries), "missing or infinite; give a number, 0 for impossible pairs"),
        (entries < 0, "negative; they must be 0 or more"),
    ):
        if wrong.any():
            words = ("entry of the attack matrix is", "entries of the attack matrix are")
            raise InputError(f"{counted(int(wrong.sum()), *words)} {problem}")
    for axis, line in ((1, "rows"), (0, "columns")):
        if sums in ("both", line):
            off = np.abs(np.asarray(stored.sum(axis=axis)).ravel() - 1) > _SUM_TOLERANCE
            if off.any():
                raise InputError(
                    f"{int(off.sum())} {line} of the attack matrix do not sum to 1; the first is "
                    f"number {int(off.argmax())} (counted from 0)"
                )
    return stored


def _as_numbers(matrix: Any) -> Any:
    try:
        if not hasattr(matrix, "tocsr"):
            return np.array(matrix, dtype=np.float64)
        stored = matrix.tocsr().astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("the attack matrix must contain numbers in rows of equal length") from None
    stored.sum_duplicates()
    stored.eliminate_zeros()
    return stored


def check_mapping(mapping: Sequence[int] | Counts | None, size: int) -> Counts:
    """Return the mapping as an array, by default the identity.

    Raises:
        InputError: The mapping is not a permutation of 0 … size − 1.
    """
    if mapping is None:
        return frozen(np.arange(size))
    given = np.asarray(mapping)
    fits = given.dtype.kind in "iu" and given.shape == (size,)
    if not fits or not np.array_equal(np.sort(given), np.arange(size)):
        raise InputError(
            f"the true mapping must give one column for each row: each from 0 to {size - 1} once"
        )
    return frozen(given.astype(np.int64))


def _owners(pattern: Any, true: Counts) -> Counts:
    """(columns,) the row of each column in one perfect matching, the true one if possible."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    size = len(true)
    if _at(pattern, np.arange(size), true).all():
        return np.argsort(true)
    owner = maximum_bipartite_matching(pattern, perm_type="row")
    if (owner < 0).any():
        raise InputError(
            f"no perfect matching: at most {int((owner >= 0).sum())} of {size} rows can have a "
            "record of their own, so the attacker's knowledge contradicts itself"
        )
    return np.asarray(owner, dtype=np.int64)


def _components(
    stored: Any, true: Counts, row_parts: Counts, column_parts: Counts
) -> tuple[Component, ...]:
    """Return the components, given the component of each row and of each column."""
    orders = [np.argsort(parts, kind="stable") for parts in (row_parts, column_parts)]
    ends = np.cumsum(np.bincount(row_parts))[:-1]
    position = np.empty(len(true), dtype=np.int64)
    possible = _at(stored, np.arange(len(true)), true) > 0
    components = []
    pieces = (np.split(order, ends) for order in orders)
    for rows, columns in zip(*pieces, strict=True):
        position[columns] = np.arange(len(columns))
        if isinstance(stored, np.ndarray):
            block: Floats | Edges = frozen(stored[np.ix_(rows, columns)])
        else:
            piece = stored[rows][:, columns]
            piece.sort_indices()
            block = Edges(piece.indptr.astype(np.int64), piece.indices.astype(np.int64), piece.data)
        usable = possible[rows] & (column_parts[true[rows]] == row_parts[rows[0]])
        mapping = np.where(usable, position[true[rows]], NOWHERE)
        components.append(Component(frozen(rows), frozen(columns), frozen(mapping), block))
    return tuple(sorted(components, key=lambda component: int(component.rows[0])))


def _at(stored: Any, rows: Counts, columns: Counts) -> Any:
    """(pairs,) the entries at these rows and columns of a dense or sparse matrix."""
    if isinstance(stored, np.ndarray):
        return stored[rows, columns]
    from scipy.sparse import csr_matrix

    return np.asarray(csr_matrix(stored)[rows, columns]).ravel()


@dataclass(frozen=True, eq=False)
class KindMatrix:
    """A matrix between kinds of rows and kinds of columns.

    Parameters:
        row_kinds, column_kinds: (rows,), (columns,) the kind of each line.
        row_counts, column_counts: (kinds,) the people and records of each kind.
        edges: The positive entries between kinds, by kind of rows.
    """

    row_kinds: Counts
    column_kinds: Counts
    row_counts: Counts
    column_counts: Counts
    edges: Edges

    @property
    def transposed(self) -> KindMatrix:
        """The transposed matrix."""
        indptr, indices, weights = self.edges
        heads = np.repeat(np.arange(len(self.row_counts)), np.diff(indptr))
        order = np.lexsort((heads, indices))
        begins = np.searchsorted(indices[order], np.arange(len(self.column_counts) + 1))
        return KindMatrix(
            self.column_kinds,
            self.row_kinds,
            self.column_counts,
            self.row_counts,
            Edges(begins, heads[order], weights[order]),
        )


def collapse(component: Component) -> KindMatrix:
    """Return the kinds of rows and of columns: lines of one kind have identical entries."""
    ones = np.ones(component.size, dtype=np.int64)
    row_counts, column_counts = (component.multiplicity or (ones, ones))[:2]
    edges = component.edges
    from scipy.sparse import csr_array

    shape = len(row_counts), len(column_counts)
    row_kinds, row_first = _kinds(*edges)
    matrix = csr_array((edges.weights, edges.indices, edges.indptr), shape=shape)
    across = csr_array(matrix.T.tocsr())
    across.sort_indices()
    column_kinds, column_first = _kinds(across.indptr, across.indices, across.data)
    # one line of each kind is enough: kinds × kinds instead of rows × columns
    small = csr_array(csr_array(matrix[row_first])[:, column_first])
    small.sort_indices()
    return KindMatrix(
        row_kinds,
        column_kinds,
        _sums(row_kinds, row_counts),
        _sums(column_kinds, column_counts),
        Edges(small.indptr.astype(np.int64), small.indices.astype(np.int64), small.data),
    )


def _sums(kinds: Counts, counts: Counts) -> Counts:
    return np.bincount(kinds, counts).astype(np.int64)


def _kinds(indptr: Counts, indices: Counts, weights: Floats) -> tuple[Counts, Counts]:
    """(lines,) the kind of each line by its entries, and the first line of each kind."""
    seen: dict[tuple[bytes, bytes], int] = {}
    kinds = np.empty(len(indptr) - 1, dtype=np.int64)
    first: list[int] = []
    for line, (begin, end) in enumerate(pairwise(indptr.tolist())):
        entries = (indices[begin:end].tobytes(), weights[begin:end].tobytes())
        kinds[line] = seen.setdefault(entries, len(seen))
        if kinds[line] == len(first):
            first.append(line)
    return kinds, np.array(first)
