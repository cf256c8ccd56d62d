"""The probability of each person to be unique in the population, by a copula of all columns.

    Copula.fit              the marginals of the sample, joined by a Gaussian copula whose
                            correlations give each pair of columns its mutual information in the
                            sample; values without an order get one first (`ranks`)
    Copula.chances          p, the probability of a person's values: a box of the normal
                            distribution
    individual_uniqueness   ξ = (1 − p)^(N − 1), scaled so that the model expects as many sample
                            uniques as there are

Rocher, Hendrickx & de Montjoye, "Estimating the success of re-identifications in incomplete
datasets using generative models", Nature Communications 10, 2019. Boxes after Genz, "Numerical
computation of multivariate normal probabilities", JCGS 1(2), 1992; orders after Hill, "Reciprocal
averaging: an eigenvector method of ordination", Journal of Ecology 61(1), 1973.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.risk.population.frequencies import chosen_columns, classes_by
from shoal.support.arrays import Codes, Counts, Floats, frozen, weighted_sum
from shoal.support.options import check_range
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.classes import Classes
from shoal.table.column import Column
from shoal.table.people import distinct_rows, group, group_keys, sum_by
from shoal.table.table import Table

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


_BINS = 24  # bins of a column for its correlations
_POINTS = 256  # points at which the probability of a box is evaluated
_BLOCK = 4096  # boxes between two reports of progress
_MAX_CORRELATION = 0.98  # correlation of columns with the same information
_MIN_TAIL = 1e-9  # probability of a tail, to keep quantiles finite
_SCORING_ROUNDS = 30  # rounds of reciprocal averaging
_RHOS = np.append(np.linspace(0, 0.9, 13), [0.94, _MAX_CORRELATION])


@dataclass(frozen=True, eq=False)
class Copula:
    """A fitted model of several columns.

    Parameters:
        columns: Names of the columns.
        ranks: For each column, (domain,) the rank of each value.
        cuts: For each column, (domain + 1,) the normal quantiles between ranks.
        correlation: (columns, columns) the correlations of the latent normals.
    """

    columns: tuple[str, ...]
    ranks: tuple[Codes, ...]
    cuts: tuple[Floats, ...]
    correlation: Floats

    @classmethod
    def fit(cls, table: Table, columns: Sequence[str] | None = None) -> Copula:
        """Fit the model to columns of a table, by default the quasi-identifiers."""
        from scipy.special import ndtri

        names = chosen_columns(table, columns)
        studied = [table[name] for name in names]
        ranked = ranks(studied, table.counts)
        codes = [rank[c.codes] for rank, c in zip(ranked, studied, strict=True)]
        shares = [
            sum_by(each, c.domain, table.counts) / max(table.records, 1)
            for each, c in zip(codes, studied, strict=True)
        ]
        cuts = tuple(ndtri(np.append(0.0, np.cumsum(share)).clip(0, 1)) for share in shares)
        binned = [_binned(share, each) for share, each in zip(shares, codes, strict=True)]
        correlation = np.eye(len(names))
        for one, other in combinations(range(len(names)), 2):
            rho = _correlation(binned[one], binned[other], table.counts)
            correlation[one, other] = correlation[other, one] = rho
        return cls(names, ranked, cuts, _nearest(correlation))

    def __repr__(self) -> str:
        return f"Copula(columns={list(self.columns)})"

    def chances(self, codes: Codes) -> Floats:
        """Return the probability of each row of codes (rows, columns): that of a normal box."""
        order = np.argsort([len(cut) for cut in self.cuts])[::-1]  # narrow boxes first
        root: Floats = np.linalg.cholesky(self.correlation[np.ix_(order, order)]).astype(np.float64)
        low = np.stack([self.cuts[j][self.ranks[j][codes[:, j]]] for j in order], axis=1)
        high = np.stack([self.cuts[j][self.ranks[j][codes[:, j]] + 1] for j in order], axis=1)
        chances = np.empty(len(codes))
        for first in range(0, len(codes), _BLOCK):
            report("copula", first, len(codes))
            block = slice(first, first + _BLOCK)
            chances[block] = _boxes(root, low[block], high[block])
        return chances

    def draw(self, people: int, seed: int = 0) -> Codes:
        """Draw (people, columns) the codes of a population."""
        rng = np.random.default_rng(seed)
        root = np.linalg.cholesky(self.correlation)
        apart = rng.standard_normal((people, len(self.columns)))
        normals = np.einsum("ik,jk->ij", apart, root)  # the same on one core or many
        drawn = [
            np.argsort(self.ranks[j])[np.searchsorted(cut[1:-1], normals[:, j], side="right")]
            for j, cut in enumerate(self.cuts)
        ]
        return np.stack(drawn, axis=1).astype(np.int32)


def _boxes(root: Floats, low: Floats, high: Floats) -> Floats:
    """Return the normal probability of boxes, column by column given the columns before."""
    from scipy.special import ndtr, ndtri

    width = root.shape[0]
    points = _lattice(_POINTS, width)
    chances = np.ones((len(low), _POINTS))
    scores = np.zeros((width, len(low), _POINTS))
    # Genz: given the columns before, column j is a normal between two limits; each point draws a
    # score inside the box, and the product of the conditional probabilities is averaged over points
    for j in range(width):
        shift = np.zeros((len(low), _POINTS))
        for i in range(j):
            shift += root[j, i] * scores[i]
        below = ndtr((low[:, j, None] - shift) / root[j, j])
        above = ndtr((high[:, j, None] - shift) / root[j, j])
        chances *= above - below
        inside = below + points[:, j] * (above - below)
        scores[j] = ndtri(inside.clip(1e-15, 1 - 1e-15))
    return np.asarray(chances.mean(axis=1), dtype=np.float64)


def _lattice(points: int, width: int) -> Floats:
    """(points, columns) Richtmyer's points in the unit cube: multiples of roots of primes."""
    primes = [n for n in range(2, 500) if all(n % d for d in range(2, n))]
    steps = np.arange(1, points + 1)[:, None] * np.sqrt(primes[:width]) % 1
    return np.asarray(np.abs(2 * ((steps + 0.5 / points) % 1) - 1), dtype=np.float64)


