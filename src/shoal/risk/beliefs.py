"""Attackers who consider some matches more likely: weighted pairs of people and records.

Weights that are a product of a factor of the person and a factor of the record change nothing,
because everyone has one record: only how well a person fits one record rather than another matters,
not how common the person's values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from shoal.core.coverage import as_published
from shoal.core.release import Release
from shoal.errors import InputError, unknown
from shoal.risk.graphs import Graph, check_known, consistency, fitting, published_as
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_range

Prior = Mapping[str, float] | Callable[[Counts, Counts], Floats]
_MAX_PAIRS = 2**24  # pairs that are weighted individually


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
    if pairs > _MAX_PAIRS:
        raise InputError(
            f"prior: {pairs:,} pairs of records are too many to weight (at most "
            f"{_MAX_PAIRS:,}); name fewer attributes that may be wrong"
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
