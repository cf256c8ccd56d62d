"""Belief propagation: messages between records and slots until they agree.

Quick, and without any guarantee: near the truth where many pairs are possible and none stands out,
far off on narrow bands. The permanent, though, is bounded by them.
Vontobel, "The Bethe permanent of a nonnegative matrix", 2013; Anari & Rezaei, "A tight analysis of
Bethe approximation for permanent", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.errors import NotConverged
from shoal.risk.matchings.structure import Component, Edges
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report

_TOLERANCE = 1e-8  # how far chances may be apart
_ROUNDS = 5_000
_PATIENCE = 50  # rounds
_STUCK = 0.99  # what is left, after so many, of the difference of messages that swing


@dataclass(frozen=True, eq=False)
class Belief:
    """What the messages agree on.

    marginals: (edges,) about the chance of a record of the type to be in one slot of the class.
    rounds: of messages; error: how far records and slots are apart on them.
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
    rounds: int = _ROUNDS,
) -> Belief:
    """Send messages until records and slots agree on all chances.

    indptr, indices, weights: for each type its classes and the weight of a slot there, scaled;
        without `indices` every type has all classes. Edges must lie in perfect matchings.
    people: (types,) the records of each type; capacity: (classes,) the slots of each class.
    """
    from shoal.risk.matchings._belief import gather, send

    types, classes = len(indptr) - 1, len(capacity)
    listed = np.empty(0, dtype=np.int64) if indices is None else indices.astype(np.int64)
    weights = np.ascontiguousarray(weights, dtype=np.float64).ravel()
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
        if done % _PATIENCE == 0:  # some swing to and fro for ever: those go half-way
            halfway, earlier = halfway or bool(done and apart > _STUCK * earlier), apart
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
    """Send messages in a scaled component, one record a row and one slot a column."""
    ones = np.ones(component.size, dtype=np.int64)
    if component.full and not isinstance(component.stored, Edges):
        every = np.arange(component.size + 1) * component.size
        return propagate(every, None, component.dense, ones, ones)
    edges = component.edges
    return propagate(edges.indptr, edges.indices, edges.weights, ones, ones)


def log_bethe(weights: Floats, marginals: Floats) -> float:
    """Return the logarithm of the Bethe permanent, edge by edge.

    The permanent is at least that, whatever doubly stochastic marginals it is taken at; where they
    are those of belief propagation, it is at most √2 times as much for each row.
    """
    sure = np.minimum(marginals, 1.0)
    inside = sure > 0
    gain = np.log(weights, where=inside, out=np.zeros_like(sure))
    gain -= np.log(sure, where=inside, out=np.zeros_like(sure))
    left = 1.0 - sure
    loss = left * np.log(left, where=left > 0, out=np.zeros_like(sure))
    return float((sure * gain + loss).sum())