def _binned(shares: Floats, codes: Codes) -> tuple[Codes, Floats]:
    """Return codes of at most `_BINS` bins of neighbouring values, and their shares."""
    middles = np.cumsum(shares) - shares / 2
    bins = np.minimum((middles * _BINS).astype(np.int64), _BINS - 1)
    dense = np.unique(bins, return_inverse=True)[1].astype(np.int32)
    return dense[codes], np.bincount(dense, shares).astype(np.float64)


def _correlation(
    one: tuple[Codes, Floats], other: tuple[Codes, Floats], counts: Counts | None
) -> float:
    """Return the correlation whose binned normals have the mutual information of two columns."""
    from scipy.special import ndtri

    (codes, shares), (beside, shares_beside) = one, other
    height, width = len(shares), len(shares_beside)
    joint = sum_by((codes * width + beside).astype(np.int32), height * width, counts)
    joint = joint.reshape(height, width)
    people = int(joint.sum())
    # Miller–Madow: the mutual information of a sample is too high by degrees of freedom / 2n
    occupied = (joint > 0).sum() - (joint.sum(1) > 0).sum() - (joint.sum(0) > 0).sum() + 1
    information = _information(joint / max(people, 1)) - occupied / (2 * max(people, 1))
    cuts, cuts_beside = (
        ndtri(np.cumsum(s)[:-1].clip(_MIN_TAIL, 1 - _MIN_TAIL)) for s in (shares, shares_beside)
    )
    reached = [_information(_cells(cuts, cuts_beside, rho)) for rho in _RHOS]
    if information <= 0 or reached[-1] <= _MIN_TAIL:  # a column with one value has no information
        return 0.0
    strength = float(np.interp(information, np.maximum.accumulate(reached), _RHOS))
    places = [
        ndtri((np.cumsum(s) - s / 2).clip(_MIN_TAIL, 1 - _MIN_TAIL))
        for s in (shares, shares_beside)
    ]
    lean = float((joint * np.outer(*places)).sum())
    return strength if lean >= 0 else -strength


