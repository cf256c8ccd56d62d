"""Copula: a joint model of all columns, for the probability to be unique in the population.

The marginals of the sample, joined by a Gaussian copula whose correlations give each pair of
columns its mutual information in the sample; values without an order get one first.
Rocher, Hendrickx & de Montjoye, "Estimating the success of re-identifications in incomplete
datasets using generative models", Nature Communications 10, 2019. Boxes of the normal distribution
after Genz, "Numerical computation of multivariate normal probabilities", JCGS 1(2), 1992. Orders
after Hill, "Reciprocal averaging: an eigenvector method of ordination", Journal of Ecology 61(1),
1973.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.core.column import Column
from shoal.core.grouping import sum_by
from shoal.core.table import Table
from shoal.risk.population.frequencies import chosen_columns
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report

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
