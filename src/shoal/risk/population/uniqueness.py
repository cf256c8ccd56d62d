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
from shoal.risk.population import dankar, zayatz
from shoal.risk.population.frequencies import Frequencies
from shoal.risk.population.pitman import Pitman
from shoal.risk.population.snb import SlideNegativeBinomial
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report

ESTIMATES = ("pitman", "zayatz", "snb")
_MAX_VARYING_SIZE = 20  # records of a class up to which the number of such classes is resampled
LIMITS = (
    "the sample is assumed to be drawn at random; the interval covers the variation of the "
    "estimate with the sample, not a wrong model"
)


@dataclass(frozen=True)
class Uniqueness:
    """Result of `population_uniqueness`: how many people are unique in the population.

    Attributes:
        records: Records of the sample; records of one person with equal values count once.
        sample_uniques: Records whose values no other person of the sample has.
        sampling_fraction: Share of the population that the sample contains.
        population: Size of the population, records / sampling_fraction.
        model: The model of the reported estimate.
        estimates: The estimates of all models, None for models that cannot be fitted.
        uniques: Estimated number of people who are unique in the population.
        low: Lower end of the interval with 95 % of the refits, NaN without refits.
        high: Upper end of that interval.
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
        """Share of the records of the sample that are unique in it."""
        return self.sample_uniques / max(self.records, 1)

    @property
    def share(self) -> float:
        """Share of the population that is unique."""
        return self.uniques / self.population if self.population else 0.0

    @property
    def confirmed(self) -> float:
        """Probability that a sample unique is also unique in the population."""
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
    known: Sequence[str] | None = None,
    model: str = "dankar",
    refits: int = 100,
    seed: int = 0,
) -> Uniqueness:
    """Estimate how many people are unique in the population.

    Classes are counted by people. A person with rows in several classes counts once in each, in
    the sample and in the population.

    Parameters:
        source: A release, a table, classes, or the frequencies of their sizes.
        sampling_fraction: Share of the population that the records are, above 0.
        known: For a table, the columns that others know; by default its quasi-identifiers.
        model: "pitman", "zayatz", "snb", or "dankar", whose rule chooses among them.
        refits: Number of resampled sets of classes for the interval; 0 for no interval.
        seed: Seed of the resampling.

    Returns:
        The estimate with its interval, and the estimates of all models.

    Raises:
        InputError: The model or a column does not exist.

    >>> import shoal
    >>> sample = shoal.datasets.patients(100)
    >>> found = population_uniqueness(sample, 0.1, known=["sex", "occupation"], refits=0)
    >>> found.sample_uniques, round(found.uniques), found.model
    (24, 98, 'pitman')
    """
    check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
    check_whole("refits", refits, 0)
    if model not in (*ESTIMATES, "dankar"):
        raise unknown("no model", model, (*ESTIMATES, "dankar"))
    sample = source if isinstance(source, Frequencies) else Frequencies.of(source, known)
    people = sample.records / sampling_fraction
    fitted = None if _is_trivial(sample, sampling_fraction) else Pitman.fit(sample)
    made = estimates(sample, sampling_fraction, fitted)
    chosen = dankar.choose(made, sampling_fraction) if model == "dankar" else model
    uniques = made[chosen]
    if uniques is None:  # a model chosen by name that cannot be fitted
        uniques = float("nan")
    low, high = float("nan"), float("nan")
    if _is_trivial(sample, sampling_fraction):
        low, high = _trivial_interval(sample, sampling_fraction)
    elif refits and np.isfinite(uniques):
        low, high = _interval(sample, sampling_fraction, chosen, fitted, refits, seed)
    return Uniqueness(
        sample.records,
        sample.uniques,
        sampling_fraction,
        people,
        chosen,
        made,
        uniques,
        low,
        high,
    )


def estimates(
    sample: Frequencies, fraction: float, fitted: Pitman | None
) -> dict[str, float | None]:
    """Return the number of population uniques by each model, None if it cannot be fitted.

    Without sample uniques all estimates are 0, and with only sample uniques they are the whole
    population: no model can be fitted.

    Parameters:
        sample: The sizes of classes.
        fraction: Share of the population that the sample contains.
        fitted: Pitman's model, None if it cannot be fitted.
    """
    people = sample.records / fraction
    if _is_trivial(sample, fraction):
        alone = float(sample.uniques) if fraction == 1 else sample.uniques / fraction
        return dict.fromkeys(ESTIMATES, alone)
    slide = SlideNegativeBinomial.fit(sample, fraction)
    return {
        "pitman": None if fitted is None else min(fitted.uniques(people), people),
        "zayatz": sample.uniques / fraction * zayatz.stays_alone(sample, people),
        "snb": None if slide is None else min(slide.uniques, people),
    }


def _is_trivial(sample: Frequencies, fraction: float) -> bool:
    return fraction == 1 or sample.uniques in (0, sample.records)


def _trivial_interval(sample: Frequencies, fraction: float) -> tuple[float, float]:
    """Return the 95 % interval of a sample without uniques, or with only uniques.

    The sample rules out so many uniques that one would have been drawn with probability 95 %, or so
    many pairs of equal people that one pair would have been drawn.
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
    """Return the range of 95 % of the refits, with Poisson numbers of small classes."""
    rng = np.random.default_rng(seed)
    small, refitted = sample.sizes <= _MAX_VARYING_SIZE, []
    for turn in range(refits):
        report("population uniqueness", turn, refits)
        classes = np.where(small, rng.poisson(sample.classes), sample.classes)
        drawn = Frequencies(sample.sizes[classes > 0], classes[classes > 0])
        again = Pitman.fit(drawn, fitted) if model == "pitman" else None
        scale = sample.records / max(drawn.records, 1)  # as many people as before
        value = None
        if drawn.groups and not _is_trivial(drawn, fraction):
            value = estimates(drawn, fraction, again)[model]
        if value is not None:
            refitted.append(value * scale)
    if len(refitted) < refits / 2:  # too few fits for an interval
        return float("nan"), float("nan")
    low, high = np.quantile(refitted, [0.025, 0.975])
    return float(low), float(high)
