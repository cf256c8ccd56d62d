"""Frequencies of frequencies, and Pitman's model of how they grow with the sample.

    Frequencies   the number of classes of each size: all that estimates of uniqueness depend on
    Pitman        a new person joins a class in proportion to its size, or opens a new class; suited
                  to small samples of populations with many rare classes

Pitman, "Exchangeable and partially exchangeable random partitions", 1995; for uniques Hoshino,
"Applying Pitman's sampling formula to microdata disclosure risk assessment", JOS 17(4), 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.support.arrays import Counts, Floats, frozen, weighted_sum
from shoal.table.classes import Classes
from shoal.table.people import group
from shoal.table.table import Table


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Sizes of classes, ascending and distinct, with the number of classes of each size.

    A size is a number of people. A person with rows in several classes counts once in each, so
    `records` is a number of people only if no one has two different rows.

    Parameters:
        sizes: The distinct sizes.
        classes: The number of classes of each size.
    """

    sizes: Counts
    classes: Counts

    @classmethod
    def of(
        cls, source: Release | Table | Classes, columns: Sequence[str] | None = None
    ) -> Frequencies:
        """Return the frequencies of the classes of a release, or of equal rows of a table.

        Classes are counted by people, not by rows.

        Parameters:
            source: A release, a table, or classes.
            columns: For a table, the columns to compare; by default its quasi-identifiers.
        """
        return cls.of_sizes(class_sizes(source, columns))

    @classmethod
    def of_sizes(cls, sizes: Counts) -> Frequencies:
        """Return the frequencies of classes of these sizes."""
        found, classes = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        return cls(frozen(found), frozen(classes.astype(np.int64)))

    def __repr__(self) -> str:
        return f"Frequencies(records={self.records}, classes={self.groups})"

    @property
    def records(self) -> int:
        """People in all classes, counted once for each class; records if each row is a person."""
        return int((self.sizes * self.classes).sum())

    @property
    def groups(self) -> int:
        """Number of classes."""
        return int(self.classes.sum())

    def having(self, size: int) -> int:
        """Return the number of classes of one size."""
        return int(self.classes[self.sizes == size].sum())

    @property
    def uniques(self) -> int:
        """People who are alone in a class, counted once for each such class."""
        return self.having(1)


def class_sizes(source: Release | Table | Classes, columns: Sequence[str] | None = None) -> Counts:
    """(classes,) the number of people in each class of a release, or of equal rows of a table.

    Raises:
        InputError: Columns are given for something other than a table.
    """
    if isinstance(source, Table):
        return classes_by(source, columns).people
    if columns is not None:
        raise InputError("columns can only be chosen for a table; a release has fixed classes")
    return source.classes.people if isinstance(source, Release) else source.people


def classes_by(table: Table, columns: Sequence[str] | None = None) -> Classes:
    """Return the classes of equal rows in some columns, by default the quasi-identifiers."""
    chosen = [table[name] for name in chosen_columns(table, columns)]
    return Classes.of(table, group([c.codes for c in chosen], [c.domain for c in chosen]).ids)


