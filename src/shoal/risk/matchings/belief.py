"""Belief propagation: messages between records and slots until they agree.

Fast, but without a guarantee for single pairs: accurate if many pairs are possible and none
dominates, inaccurate on narrow bands. The permanent is bounded, however.
Vontobel, "The Bethe permanent of a nonnegative matrix", 2013; Anari & Rezaei, "A tight analysis of
Bethe approximation for permanent", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.errors import NotConverged
from shoal.risk.matchings.structure import Component, Edges
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.progress import report

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
    from shoal.risk.matchings._belief import gather, send

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
