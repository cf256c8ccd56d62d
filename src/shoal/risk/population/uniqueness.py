"""Population uniqueness: how many people are unique in the population.

A sample unique is not at risk if others outside the sample share its values. Models describe how
classes grow from the sample to the population; their estimates differ, so all are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import unknown
from shoal.privacy.model import check_range, check_whole
from shoal.risk.population import dankar, zayatz
from shoal.risk.population.frequencies import Frequencies
from shoal.risk.population.pitman import Pitman
from shoal.risk.population.snb import SlideNegativeBinomial
from shoal.support.progress import report

ESTIMATES = ("pitman", "zayatz", "snb")
_SMALL = 20  # records of a class that may or may not have been drawn; larger ones were sure to be
LIMITS = (
    "the sample is assumed to be drawn at random; the interval covers the variation of the "
    "estimate with the sample, not a wrong model"
)


@dataclass(frozen=True)
class Uniqueness:
    """How many people are alone with their values in the population.

    records: of the sample, those with equal values of one person being one; sample_uniques: those
        whose values no other person has.
    population: its size, records / sampling_fraction.
    model: the model of the reported estimate; estimates: those of all models, None without a fit.
    uniques: people alone in the population; low, high: 95 % of refits lie between, NaN where
        there were none.
    """

    records: int
    sample_uniques: int
    sampling_fraction: float
    population: float
    model: str
    estimates: Mapping[str, float | None]
    uniques: float
    low: float
    high: float

    @property
    def sample_share(self) -> float:
        """Share of the sample's records that are alone in it."""
        return self.sample_uniques / max(self.records, 1)

    @property
    def share(self) -> float:
        """Share of the population that is alone."""
        return self.uniques / self.population if self.population else 0.0

    @property
    def confirmed(self) -> float:
        """The chance that a sample unique is alone in the population, too."""
        drawn = self.uniques * self.sampling_fraction
        return min(drawn / self.sample_uniques, 1.0) if self.sample_uniques else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "records": self.records,
            "sample_uniques": self.sample_uniques,
            "sample_share": self.sample_share,
            "sampling_fraction": self.sampling_fraction,
            "population": self.population,
            "model": self.model,
            "estimates": dict(self.estimates),
            "uniques": self.uniques,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "confirmed": self.confirmed,
            "limits": LIMITS,
        }


def population_uniqueness(
    source: Release | Table | Classes | Frequencies,
    sampling_fraction: float,
    *,
    columns: Sequence[str] | None = None,
    model: str = "dankar",
    refits: int = 100,
    seed: int = 0,
) -> Uniqueness:
    """Estimate how many people of the population are alone with their values.

    Classes are counted by people. A person with rows in several classes counts once in each, in
    the sample as in the population.

    sampling_fraction: the share of the population that the records are, above 0.
    columns: of a table, what others know; by default its quasi-identifiers.
    model: pitman, zayatz, snb, or dankar, whose rule chooses among them.
    refits: number of resampled sets of classes for the interval; 0 for no interval.
    """
    check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
    check_whole("refits", refits, 0)
    if model not in (*ESTIMATES, "dankar"):
        raise unknown("no model", model, (*ESTIMATES, "dankar"))
    sample = source if isinstance(source, Frequencies) else Frequencies.of(source, columns)
    people = sample.records / sampling_fraction
    fitted = None if _settled(sample, sampling_fraction) else Pitman.fit(sample)
    made = estimates(sample, sampling_fraction, fitted)
    chosen = dankar.choose(made, sampling_fraction) if model == "dankar" else model
    found = made[chosen]
    if found is None:  # asked for by name and without a fit
        found = float("nan")
    low, high = float("nan"), float("nan")
    if _settled(sample, sampling_fraction):
        low, high = _unseen(sample, sampling_fraction)
    elif refits and np.isfinite(found):
        low, high = _interval(sample, sampling_fraction, chosen, fitted, refits, seed)
    return Uniqueness(
        sample.records,
        sample.uniques,
        sampling_fraction,
        people,
        chosen,
        made,
        found,
        low,
        high,
    )


def estimates(
    sample: Frequencies, fraction: float, fitted: Pitman | None
) -> dict[str, float | None]:
    """Return the number of population uniques by each model, None where one has no fit.

    Without sample uniques all say 0, and with nothing but sample uniques all say everybody: there
    is nothing to learn from.
    """
    people = sample.records / fraction
    if _settled(sample, fraction):
        alone = float(sample.uniques) if fraction == 1 else sample.uniques / fraction
        return dict.fromkeys(ESTIMATES, alone)
    slide = SlideNegativeBinomial.fit(sample, fraction)
    return {
        "pitman": None if fitted is None else min(fitted.uniques(people), people),
        "zayatz": sample.uniques / fraction * zayatz.stays_alone(sample, people),
        "snb": None if slide is None else min(slide.uniques, people),
    }


def _settled(sample: Frequencies, fraction: float) -> bool:
    return fraction == 1 or sample.uniques in (0, sample.records)


def _unseen(sample: Frequencies, fraction: float) -> tuple[float, float]:
    """Return what a sample rules out, with 95 % certainty, that shows no unique or nothing else.

    So many uniques that one would have been drawn; so many pairs that both would have been.
    """
    people = sample.records / fraction
    if fraction == 1:
        return float(sample.uniques), float(sample.uniques)
    if not sample.uniques:
        return 0.0, min(float(np.log(0.05) / np.log1p(-fraction)), people)
    return max(people - float(2 * np.log(0.05) / np.log1p(-(fraction**2))), 0.0), people


def _interval(
    sample: Frequencies,
    fraction: float,
    model: str,
    fitted: Pitman | None,
    refits: int,
    seed: int,
) -> tuple[float, float]:
    """Return what 95 % of estimates lie between when the numbers of small classes are Poisson."""
    rng = np.random.default_rng(seed)
    small, found = sample.sizes <= _SMALL, []
    for turn in range(refits):
        report("population uniqueness", turn, refits)
        classes = np.where(small, rng.poisson(sample.classes), sample.classes)
        drawn = Frequencies(sample.sizes[classes > 0], classes[classes > 0])
        again = Pitman.fit(drawn, fitted) if model == "pitman" else None
        scale = sample.records / max(drawn.records, 1)  # as many people as before
        value = None
        if drawn.groups and not _settled(drawn, fraction):
            value = estimates(drawn, fraction, again)[model]
        if value is not None:
            found.append(value * scale)
    if len(found) < refits / 2:  # too few fits for an interval
        return float("nan"), float("nan")
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