def chosen_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given columns, by default the quasi-identifiers.

    Raises:
        InputError: There are no columns to compare, or a column does not exist.
    """
    names = table.quasi if columns is None else tuple(dict.fromkeys(columns))
    if not names:
        raise InputError("no columns to compare; name columns, or declare quasi-identifiers")
    for name in names:
        table[name]  # raises if it does not exist
    return names


_STARTS = ((0.1, 1.0), (0.5, 10.0), (0.8, 100.0), (0.95, 1000.0))  # α, θ + α
_MIN_ALPHA_GAP = 1e-4  # an α closer to 1 means that the likelihood has no maximum
_MAX_THETA_RATIO = 1e4  # θ / records above which the likelihood has no maximum
_MAX_LOGIT = 12.0  # |logit α|; α = 0 is Ewens' model, which is practically reached
_ROUGH = {"xatol": 1e-2, "fatol": 1e-2, "maxiter": 150}  # enough near a known fit
_MAX_SIZE = 500  # records of a class up to which its growth is treated as random
_MAX_SINGLE = 1000  # newcomers up to which every number of them is evaluated


@dataclass(frozen=True)
class Pitman:
    """A fitted model: person n + 1 opens a class with probability (θ + α·classes) / (θ + n).

    Parameters:
        alpha: Weight of the tail, from 0 to 1.
        theta: Abundance of classes, above −α.
    """

    alpha: float
    theta: float

    @classmethod
    def fit(cls, sample: Frequencies, near: Pitman | None = None) -> Pitman | None:
        """Return the model of maximum likelihood.

        Parameters:
            sample: The sizes of classes.
            near: A model close to the maximum, if known; otherwise several starts are tried.

        Returns:
            The model, None if the likelihood has no maximum.
        """
        from scipy.optimize import minimize

        if not 1 < sample.groups < sample.records:
            return None

        def loss(point: Any) -> float:
            value = -_log_likelihood(sample, *_parameters(point))
            return value if np.isfinite(value) else 1e300

        starts: Sequence[tuple[float, float]] = _STARTS
        steps = {"xatol": 1e-4, "fatol": 1e-5, "maxiter": 600}
        if near is not None:
            starts, steps = [(near.alpha, near.theta + near.alpha)], _ROUGH
        tried = (
            minimize(loss, _point(*start), method="Nelder-Mead", options=steps) for start in starts
        )
        alpha, theta = _parameters(min(tried, key=lambda one: float(one.fun)).x)
        inside = alpha < 1 - _MIN_ALPHA_GAP and theta < _MAX_THETA_RATIO * sample.records
        return cls(alpha, theta) if inside else None

    def uniques(self, people: float) -> float:
        """Return the expected number of people who are alone in their class.

        N·Γ(θ + 1)·Γ(θ + α + N − 1) / (Γ(θ + α)·Γ(θ + N)), which for large N is the published
        Γ(θ + 1) / Γ(θ + α)·N^α.
        """
        return people * self.stays_alone(1, people)

    def stays_alone(self, sample: float, people: float) -> float:
        """Return the probability that a unique of `sample` people is unique among `people`."""
        from scipy.special import gammaln

        first = gammaln(self.theta + sample) - gammaln(self.theta + sample - 1 + self.alpha)
        last = gammaln(self.theta + people) - gammaln(self.theta + people - 1 + self.alpha)
        return float(np.exp(first - last))

    def inverse_sizes(self, sizes: Counts, sample: int, people: float) -> Floats:
        """Return the expected 1 / F of classes with f records in the sample.

        A newcomer joins such a class with probability (f − α) / (θ + n): the number of newcomers
        who do is beta-binomial.

        Parameters:
            sizes: The sizes f of classes in the sample.
            sample: Number of people in the sample.
            people: Number of people in the population.
        """
        # for large classes F is nearly certain, so that 1 / E[F] is close enough
        newcomers = max(round(people) - sample, 0)
        expected = sizes + newcomers * (sizes - self.alpha) / (self.theta + sample)
        inverse = 1 / expected
        for i, size in enumerate(sizes.tolist()):
            if size <= _MAX_SIZE:
                inverse[i] = self._inverse_size(size, sample, newcomers)
        return np.asarray(inverse, dtype=np.float64)

    def _inverse_size(self, size: int, sample: int, newcomers: int) -> float:
        from scipy.special import betaln, gammaln

        joined, widths = _lattice(newcomers)
        own, rest = size - self.alpha, self.theta + sample - size + self.alpha
        log = gammaln(newcomers + 1) - gammaln(joined + 1) - gammaln(newcomers - joined + 1)
        log += betaln(joined + own, newcomers - joined + rest) - betaln(own, rest)
        chances = np.exp(log) * widths
        return weighted_sum(chances, 1 / (size + joined)) / float(chances.sum())


def _lattice(most: int) -> tuple[Floats, Floats]:
    """Return integers from 0 to `most`, with growing gaps, and the width that each stands for."""
    if most <= _MAX_SINGLE:
        return np.arange(most + 1.0), np.ones(most + 1)
    steps = np.geomspace(_MAX_SINGLE, most, 3000).round()
    numbers = np.unique(np.concatenate([np.arange(_MAX_SINGLE + 1.0), steps]))
    gaps = np.diff(numbers)
    return numbers, (np.append(gaps, 1.0) + np.insert(gaps, 0, 1.0)) / 2


def _parameters(point: Any) -> tuple[float, float]:
    """Return α and θ at a point of the unbounded plane of the optimizer."""
    alpha = float(1 / (1 + np.exp(-np.clip(point[0], -_MAX_LOGIT, _MAX_LOGIT))))
    return alpha, float(np.exp(np.clip(point[1], -30, 40))) - alpha


def _point(alpha: float, above: float) -> Floats:
    return np.array([np.log(alpha / (1 - alpha)), np.log(above)])


def _log_likelihood(sample: Frequencies, alpha: float, theta: float) -> float:
    """Return ln Π(θ + iα) − ln (θ + 1)…(θ + n − 1) + Σ ln (1 − α)…(f − 1 − α) + const."""
    from scipy.special import gammaln

    groups, records = sample.groups, sample.records
    ratio = theta / alpha
    opened = (groups - 1) * np.log(alpha) + gammaln(ratio + groups) - gammaln(ratio + 1)
    seated = gammaln(theta + records) - gammaln(theta + 1)
    grown = gammaln(sample.sizes - alpha) - gammaln(1 - alpha)
    return float(opened - seated) + weighted_sum(grown, sample.classes)
