"""Population uniqueness: how many people are unique in the population.

A sample unique is not at risk if others outside the sample share its values. Models describe how
classes grow from the sample to the population; their estimates differ, so all are reported.

    Zayatz                    population classes have the sizes of the sample classes; needs no fit,
                              overestimates if the sample is small
    slide negative binomial   the size of a population class, less one, is negative binomial
    Pitman                    a new person joins or opens a class (`frequencies.py`)
    choose                    Dankar's rule: Pitman for samples of at most a tenth, otherwise the
                              smaller of the other two; Zayatz if the other model cannot be fitted

Zayatz, "Estimation of the number of unique population elements using a sample", ASA, 1991; Chen &
Keller-McNulty, "Estimation of identification disclosure risk in microdata", JOS 14(1), 1998; Haas &
Stokes, "Estimating the number of classes in a finite population", JASA 93(444), 1998 (Shlosser's
estimator, modified); Dankar, El Emam, Neisa & Roffey, "Estimating the re-identification risk of
clinical data sets", BMC Medical Informatics and Decision Making 12:66, 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import unknown
from shoal.release.release import Release
from shoal.risk.population.frequencies import Frequencies, Pitman
from shoal.support.arrays import Floats, weighted_sum
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report
from shoal.table.classes import Classes
from shoal.table.table import Table

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
    chosen = choose(made, sampling_fraction) if model == "dankar" else model
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
        "zayatz": sample.uniques / fraction * stays_alone(sample, people),
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
        # small classes are many and nearly independent; large ones are few and stay as they are
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


SMALL = 0.1  # sampling fraction up to which Pitman's model is used


def choose(estimates: Mapping[str, float | None], fraction: float) -> str:
    """Return the name of the estimate to use.

    Parameters:
        estimates: The estimate of each model, None if it could not be fitted.
        fraction: Share of the population that the sample contains.
    """
    if fraction <= SMALL:
        return "zayatz" if estimates["pitman"] is None else "pitman"
    slide, zayatz = estimates["snb"], estimates["zayatz"]
    assert zayatz is not None
    return "zayatz" if slide is None or zayatz < slide else "snb"


_STARTS = ((0.05, 0.5), (0.5, 0.1), (0.5, 0.9), (1.0, 0.5), (2.0, 0.5), (5.0, 0.8), (0.2, 0.02))
_CLOSE = 1e-6  # relative error of the two equations that counts as solved


@dataclass(frozen=True)
class SlideNegativeBinomial:
    """Population classes whose size is 1 + NB(α, β).

    Parameters:
        classes: Number of classes.
        alpha, beta: Parameters α and β; a class is a single person with probability β^α.
    """

    classes: float
    alpha: float
    beta: float

    @classmethod
    def fit(cls, sample: Frequencies, fraction: float) -> SlideNegativeBinomial | None:
        """Return the model that expects the sample's classes of one and of two records.

        Parameters:
            sample: The sizes of classes.
            fraction: Share of the population that the sample contains.

        Returns:
            The model, None if no parameters fit.
        """
        from scipy.optimize import root

        ones, twos = sample.having(1), sample.having(2)
        if not ones or not twos or fraction >= 1:
            return None
        classes = shlosser(sample, fraction)

        def log_errors(point: Any) -> Floats:
            alpha, beta = _parameters(point)
            counts = expected(classes, alpha, beta, fraction)
            return np.log(np.maximum(counts, 1e-300)) - np.log([ones, twos])

        for alpha, beta in _STARTS:
            start = np.array([np.log(alpha), np.log(beta / (1 - beta))])
            with np.errstate(all="ignore"):  # a step may leave the range of floats
                solution = root(log_errors, start, method="hybr")
                if np.abs(log_errors(solution.x)).max() < _CLOSE:
                    return cls(classes, *_parameters(solution.x))
        return None

    @property
    def uniques(self) -> float:
        """Expected number of classes of one person."""
        return float(self.classes * self.beta**self.alpha)


def expected(classes: float, alpha: float, beta: float, fraction: float) -> Floats:
    """Return the expected number of sample classes of one and of two records.

    Each person is drawn with probability π (`fraction`).

    With d = (1 − π)(1 − β) and g = (β / (1 − d))^α:
    K·π·g·(1 + α·d / (1 − d)) and K·π²/2·α·(1 − β)·g·(2 − (1 − α)·d) / (1 − d)².
    """
    d = (1 - fraction) * (1 - beta)
    g = (beta / (1 - d)) ** alpha
    ones = fraction * g * (1 + alpha * d / (1 - d))
    twos = fraction**2 / 2 * alpha * (1 - beta) * g * (2 - (1 - alpha) * d) / (1 - d) ** 2
    return classes * np.array([ones, twos])


def shlosser(sample: Frequencies, fraction: float) -> float:
    """Return the estimated number of classes of the population.

    u + s₁·(Σ i·π²(1 − π²)^(i−1)·sᵢ / Σ (1 − π)^i((1 + π)^i − 1)·sᵢ)·(Σ (1 − π)^i·sᵢ /
    Σ i·π(1 − π)^(i−1)·sᵢ)².
    """
    i, s = sample.sizes.astype(np.float64), sample.classes
    miss, square = 1 - fraction, fraction**2
    if miss <= 0:
        return float(sample.groups)
    hidden = (miss**i * s).sum()
    once = (i * fraction * miss ** (i - 1) * s).sum()
    twice = (i * square * (1 - square) ** (i - 1) * s).sum()
    grown = (((1 - square) ** i - miss**i) * s).sum()  # (1 − π)^i·(1 + π)^i = (1 − π²)^i
    return float(sample.groups + sample.uniques * (twice / grown) * (hidden / once) ** 2)


def _parameters(point: Any) -> tuple[float, float]:
    alpha = float(np.exp(np.clip(point[0], -30, 30)))
    return alpha, float(1 / (1 + np.exp(-np.clip(point[1], -40, 40))))


def stays_alone(sample: Frequencies, people: float) -> float:
    """Return the probability that a sample unique is a population unique, by Bayes' rule.

    P(F = 1 | f = 1) = p(1)·P(f = 1 | F = 1) / Σ p(j)·P(f = 1 | F = j), p(j) the share of sample
    classes of size j, f hypergeometric: a class of F among N people, n of them drawn.
    """
    if not sample.uniques:
        return 0.0
    drawn = _drawn_once(sample, people)
    alone = sample.uniques * sample.records / people
    return alone / weighted_sum(drawn, sample.classes)


def _drawn_once(sample: Frequencies, people: float) -> Floats:
    """Return P(f = 1 | F = j) for each size j: j·C(N − j, n − 1) / C(N, n)."""
    from scipy.special import gammaln

    j, n = sample.sizes.astype(np.float64), float(sample.records)
    rest = people - n  # not drawn; at least j − 1 of them must be in the class
    possible = j - 1 <= rest + 1e-9
    left = np.where(possible, rest - j + 2, 1.0)
    log = gammaln(people - j + 1) - gammaln(n) - gammaln(left)
    log -= gammaln(people + 1) - gammaln(n + 1) - gammaln(rest + 1)
    return np.asarray(np.where(possible, j * np.exp(log), 0.0), dtype=np.float64)
