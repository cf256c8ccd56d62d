"""Individual risk of a sample with weights: how many people of the population share the values.

If f people of the sample share some values and their weights add up to W, each was drawn with
probability p = f / W, and the population has a negative binomial number F of people with these
values. The risk of a record is the expectation of 1/F.
Benedetti & Franconi, "Statistical and technological solutions for controlled data dissemination",
1998; Franconi & Polettini, "Individual risk estimation in μ-Argus: a review", PSD 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import ROUNDING
from shoal.risk.household import HouseholdRisk, household_risk
from shoal.risk.people import by_person, row_weights
from shoal.risk.population.frequencies import classes_by
from shoal.risk.published_rows import rows_of
from shoal.support.arrays import Counts, Floats, frozen, weighted_sum
from shoal.support.negative_binomial import expected_inverse
from shoal.support.options import check_range

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
