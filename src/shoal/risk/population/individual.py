"""The probability of each person to be unique in the population.

ξ = (1 − p)^(N − 1), where p is the probability of the person's values in a copula model, scaled so
that the model expects as many sample uniques as there are.
Rocher, Hendrickx & de Montjoye, "Estimating the success of re-identifications in incomplete
datasets using generative models", Nature Communications 10, 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.grouping import group, group_keys
from shoal.core.people import distinct_rows
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.risk.population.copula import Copula
from shoal.risk.population.frequencies import classes_by
from shoal.support.arrays import Counts, Floats, frozen, weighted_sum
from shoal.support.options import check_range
from shoal.support.wording import counted

_MAX_PEOPLE = 1_000_000  # people of a population that is simulated
_MAX_LOG_SCALE = 25.0  # natural logarithm of the scale
LIMITS = (
    "the model does not know values that are absent from the sample, nor dependencies among three "
    "or more columns beyond those between pairs; the interval covers the variation of the average "
    "with the sampled records, not a wrong model"
)


@dataclass(frozen=True, eq=False)
class IndividualUniqueness:
    """Result of `individual_uniqueness`: how likely each record is unique in the population.

    A person with several rows counts once for each different row: a row is unique if no other
    person has its values.

    Attributes:
        chances: (rows,) the probability ξ.
        given_sample: (rows,) the same for an attacker who knows the sample: 0 for rows that are not
            unique in it, and only people outside the sample can share the values of the others.
        population: Number of people in the population.
        share: Expected share of records that are unique in the population.
        low: Lower end of the 95 % interval of the share.
        high: Upper end of that interval.
        simulated: The share in a population drawn from the model before scaling; NaN if the
            population is too large.
        sample_share: Share of records that are unique in the sample.
        expected_share: The same, as expected by the model before scaling.
        scale: The factor of p that makes the model agree with the sample; 1 if none does.
    """

    chances: Floats
    given_sample: Floats
    population: float
    share: float
    low: float
    high: float
    simulated: float
    sample_share: float
    expected_share: float
    scale: float

    def __repr__(self) -> str:
        return f"IndividualUniqueness(rows={len(self.chances)}, share={self.share:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, without those of single records."""
        figures = {name: value for name, value in self.__dict__.items() if np.isscalar(value)}
        return {**figures, "limits": LIMITS}


def individual_uniqueness(
    table: Table,
    sampling_fraction: float,
    *,
    known: Sequence[str] | None = None,
    seed: int = 0,
) -> IndividualUniqueness:
    """Estimate the probability of each record to be unique in the population.

    If people have several rows, the model is fitted to their different rows, each counted once.

    Parameters:
        table: The sample.
        sampling_fraction: Share of the population that the table contains.
        known: Columns that others know; by default the quasi-identifiers.
        seed: Seed of the simulated population.

    Returns:
        The probability of each record, and their average with its interval.

    Raises:
        InputError: There are fewer than two records.

    >>> import shoal
    >>> sample = shoal.datasets.patients(100)
    >>> individual_uniqueness(sample, sampling_fraction=0.1, known=["sex", "occupation"])
    IndividualUniqueness(rows=100, share=0.004693)
    """
    check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
    view = classes_by(table, known)
    sizes = view.people
    if sizes.sum() < 2:
        few = counted(int(sizes.sum()), "record is", "records are")
        raise InputError(f"{few} too few to fit a model; at least two are needed")
    model = Copula.fit(_each_once(table, view), known)
    studied = [table[name] for name in model.columns]
    kinds = group([c.codes for c in studied], [c.domain for c in studied])
    likely = model.chances(np.stack([c.codes[kinds.first] for c in studied], axis=1))
    records = int(sizes.sum())
    people = records / sampling_fraction
    alone = float((sizes == 1).sum()) / records
    scale = _scale(likely, sizes, alone)
    chances = _alone(likely * scale, people)
    confirmed = np.where(sizes == 1, _alone(likely * scale, people - records + 1), 0.0)
    share = weighted_sum(chances, sizes) / records
    spread = np.sqrt(weighted_sum((chances - share) ** 2, sizes) / records / records)
    return IndividualUniqueness(
        frozen(chances[kinds.ids]),
        frozen(confirmed[kinds.ids]),
        people,
        share,
        max(share - 1.96 * float(spread), 0.0),
        min(share + 1.96 * float(spread), 1.0),
        _simulated(model, people, seed),
        alone,
        weighted_sum(_alone(likely, records), sizes) / records,
        scale,
    )


def _each_once(table: Table, view: Classes) -> Table:
    """Return the different rows of each person, as if each were a different person."""
    if table.person is None:
        return table
    rows = distinct_rows(view.ids, len(view), table.person.ids, table.person.count)
    return replace(table.take(rows), counts=None, person=None, household=None)


def _alone(likely: Floats, people: float) -> Floats:
    """Return the probability that none of the other people has values of this probability."""
    return np.asarray(np.exp((people - 1) * np.log1p(-likely.clip(0, 1 - 1e-12))))


def _scale(likely: Floats, sizes: Counts, alone: float) -> float:
    """Return the factor with which the model expects as many sample uniques, 1 if none does."""
    from scipy.optimize import brentq

    records = int(sizes.sum())

    def excess(log: float) -> float:
        return weighted_sum(_alone(likely * np.exp(log), records), sizes) / records - alone

    if not excess(-_MAX_LOG_SCALE) > 0 > excess(_MAX_LOG_SCALE):
        return 1.0
    return float(np.exp(brentq(excess, -_MAX_LOG_SCALE, _MAX_LOG_SCALE, xtol=1e-6)))


def _simulated(model: Copula, people: float, seed: int) -> float:
    """Return the share of unique people in a population drawn from the model."""
    if people > _MAX_PEOPLE:
        return float("nan")
    drawn = model.draw(round(people), seed)
    ids = np.zeros(len(drawn), dtype=np.int64)
    for j, cut in enumerate(model.cuts):
        ids = group_keys(ids * (len(cut) - 1) + drawn[:, j]).ids.astype(np.int64)
    return float((np.bincount(ids) == 1).sum()) / len(drawn)
