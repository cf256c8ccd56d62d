"""k-map: for each released record there are at least k people of the population it may be.

Weaker than k-anonymity for who knows that somebody is in the release, and enough against who does
not. Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Counts
from shoal.core.grouping import group
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.risk.fitting import (
    Published,
    codes_in,
    fit_people,
    published_cells,
    shared_columns,
)


@dataclass(frozen=True, eq=False)
class KMap:
    """How many people of a population each released record may be.

    columns: those that were compared.
    people: (released rows,) the people who fit each; weights: (released rows,) records behind it.
    """

    columns: tuple[str, ...]
    people: Counts
    weights: Counts

    def __repr__(self) -> str:
        return f"KMap(records={self.records}, k={self.k})"

    @property
    def records(self) -> int:
        """Released records."""
        return int(self.weights.sum())

    @property
    def k(self) -> int:
        """The fewest people that a released record may be, 0 where none is released."""
        return int(self.people.min(initial=np.iinfo(np.int64).max)) if len(self.people) else 0

    def below(self, k: int) -> int:
        """Return how many released records may be fewer than k people."""
        return int(self.weights[self.people < k].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "columns": list(self.columns),
            "records": self.records,
            "k": self.k,
            "unmatched": self.below(1),
            "alone": self.below(2) - self.below(1),
        }


def k_map(source: Release | Table, population: Table, *, on: Sequence[str] | None = None) -> KMap:
    """Count, for each released record, the people of a population who fit its cells.

    source: a release, or a table as it stands.
    on: columns that both have; by default the quasi-identifiers of both.
    """
    names = shared_columns(source, population, on)
    if isinstance(source, Table):
        return KMap(tuple(names), _alike(source, population, names), _weights(source))
    published, rows = published_cells(source, population, names)
    return count_people(published, population, _weights(source.original)[rows])


def count_people(
    published: Mapping[str, Published], population: Table, weights: Counts | None = None
) -> KMap:
    """Count the people who fit released cells, which were read beside the population."""
    rows = len(next(iter(published.values())).codes)
    if weights is None:
        weights = np.ones(rows, dtype=np.int64)
    if not rows or not len(population):
        return KMap(tuple(published), np.zeros(rows, dtype=np.int64), weights)
    return KMap(tuple(published), fit_people(published, population).people_of, weights)


def _weights(table: Table) -> Counts:
    return np.ones(len(table), dtype=np.int64) if table.counts is None else table.counts


def _alike(table: Table, population: Table, names: Sequence[str]) -> Counts:
    """(rows,) the people of the population with the very values of each row."""
    columns, domains, known = [], [], np.ones(len(population), dtype=np.bool_)
    for name in names:
        codes = codes_in(table[name], population[name])[population[name].codes]
        known &= codes >= 0
        columns.append(codes)
        domains.append(table[name].domain)
    joined = [
        np.concatenate([table[name].codes, codes[known]])
        for name, codes in zip(names, columns, strict=True)
    ]
    ids = group(joined, domains).ids
    people = _weights(population)[known]
    found = np.bincount(ids[len(table) :], people, minlength=int(ids.max(initial=-1)) + 1)
    counts: Counts = found.astype(np.int64)[ids[: len(table)]]
    return counts
