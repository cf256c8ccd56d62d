"""How many people of the population share a record's values: by sampling weights, or by counting.

    individual_risk   if f people of the sample share values and their weights add up to W, each was
                      drawn with probability p = f / W and the population has a negative binomial
                      number F of such people; the risk of a record is the expectation of 1 / F
    k_map             each released record matches at least k people of a given population: weaker
                      than k-anonymity against attackers who know that a person is in the release,
                      sufficient against those who do not

Benedetti & Franconi, "Statistical and technological solutions for controlled data dissemination",
1998; Franconi & Polettini, "Individual risk estimation in μ-Argus: a review", PSD 2004; Sweeney,
"k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.privacy.model import ROUNDING
from shoal.release.fitting import Published, codes_in, fit_people, published_cells, shared_columns
from shoal.release.release import Release
from shoal.risk.graphs import rows_of
from shoal.risk.population.frequencies import classes_by
from shoal.risk.reidentification import HouseholdRisk, by_person, household_risk, row_weights
from shoal.support.arrays import Counts, Floats, frozen, weighted_sum
from shoal.support.options import check_range
from shoal.support.proportions import expected_inverse
from shoal.table.classes import Classes
from shoal.table.members import Members
from shoal.table.people import Unit, group
from shoal.table.table import Table

THRESHOLD = 0.2


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """Result of `individual_risk`: the risk of each record, given its sampling weight.

    Attributes:
        columns: The columns that others may know.
        risks: (released rows,) the expectation of 1/F for each record.
        sample: (released rows,) f, people of the sample with the values of the row.
        population: (released rows,) W, the estimated number of them in the population.
        people_risks: The highest risk over the rows of each person.
        weights: How many people have each of these.
        represented: Sum of the weights of all people: the estimated size of the population.
        threshold: The risk that a person should not exceed.
        household: The risk of households, None if the table declares none.
    """

    columns: tuple[str, ...]
    risks: Floats
    sample: Counts
    population: Floats
    people_risks: Floats
    weights: Counts
    represented: float
    threshold: float
    household: HouseholdRisk | None = None

    def __repr__(self) -> str:
        return f"IndividualRisk(highest={self.highest:.4g}, expected={self.expected:.4g})"

    @property
    def people(self) -> int:
        """Number of people with a released record."""
        return int(self.weights.sum())

    @property
    def highest(self) -> float:
        """Highest risk of a person."""
        return float(self.people_risks.max(initial=0.0))

    @property
    def expected(self) -> float:
        """Expected number of people who are re-identified: the sum of their risks."""
        return weighted_sum(self.people_risks, self.weights)

    @property
    def average(self) -> float:
        """Expected share of people who are re-identified: the global risk of sdcMicro."""
        return self.expected / max(self.people, 1)

    @property
    def at_risk(self) -> int:
        """Number of people whose risk exceeds the threshold."""
        return int(self.weights[self.people_risks > self.threshold + ROUNDING].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "columns": list(self.columns),
            "people": self.people,
            "represented": self.represented,
            "highest": self.highest,
            "average": self.average,
            "expected": self.expected,
            "threshold": self.threshold,
            "at_risk": self.at_risk,
            "share_at_risk": self.at_risk / max(self.people, 1),
            "household": None if self.household is None else self.household.to_dict(),
        }


def individual_risk(
    source: Release | Table,
    *,
    known: Sequence[str] | None = None,
    sampling_fraction: float | None = None,
    threshold: float = THRESHOLD,
) -> IndividualRisk:
    """Return the risk of each record of a sample, from its weight (Benedetti & Franconi).

    The journalist's risk: the attacker knows everyone's values, but not who is in the sample. If
    people have several rows, the highest risk over a person's rows counts.

    Parameters:
        source: A table, or a release, whose published cells are compared as text.
        known: The columns that others may know; by default the quasi-identifiers.
        sampling_fraction: Share of the population that the records are, for a table without
            weights: everyone then has the weight 1 / sampling_fraction.
        threshold: The risk that a person should not exceed.

    Returns:
        The risks of records, people and households, and the expected number of people found.

    Raises:
        InputError: There are neither weights nor a sampling fraction, or no columns to compare.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"job": ["nurse", "nurse", "miner"], "w": [40, 60, 25]})
    >>> found = individual_risk(shoal.read(rows, roles={"job": "quasi", "w": "weight"}))
    >>> found.risks.round(4).tolist(), round(found.expected, 4)
    ([0.0188, 0.0188, 0.1341], 0.1717)
    """
    check_range("threshold", threshold, 0, 1)
    table = rows_of(source, known)
    classes = classes_by(table, table.quasi)
    sample = classes.people
    represented = _represented(table, classes, sampling_fraction)
    by_class = expected_inverse(sample.astype(np.float64), np.minimum(sample / represented, 1.0))
    risks, counts = by_class[classes.ids], row_weights(table)
    each, weights = by_person(risks, counts, table.person, np.maximum)
    return IndividualRisk(
        table.quasi,
        frozen(risks),
        frozen(sample[classes.ids]),
        frozen(represented[classes.ids]),
        each,
        weights,
        _total(table, sampling_fraction),
        threshold,
        household_risk(table, each[table.person.ids] if table.person else risks, classes),
    )


def _represented(table: Table, classes: Classes, fraction: float | None) -> Floats:
    """(classes,) the estimated number of people of the population in each class."""
    if fraction is not None:
        check_range("sampling_fraction", fraction, 0, 1, above=True)
        if table.weights is not None:
            raise InputError("the table has sampling weights; give no sampling fraction")
        return np.asarray(classes.people / fraction)
    if table.weights is None:
        raise InputError(
            "the table has no sampling weights; give a column the role weight, or a sampling "
            "fraction"
        )
    return classes.represented


def _total(table: Table, fraction: float | None) -> float:
    """Return the estimated size of the population."""
    if not len(table):
        return 0.0
    every = Classes.of(table, np.zeros(len(table), dtype=np.int32))
    return float(_represented(table, every, fraction)[0])


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
    # rows of both tables grouped together; people with a value that the table lacks match no row
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
