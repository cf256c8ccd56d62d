"""Consistency graphs: which people and records an attacker who knows some attributes can match.

People with equal known attributes are one kind, and so are records with equal cells in them; two
kinds share an edge if the people's values lie in the records' cells.

    rows_of       the rows that the attacker compares: of a table, or of a release as published
    fitting       the graph of people whose values are in the cells of records
    consistency   the graph of a release; an attacker who knows that everyone has exactly one record
                  drops edges that are in no perfect matching (`Graph.pruned`)
    believed      the same with a weight for each edge, for attackers who consider some matches
                  likelier

A weight that is a factor of the person times a factor of the record changes nothing, because
everyone has one record: only how well a person fits one record rather than another matters, not how
common the person's values are. Tassa, Mazza & Gionis, "k-Concealment: an alternative model of
k-type anonymity", Transactions on Data Privacy 5(1), 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.errors import InputError, unknown
from shoal.files.writing import decoded
from shoal.release.release import Release
from shoal.release.verification import published_table
from shoal.risk.population.frequencies import chosen_columns
from shoal.support.arrays import Bools, Codes, Counts, Floats, frozen
from shoal.support.options import check_range
from shoal.support.wording import counted
from shoal.table.classes import SUPPRESSED
from shoal.table.column import Column, Kind, Role
from shoal.table.coverage import Coverage, as_published, strong_parts
from shoal.table.people import sum_by
from shoal.table.recoding import Recoding
from shoal.table.table import Table

_MAX_PAIRS = 2**26  # pairs of kinds that are stored


@dataclass(frozen=True, eq=False)
class Graph:
    """Kinds of people, kinds of records, and which can match, from `consistency`.

    Attributes:
        person: (rows,) the kind of each row's person, −1 if the person is unknown.
        record: (rows,) the kind of the person's own record, −1 if there is none.
        people: The number of people of each kind.
        copies: The number of records of each kind.
        indptr: Where the kinds of records of each kind of people start in `indices`.
        indices: For each kind of people its kinds of records, ascending.
        weights: (edges,) the weight of a single such record, None if all are equal.
        hidden: Whether the last kind of records are places outside the release, which fit everyone.
        counts: (rows,) people behind each row of a weighted table.
    """

    person: Codes
    record: Codes
    people: Counts
    copies: Counts
    indptr: Counts
    indices: Codes
    weights: Floats | None = None
    hidden: bool = False
    counts: Counts | None = None

    def __repr__(self) -> str:
        return (
            f"Graph(people={int(self.people.sum())}, kinds={len(self.people)}, "
            f"records={len(self.copies)} kinds, edges={len(self.indices)})"
        )

    @cached_property
    def heads(self) -> Codes:
        """(edges,) the kind of people of each edge."""
        return np.repeat(np.arange(len(self.people), dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def own(self) -> Codes:
        """(pairs, 2) the kinds of a person and their record, each pair once."""
        return self._pairs[0]

    @cached_property
    def pair(self) -> Codes:
        """(rows,) the index in `own` of each row, −1 if it has none."""
        return self._pairs[1]

    @cached_property
    def many(self) -> Counts:
        """(pairs,) the number of people of each pair."""
        return sum_by(self.pair, len(self.own), self.counts)

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes]:
        rows = np.flatnonzero((self.person >= 0) & (self.record >= 0))
        keys = self.person[rows].astype(np.int64) * len(self.copies) + self.record[rows]
        distinct, index = np.unique(keys, return_inverse=True)
        pair = np.full(len(self.person), -1, dtype=np.int32)
        pair[rows] = index.ravel()
        kinds = np.divmod(distinct, max(len(self.copies), 1))
        return np.stack(kinds, axis=1).astype(np.int32), frozen(pair)

    @cached_property
    def candidates(self) -> Counts:
        """(kinds of people,) the number of released records that each fits."""
        released = self.copies.copy()
        if self.hidden:
            released[-1] = 0
        return sum_by(self.heads, len(self.people), released[self.indices])

    @property
    def disjoint(self) -> bool:
        """Whether everyone fits only one kind of records."""
        return len(self.indices) == len(self.people)

    @cached_property
    def parts(self) -> tuple[Codes, Codes]:
        """The part of each kind of people and of records; only edges inside parts are feasible."""
        if self.disjoint:
            return self.indices, np.arange(len(self.copies), dtype=np.int32)
        return strong_parts(self.indptr, self.indices, self.own, len(self.copies))

    def pruned(self) -> Graph:
        """Return the graph without edges that are in no perfect matching."""
        people, records = self.parts
        kept = people[self.heads] == records[self.indices]
        return self if kept.all() else self.keep(kept)

    def keep(self, kept: Bools) -> Graph:
        """Return the graph with these edges only."""
        counts = np.bincount(self.heads[kept], minlength=len(self.people))
        return replace(
            self,
            indptr=np.concatenate(([0], np.cumsum(counts))),
            indices=self.indices[kept],
            weights=None if self.weights is None else self.weights[kept],
        )

    def edges_of(self, pairs: Codes) -> Counts:
        """(pairs,) the edge of each pair of kinds, which must exist."""
        keys = self.heads.astype(np.int64) * len(self.copies) + self.indices
        return np.searchsorted(keys, pairs[:, 0].astype(np.int64) * len(self.copies) + pairs[:, 1])


def consistency(
    release: Release, known: Iterable[str] | None = None, *, present: bool = True
) -> Graph:
    """Return the graph of a release for an attacker who knows these attributes of everyone.

    Parameters:
        release: The release.
        known: Names of published columns, by default the quasi-identifiers.
        present: Whether the attacker knows who is in the release; if not, suppressed people are
            candidates too.

    Returns:
        The consistency graph.

    Raises:
        InputError: An attribute is not released, there are too many pairs, or values are outside
            their published cells.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> consistency(shoal.anonymize(rows, k=2, quasi="age", sensitive="ill"))
    Graph(people=4, kinds=4, records=2 kinds, edges=4)
    """
    graph = fitting(release, check_known(release, known), present=present)
    return graph if present else _with_hidden(release, graph)


def check_known(release: Release, known: Iterable[str] | None) -> tuple[str, ...]:
    """Return the known attributes, each once, by default the quasi-identifiers.

    Raises:
        InputError: An attribute is not released.
    """
    table = release.original
    shown = [column.name for column in table if column.role is not Role.IDENTIFIER]
    if isinstance(known, str):
        raise InputError("known must be a list of attributes, not a string")
    names = tuple(dict.fromkeys(table.quasi if known is None else known))
    for name in names:
        if name not in shown:
            raise unknown("the release has no attribute", name, shown)
    return names


def fitting(release: Release, names: Iterable[str], *, present: bool = True) -> Graph:
    """Return the graph of people whose values are in the cells of records.

    Parameters:
        release: The release.
        names: The known attributes.
        present: Whether the attacker knows who is in the release.

    Raises:
        InputError: There are too many pairs, or values are outside their published cells.
    """
    table, ids = release.original, release.classes.ids
    recodings = {name: published_as(release, name) for name in names}
    if recodings:
        coverage = Coverage.of(table, recodings, ids, everybody=not present)
        fits = coverage.fits
        if fits.pairs > _MAX_PAIRS:
            raise InputError(
                f"{fits.pairs:,} pairs of people and records match on the known attributes, more "
                f"than the limit of {_MAX_PAIRS:,}; name more known attributes, or use fewer rows"
            )
        kinds = coverage.tuples, coverage.boxes, fits.people, fits.copies
        graph = Graph(*kinds, *fits.edges, counts=table.counts)
    else:
        record = np.where(ids == SUPPRESSED, np.int32(-1), np.int32(0))
        person = record if present else np.zeros(len(ids), dtype=np.int32)
        people, copies = (sum_by(kinds, 1, table.counts) for kinds in (person, record))
        edges = np.arange(2), np.zeros(1, dtype=np.int32)
        graph = Graph(person, record, people, copies, *edges, counts=table.counts)
    covered = _is_edge(graph, graph.own)
    if not covered.all():
        wrong = ~covered[graph.pair[graph.pair >= 0]]
        raise InputError(
            f"{counted(int(wrong.sum()), 'row has', 'rows have')} values outside their published "
            "cells: this release was not made by generalization, so its re-identification risk "
            "cannot be computed"
        )
    return graph


def published_as(release: Release, name: str) -> Recoding:
    """Return the recoding of a column; columns that are not quasi-identifiers are unchanged."""
    recoding = release.recodings.get(name)
    return Recoding.identity(release.original[name]) if recoding is None else recoding


def _is_edge(graph: Graph, pairs: Codes) -> Bools:
    # edges are sorted by kind of people, then of records, so that one number orders them
    keys = graph.heads.astype(np.int64) * len(graph.copies) + graph.indices
    asked = pairs[:, 0].astype(np.int64) * len(graph.copies) + pairs[:, 1]
    edge = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    return np.asarray(keys[edge] == asked) if len(keys) else np.zeros(len(asked), dtype=np.bool_)


def _with_hidden(release: Release, graph: Graph) -> Graph:
    """Add one place outside the release for each suppressed person, which anyone may have."""
    left_out = release.classes.suppressed
    if not left_out:
        return graph
    return replace(
        graph,
        record=np.where(graph.record < 0, np.int32(len(graph.copies)), graph.record),
        copies=np.append(graph.copies, left_out),
        indptr=graph.indptr + np.arange(len(graph.indptr)),
        indices=np.insert(graph.indices, graph.indptr[1:], np.int32(len(graph.copies))),
        hidden=True,
    )


Prior = Mapping[str, float] | Callable[[Counts, Counts], Floats]
_MAX_BELIEFS = 2**24  # pairs that are weighted individually


def believed(release: Release, known: Iterable[str] | None, prior: Prior) -> Graph:
    """Return the consistency graph of a release with weights.

    Parameters:
        release: The release.
        known: The known attributes, by default the quasi-identifiers.
        prior: For some attributes the probability that the attacker's value is wrong, or a function
            of rows of people and rows of records, two arrays of equal length, that returns the
            weight of each pair; it may use only the known attributes of either row.

    Raises:
        InputError: An attribute is not known, a probability or a weight is not valid, or there are
            too many pairs.
    """
    names = check_known(release, known)
    if callable(prior):
        graph = consistency(release, names)
        return replace(graph, weights=_function_weights(graph, prior))
    for name, rate in prior.items():
        if name not in names:
            raise unknown("prior: no known attribute", name, names)
        check_range(f"prior: the chance that {name!r} is wrong", rate, 0.0, 0.5)
    lax = {name: rate for name, rate in prior.items() if rate > 0}
    graph = fitting(release, names)
    if not lax:
        return graph
    strict = fitting(release, [name for name in names if name not in lax])
    return _weighed(release, _widened(graph, strict), lax)


def _function_weights(graph: Graph, prior: Callable[[Counts, Counts], Floats]) -> Floats:
    """(edges,) the weights that the function returns for one row of each kind."""
    people, records = _first_rows(graph)
    weights = np.asarray(prior(people[graph.heads], records[graph.indices]), dtype=np.float64)
    if weights.shape != graph.indices.shape or not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError("prior must return one finite number above 0 for each pair of rows")
    return weights


def _widened(graph: Graph, strict: Graph) -> Graph:
    """Return the graph `strict` with the edges of `graph`, whose attacker knows less."""
    from scipy.sparse import csr_array

    people, records = _first_rows(graph)
    wide_people, wide_records = strict.person[people], strict.record[records]
    shape = len(strict.people), len(strict.copies)
    each = (
        np.bincount(wide_people, minlength=shape[0]),
        np.bincount(wide_records, minlength=shape[1]),
    )
    pairs = int((each[0][strict.heads] * each[1][strict.indices]).sum())
    if pairs > _MAX_BELIEFS:
        raise InputError(
            f"prior: {pairs:,} pairs of records are too many to weight (at most "
            f"{_MAX_BELIEFS:,}); name fewer attributes that may be wrong"
        )
    ones = np.ones(len(strict.indices), dtype=np.int8)
    links = csr_array((ones, strict.indices, strict.indptr), shape=shape)
    wide = csr_array(csr_array(links[wide_people])[:, wide_records])
    wide.sort_indices()
    indptr, indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int32)
    return replace(graph, indptr=indptr, indices=indices)


def _weighed(release: Release, graph: Graph, rates: Mapping[str, float]) -> Graph:
    """Weight each pair by the likelihood of the attacker's values if the record is the person's."""
    people, records = _first_rows(graph)
    weights = np.ones(len(graph.indices))
    for name, rate in rates.items():
        said = as_published(published_as(release, name), release.classes.ids)
        entries = said.codes[records][graph.indices]
        inside = said.subsets.hold(entries, said.column.codes[people][graph.heads])
        weights *= np.where(inside, 1 - rate, rate)
    return replace(graph, weights=weights)


def _first_rows(graph: Graph) -> tuple[Counts, Counts]:
    """Return one row of each kind of people, and of records."""
    return _firsts(graph.person, len(graph.people)), _firsts(graph.record, len(graph.copies))


def _firsts(kinds: Codes, many: int) -> Counts:
    first = np.zeros(many, dtype=np.int64)
    rows = np.flatnonzero(kinds >= 0)[::-1]
    first[kinds[rows]] = rows
    return first


_ENCODED = (Role.QUASI, Role.SENSITIVE)  # other columns keep their cells in row order


def rows_of(source: Release | Table, known: Sequence[str] | None = None) -> Table:
    """Return rows whose quasi-identifiers are the columns that others may know.

    Parameters:
        source: A table, or a release, of which the published rows and cells are taken.
        known: The columns, by default the quasi-identifiers.

    Raises:
        InputError: There are no columns to compare, or a column does not exist.
    """
    if isinstance(source, Release):
        return _published(source, known)
    columns = tuple(_as_quasi(source[name]) for name in chosen_columns(source, known))
    return replace(source, columns=columns)


def _published(release: Release, known: Sequence[str] | None) -> Table:
    original, rows = release.original, np.arange(len(release.original))
    if release.suppressed is not None:
        rows = np.flatnonzero(~release.suppressed)
    table = published_table(decoded(release.published_cells(rows)), original)
    originals = original.take(rows)
    return replace(
        table,
        columns=tuple(_as_quasi(table[name]) for name in chosen_columns(table, known)),
        counts=originals.counts,
        person=originals.person,
        household=originals.household,
        weights=originals.weights,
    )


def _as_quasi(column: Column) -> Column:
    if column.role in _ENCODED:
        return replace(column, role=Role.QUASI)
    return Column.encode(column.name, column.to_arrow(), Role.QUASI, Kind.NOMINAL)