def _information(cells: Floats) -> float:
    """Return the mutual information of a table of probabilities, in nats."""
    apart = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    held = cells > 0
    return float((cells[held] * np.log(cells[held] / apart[held])).sum())


def _cells(cuts: Floats, beside: Floats, rho: float) -> Floats:
    """Return the probabilities of the cells between cuts of two correlated normals.

    Φ₂(h, k; ρ) = Φ(h)·Φ(k) + ∫ exp(−(h² + k² − 2hk·sin t) / 2cos² t) dt / 2π, t from 0 to asin ρ.
    """
    from scipy.special import ndtr

    h, k = cuts[:, None, None], beside[None, :, None]
    nodes, weights = np.polynomial.legendre.leggauss(24)
    t = np.arcsin(rho) * (nodes + 1) / 2
    raised = np.exp(-(h * h + k * k - 2 * h * k * np.sin(t)) / (2 * np.cos(t) ** 2))
    grown = (raised * weights).sum(axis=2) * np.arcsin(rho) / 2 / (2 * np.pi)
    corner = np.zeros((len(cuts) + 2, len(beside) + 2))
    corner[1:-1, 1:-1] = ndtr(cuts)[:, None] * ndtr(beside) + grown
    corner[-1, 1:-1], corner[1:-1, -1], corner[-1, -1] = ndtr(beside), ndtr(cuts), 1.0
    return np.maximum(np.diff(np.diff(corner, axis=0), axis=1), 0.0)


def _nearest(correlation: Floats) -> Floats:
    """Return a positive definite correlation matrix close to the given one."""
    # correlations were fitted pair by pair, so that together they may be impossible
    values, vectors = np.linalg.eigh(correlation)
    if values.min() > 1e-6:
        return correlation
    repaired = (vectors * values.clip(1e-6)) @ vectors.T
    scale = np.sqrt(np.diag(repaired))
    return np.asarray(repaired / np.outer(scale, scale), dtype=np.float64)


def ranks(columns: Sequence[Column], counts: Counts | None = None) -> tuple[Codes, ...]:
    """Return, for each column, the rank of each of its values.

    Ordered columns keep their order. Other columns get one by reciprocal averaging, which puts
    similar values next to each other: the score of a value is the average of the other columns'
    scores in its rows (Hill 1973).
    """
    weights = np.ones(len(columns[0])) if counts is None else counts.astype(np.float64)
    scores = [_standardized(_middle_scores(column, weights), column, weights) for column in columns]
    rows = np.stack([s[c.codes] for s, c in zip(scores, columns, strict=True)])
    free = [j for j, column in enumerate(columns) if not column.ordered]
    for _ in range(_SCORING_ROUNDS if len(columns) > 1 else 0):
        for j in free:
            others = rows.sum(axis=0) - rows[j]
            held = np.bincount(columns[j].codes, weights, columns[j].domain)
            sums = np.bincount(columns[j].codes, weights * others, columns[j].domain)
            scores[j] = _standardized(sums / np.maximum(held, 1), columns[j], weights)
            rows[j] = scores[j][columns[j].codes]
    all_ranks = []
    for j, column in enumerate(columns):
        order = np.argsort(scores[j], kind="stable") if j in free else np.arange(column.domain)
        rank = np.empty(column.domain, dtype=np.int32)
        rank[order] = np.arange(column.domain, dtype=np.int32)
        all_ranks.append(rank)
    return tuple(all_ranks)


def _middle_scores(column: Column, weights: Floats) -> Floats:
    """Return the middle of each value's range of ranks, as a share of the rows."""
    shares = np.bincount(column.codes, weights, column.domain) / weights.sum()
    return np.asarray(np.cumsum(shares) - shares / 2, dtype=np.float64)


def _standardized(scores: Floats, column: Column, weights: Floats) -> Floats:
    """Return scores with mean 0 and deviation 1 over the rows, all 0 if they are equal."""
    shares = np.bincount(column.codes, weights, column.domain) / weights.sum()
    centred = scores - (scores * shares).sum()
    deviation = float(np.sqrt((centred**2 * shares).sum()))
    return np.asarray(centred / deviation if deviation > 1e-12 else 0 * centred, dtype=np.float64)
