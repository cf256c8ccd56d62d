"""k-map: each released record matches at least k people of the population.

Weaker than k-anonymity against attackers who know that a person is in the release, and sufficient
against those who do not.
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.fitting import (
    Published,
    codes_in,
    fit_people,
    published_cells,
    shared_columns,
)
from shoal.core.grouping import group
from shoal.core.members import Members
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.risk.people import by_person, row_weights
from shoal.support.arrays import Counts


@dataclass(frozen=True, eq=False)
class KMap:
    """Result of `k_map`: how many people of a population each released record matches.

    Attributes:
        columns: The compared columns.
        people: (released rows,) the number of people of the population who fit the row, however
            many rows they have.
        weights: (released rows,) records behind the row.
        person: The person of each released row, None if each record is a different person.
    """

    columns: tuple[str, ...]
    people: Counts
    weights: Counts
    person: Unit | None = None

    def __repr__(self) -> str:
        return f"KMap(records={self.records}, k={self.k})"

    @property
    def records(self) -> int:
        """Number of released records."""
        return int(self.weights.sum())

    @property
    def k(self) -> int:
        """Smallest number of people that a released record matches, 0 if none is released."""
        return int(self.people.min(initial=np.iinfo(np.int64).max)) if len(self.people) else 0

    def below(self, k: int) -> int:
        """Return the number of released people with a record that matches fewer than k people."""
        people, weights = by_person(self.people, self.weights, self.person, np.minimum)
        return int(weights[people < k].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "columns": list(self.columns),
            "records": self.records,
            "people": self.records if self.person is None else self.person.count,
            "k": self.k,
            "unmatched": self.below(1),
            "alone": self.below(2) - self.below(1),
        }


def k_map(
    source: Release | Table, population: Table, *, known: Sequence[str] | None = None
) -> KMap:
    """Count, for each released record, the people of a population who fit its cells.

    If the population declares people, a person with several rows counts once.

    Parameters:
        source: A release, or an unprotected table.
        population: A table of the population.
        known: Columns that both have; by default the quasi-identifiers of both.

    Returns:
        The number of matching people for each released row.

    Raises:
        InputError: The tables share no column to compare.

    >>> import pyarrow as pa
    >>> import shoal
    >>> release = shoal.anonymize(pa.table({"age": [31, 33, 47, 48]}), k=2, quasi="age")
    >>> everyone = shoal.read(pa.table({"age": range(30, 50)}), roles={"age": "quasi"})
    >>> k_map(release, everyone).people
    array([3, 3, 2, 2])
    """
    names = shared_columns(source, population, known)
    if isinstance(source, Table):
        people = _alike(source, population, names)
        return KMap(tuple(names), people, row_weights(source), source.person)
    published, rows = published_cells(source, population, names)
    person = source.original.person
    return count_people(
        published,
        population,
        row_weights(source.original)[rows],
        None if person is None else person.take(rows),
    )


def count_people(
    published: Mapping[str, Published],
    population: Table,
    weights: Counts | None = None,
    person: Unit | None = None,
) -> KMap:
    """Count the people of a population who fit released cells.

    Parameters:
        published: The released columns, in terms of the values of the population.
        population: The table of the population.
        weights: (released rows,) records behind each row, by default 1.
        person: The person of each released row, None if each record is a different person.
    """
    rows = len(next(iter(published.values())).codes)
    if weights is None:
        weights = np.ones(rows, dtype=np.int64)
    if not rows or not len(population):
        return KMap(tuple(published), np.zeros(rows, dtype=np.int64), weights, person)
    return KMap(tuple(published), fit_people(published, population).people_of, weights, person)


def _alike(table: Table, population: Table, names: Sequence[str]) -> Counts:
    """(rows,) the number of people of the population with the same values as each row."""
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
    kinds, mine = int(ids.max(initial=-1)) + 1, ids[len(table) :]
    if population.person is None:
        people = np.bincount(mine, row_weights(population)[known], minlength=kinds)
    else:
        members = Members.of(mine, population.person.take(np.flatnonzero(known)))
        people = np.bincount(members.place, minlength=kinds)
    counts: Counts = people.astype(np.int64)[ids[: len(table)]]
    return counts
