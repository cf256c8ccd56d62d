"""Each person's own chance to be alone in the population.

ξ = (1 − p)^(N − 1) where a copula gives the person's values the probability p, scaled so that the
model shows as many sample uniques as the sample does.
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
from shoal.privacy.model import check_range
from shoal.risk.population.copula import Copula
from shoal.risk.population.frequencies import classes_by
from shoal.support.arrays import Counts, Floats, frozen, weighted_sum
from shoal.support.wording import counted

_MOST = 1_000_000  # people that are drawn from the model
_FAR = 25.0  # ln of the scale, at most
LIMITS = (
    "the model does not know values that are absent from the sample, nor dependencies among three "
    "or more columns beyond those between pairs; the interval covers the variation of the average "
    "with the sampled records, not a wrong model"
)


@dataclass(frozen=True, eq=False)
class IndividualUniqueness:
    """Each record's chance to be alone with its values in the population.

    A person with several rows counts once for each different one: a row is alone if no other
    person has its values.

    chances: (rows,) ξ; given_sample: (rows,) the same for an attacker who knows the sample: nobody
        is alone whom another person is like, and only those outside are left to be like the others.
    population: number of people.
    share: people alone, on average over the records; low, high: its 95 % interval.
    simulated: the same in a population drawn from the model before scaling; NaN where too large.
    sample_share: records alone in the sample; expected_share: as the model had it before scaling.
    scale: what p was multiplied by to show as many; 1 where no scale does.
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
    columns: Sequence[str] | None = None,
    seed: int = 0,
) -> IndividualUniqueness:
    """Estimate, record by record, the chance to be alone with its values in the population.

    Where people have several rows, the model is fitted to their different rows, each once.

    sampling_fraction: the share of the population that the table is.
    columns: what others know; by default the quasi-identifiers.
    """
    check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
    view = classes_by(table, columns)
    sizes = view.people
    if sizes.sum() < 2:
        few = counted(int(sizes.sum()), "record is", "records are")
        raise InputError(f"{few} too few to fit a model; at least two are needed")
    model = Copula.fit(_each_once(table, view), columns)
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
    """Return the different rows of each person, as if each were a person of their own."""
    if table.person is None:
        return table
    rows = distinct_rows(view.ids, len(view), table.person.ids, table.person.count)
    return replace(table.take(rows), counts=None, person=None, household=None)


def _alone(likely: Floats, people: float) -> Floats:
    """Return the chance that nobody of the others has values that are so likely."""
    return np.asarray(np.exp((people - 1) * np.log1p(-likely.clip(0, 1 - 1e-12))))


def _scale(likely: Floats, sizes: Counts, alone: float) -> float:
    """Return what to multiply by so that as many records are alone in the sample as there are."""
    from scipy.optimize import brentq

    records = int(sizes.sum())

    def excess(log: float) -> float:
        return weighted_sum(_alone(likely * np.exp(log), records), sizes) / records - alone

    if not excess(-_FAR) > 0 > excess(_FAR):
        return 1.0
    return float(np.exp(brentq(excess, -_FAR, _FAR, xtol=1e-6)))


def _simulated(model: Copula, people: float, seed: int) -> float:
    """Return the share of people alone in a population drawn from the model."""
    if people > _MOST:
        return float("nan")
    drawn = model.draw(round(people), seed)
    ids = np.zeros(len(drawn), dtype=np.int64)
    for j, cut in enumerate(model.cuts):
        ids = group_keys(ids * (len(cut) - 1) + drawn[:, j]).ids.astype(np.int64)
    return float((np.bincount(ids) == 1).sum()) / len(drawn)
