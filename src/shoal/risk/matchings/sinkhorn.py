"""Sinkhorn scaling, flat matrices, and belief propagation.

Multiplying a row or a column by a number does not change the probability of any matching. So a
matrix can be scaled until all rows and columns sum to 1; it is flat if it can be scaled to zeros
and ones, which means that the attack uses only which pairs are possible.

    sinkhorn    row and column factors, in sweeps (`_scaling.py`)
    flatten     factors of a flat component, read off a spanning tree
    propagate   messages between records and slots until they agree: fast, without a guarantee for
                single pairs; accurate if many pairs are possible and none dominates, inaccurate on
                narrow bands; the permanent is bounded, however (`log_bethe`)

Sinkhorn & Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", 1967; first
factors: Olschowka & Neumaier, "A new pivoting strategy for Gaussian elimination", 1996; flat
matrices: Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks",
2014; messages: Vontobel, "The Bethe permanent of a nonnegative matrix", 2013; Anari & Rezaei, "A
tight analysis of Bethe approximation for permanent", 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.errors import NotConverged
from shoal.risk.matchings.structure import Component, Edges, Structure
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.progress import report

_ABSORB_SWEEPS = 25  # sweeps until the factors are multiplied in, before they overflow
_DENSE_SHARE = 0.25  # share of positive entries above which a matrix stays dense
_WIDE_RATIO = 1e-6  # smallest over largest entry, below which `prices` gives the first scaling
_MAX_PRICED_ROWS = 1000  # rows for which `prices` is used
_FLAT_TOLERANCE = 1e-10  # how far the logarithms of a flat matrix may be from sums


@dataclass(frozen=True, eq=False)
class Scaled:
    """A component whose rows and columns sum to about 1.

    Parameters:
        component: The scaled component.
        log_rows, log_columns: (size,) logarithms of the factors.
        error: Largest difference of the sum of a row from 1; columns sum to 1.
        sweeps: Number of sweeps.
        converged: Whether the error is within the tolerance.
    """

    component: Component
    log_rows: Floats = field(repr=False)
    log_columns: Floats = field(repr=False)
    error: float
    sweeps: int
    converged: bool

    @property
    def log_factor(self) -> float:
        """Logarithm of the ratio of the scaled to the original permanent."""
        return float(self.log_rows.sum() + self.log_columns.sum())


def sinkhorn(component: Component, *, tolerance: float = 1e-9, sweeps: int = 2000) -> Scaled:
    """Scale a component so that its rows and columns sum to 1.

    Scaling always converges, but slowly if the component is nearly two components.

    Parameters:
        component: A component without pairs that are in no perfect matching.
        tolerance: Allowed difference of the sum of a row from 1.
        sweeps: Maximum number of sweeps.
    """
    from shoal.risk.matchings import _scaling as kernels

    current, logs = _even(component)
    if isinstance(current, Edges):
        run, apply = kernels.sweep_edges, kernels.apply_edges
    else:
        run, apply = kernels.sweep_dense, kernels.apply_dense
    rows, columns, sums = np.ones(component.size), np.ones(component.size), np.empty(component.size)
    error, done = np.inf, 0
    while done < sweeps and error > tolerance:
        for _ in range(min(_ABSORB_SWEEPS, sweeps - done)):
            error = run(current, rows, columns, sums)
            done += 1
            if error <= tolerance:
                break
        # factors are multiplied in from time to time, so that none of them over- or underflows
        current = _multiplied(current, rows, columns, apply)
        logs = [log + np.log(factors) for log, factors in zip(logs, (rows, columns), strict=True)]
        rows[:], columns[:] = 1.0, 1.0
    scaled = Component(component.rows, component.columns, component.mapping, current)
    return Scaled(scaled, logs[0], logs[1], error, done, error <= tolerance)


@dataclass(frozen=True, eq=False)
class Flat:
    """Factors of a flat component: log w[i, j] = log_rows[i] + log_columns[j].

    Parameters:
        log_rows, log_columns: (size,) logarithms of the factors.
        residual: Largest difference of the two sides.
    """

    log_rows: Floats = field(repr=False)
    log_columns: Floats = field(repr=False)
    residual: float

    @property
    def log_factor(self) -> float:
        """Logarithm of the ratio of the permanent to the number of matchings."""
        return float(self.log_rows.sum() + self.log_columns.sum())


def flatten(component: Component, *, tolerance: float = _FLAT_TOLERANCE) -> Flat | None:
    """Return the factors of a flat component, None if it is not flat.

    All matchings of a component are equally likely if and only if its entries are such products:
    its matchings span the matrices with equal row and column sums. So the factors follow from a
    spanning tree of pairs, and every other pair must agree.

    Parameters:
        component: A component without pairs that are in no perfect matching.
        tolerance: Allowed difference of the logarithms.
    """
    size = component.size
    logs = np.zeros(2 * size)
    before, order = _tree(component)
    # nodes are rows 0 … size − 1, then columns; each tree edge fixes the factor of its far end
    heads, tails = before[order[1:]], order[1:]
    steps = _log_entries(component, np.minimum(heads, tails), np.maximum(heads, tails) - size)
    for head, tail, step in zip(heads.tolist(), tails.tolist(), steps.tolist(), strict=True):
        logs[tail] = step - logs[head]
    log_rows, log_columns = logs[:size], logs[size:]
    residual = 0.0
    if isinstance(component.stored, Edges) or not component.full:
        edges = component.edges
        rows = np.repeat(np.arange(size), np.diff(edges.indptr))
        off = np.log(edges.weights) - log_rows[rows] - log_columns[edges.indices]
        residual = float(np.abs(off).max())
    else:
        for i in range(size):  # row by row: the matrix may be large
            off = np.log(component.stored[i]) - log_rows[i] - log_columns
            residual = max(residual, float(np.abs(off).max()))
            if residual > tolerance:
                break
    return Flat(log_rows, log_columns, residual) if residual <= tolerance else None


def is_flat(structure: Structure) -> bool:
    """Return whether all perfect matchings are equally likely."""
    return all(flatten(component) is not None for component in structure.components)


def prices(component: Component) -> tuple[Floats, Floats]:
    """Return the logarithms of first factors of rows and of columns, for weights of any range.

    A heaviest matching gets weights of 1, and no other entry is above 1. The factors are the prices
    of the assignment problem on the logarithms of the weights (Olschowka & Neumaier 1996).
    """
    from scipy.optimize import linear_sum_assignment

    with np.errstate(divide="ignore"):
        logs = np.log(component.dense)
    rows, partners = linear_sum_assignment(logs, maximize=True)
    owned = logs[rows, partners]  # (size,) entries of the heaviest matching
    lead = owned - logs[:, partners]  # (i, k) of k over i in the column of k
    price = np.zeros(component.size)
    for _ in range(component.size):  # shortest paths: there is no negative cycle
        lower = np.minimum(price, (price[:, None] + lead).min(axis=0))
        if np.array_equal(lower, price):
            break
        price = lower
    columns = np.empty(component.size)
    columns[partners] = owned - price
    return -price, -columns


def _tree(component: Component) -> tuple[Counts, Counts]:
    """Return a spanning tree: the parent of each node, and the nodes in breadth-first order.

    Nodes are rows, then columns.
    """
    size = component.size
    if component.full:
        order = np.concatenate([[0], np.arange(size, 2 * size), np.arange(1, size)])
        return np.concatenate([np.full(size, size), np.zeros(size, dtype=np.int64)]), order
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    indptr, indices, _ = component.edges
    graph = csr_array(
        (
            np.ones(len(indices), dtype=np.int8),
            indices + size,
            np.concatenate([indptr, np.full(size, indptr[-1])]),
        ),
        shape=(2 * size, 2 * size),
    )
    order, before = breadth_first_order(graph, 0, directed=False)
    return before.astype(np.int64), order.astype(np.int64)


def _log_entries(component: Component, rows: Counts, columns: Counts) -> Floats:
    """(pairs,) the logarithms of the entries at these rows and columns."""
    if not isinstance(component.stored, Edges):
        return np.asarray(np.log(component.stored[rows, columns]))
    from scipy.sparse import csr_matrix

    indptr, indices, weights = component.stored
    shape = (component.size, component.size)
    matrix = csr_matrix((weights, indices, indptr), shape=shape)
    return np.asarray(np.log(np.asarray(matrix[rows, columns]).ravel()))


def _even(component: Component) -> tuple[Floats | Edges, list[Floats]]:
    """Return a copy whose largest entries in rows and columns are near 1, and its log factors."""
    if component.size <= _MAX_PRICED_ROWS:
        positive = component.edges.weights
        if positive.min() < _WIDE_RATIO * positive.max():
            powers = [np.rint(logs / math.log(2)).astype(np.int64) for logs in prices(component)]
            indptr, indices, _ = component.edges
            heads = np.repeat(np.arange(component.size), np.diff(indptr))
            evened = np.ldexp(positive, powers[0][heads] + powers[1][indices])
            return Edges(indptr, indices, evened), [
                math.log(2) * power.astype(np.float64) for power in powers
            ]
    if not isinstance(component.stored, Edges) and component.share > _DENSE_SHARE:
        rows = component.stored.max(axis=1)
        weights = np.ascontiguousarray(component.stored / rows[:, None])
        columns = weights.max(axis=0)
        weights /= columns
        return weights, [-np.log(rows), -np.log(columns)]
    indptr, indices, weights = component.edges
    rows = np.maximum.reduceat(weights, indptr[:-1])
    weights = weights / np.repeat(rows, np.diff(indptr))
    columns = np.zeros(component.size)
    np.maximum.at(columns, indices, weights)
    return Edges(indptr, indices, weights / columns[indices]), [-np.log(rows), -np.log(columns)]


def _multiplied(current: Floats | Edges, rows: Floats, columns: Floats, apply: Any) -> Any:
    """Return the entries with the factors multiplied in."""
    if not isinstance(current, Edges):
        apply(current, rows, columns, current)
        return current
    scaled = np.empty_like(current.weights)
    apply(current, rows, columns, scaled)
    return Edges(current.indptr, current.indices, scaled)


_TOLERANCE = 1e-8  # allowed difference between the probabilities of records and of slots
_MAX_ROUNDS = 5_000  # rounds of messages
_CHECK_ROUNDS = 50  # rounds between two checks for oscillation
_STUCK_RATIO = 0.99  # ratio of differences between two checks that shows oscillation


@dataclass(frozen=True, eq=False)
class Belief:
    """The result of belief propagation.

    Parameters:
        marginals: (edges,) approximate probability that a record of the type is in one slot of the
            class.
        rounds: Number of rounds of messages.
        error: Largest difference between the probabilities of records and of slots.
    """

    marginals: Floats
    rounds: int
    error: float


def propagate(
    indptr: Counts,
    indices: Counts | None,
    weights: Floats,
    people: Counts,
    capacity: Counts,
    *,
    tolerance: float = _TOLERANCE,
    rounds: int = _MAX_ROUNDS,
) -> Belief:
    """Send messages until records and slots agree on all probabilities.

    Parameters:
        indptr, indices, weights: For each type its classes and the scaled weight of a slot there;
            without `indices` every type has all classes. Every edge must be in a perfect matching.
        people: (types,) the number of records of each type.
        capacity: (classes,) the number of slots of each class.
        tolerance: Allowed difference between the probabilities of records and of slots.
        rounds: Maximum number of rounds.

    Raises:
        NotConverged: The messages did not agree in `rounds` rounds.
    """
    from shoal.risk.matchings._scaling import gather, send

    types, classes = len(indptr) - 1, len(capacity)
    listed = np.empty(0, dtype=np.int64) if indices is None else indices.astype(np.int64)
    weights = frozen(np.ascontiguousarray(weights, dtype=np.float64).ravel())
    upward = weights.copy()
    rest, best = np.empty(types), np.empty(types, dtype=np.int64)
    others, top = np.empty(classes), np.empty(classes)
    largest = np.empty(classes, dtype=np.int64)
    apart, earlier, done, halfway = np.inf, np.inf, 0, False
    while apart > tolerance:
        if done == rounds:
            raise NotConverged(
                f"belief propagation did not converge in {rounds:,} rounds (difference "
                f"{apart:.1g}); use another method"
            )
        report("belief propagation", done)
        if done % _CHECK_ROUNDS == 0:  # messages that oscillate are damped
            halfway, earlier = halfway or bool(done and apart > _STUCK_RATIO * earlier), apart
        before = upward.copy() if halfway else upward
        gather(indptr, listed, capacity, upward, rest, best)
        apart = send(indptr, listed, weights, people, upward, rest, best, others, top, largest)
        if halfway:
            upward = np.sqrt(before * upward)
        done += 1
    gather(indptr, listed, capacity, upward, rest, best)
    total = rest + upward[best]
    upward /= np.repeat(total, np.diff(indptr))
    return Belief(upward, done, float(apart))


def believe(component: Component) -> Belief:
    """Return the approximate probability of each pair of a scaled component."""
    ones = np.ones(component.size, dtype=np.int64)
    if component.full and not isinstance(component.stored, Edges):
        every = np.arange(component.size + 1) * component.size
        return propagate(every, None, component.dense, ones, ones)
    edges = component.edges
    return propagate(edges.indptr, edges.indices, edges.weights, ones, ones)


def log_bethe(weights: Floats, marginals: Floats) -> float:
    """Return the logarithm of the Bethe permanent.

    The permanent is at least the Bethe permanent at any doubly stochastic marginals. At those of
    belief propagation it is at most √2 times as large for each row.

    Parameters:
        weights, marginals: (edges,) the weight and the marginal of each edge.
    """
    sure = np.minimum(marginals, 1.0)
    inside = sure > 0
    gain = np.log(weights, where=inside, out=np.zeros_like(sure))
    gain -= np.log(sure, where=inside, out=np.zeros_like(sure))
    left = 1.0 - sure
    loss = left * np.log(left, where=left > 0, out=np.zeros_like(sure))
    return float((sure * gain + loss).sum())
