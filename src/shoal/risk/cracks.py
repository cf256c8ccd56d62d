"""Expected cracks of a consistency graph: how many people are matched with their own record.

Each part is solved separately: parts in which everyone may have every record have a closed form,
parts with few open counts are swept, both exactly; the rest is sampled by the worm algorithm, with
an interval.
Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from shoal.core.grouping import sum_by
from shoal.errors import InputError
from shoal.risk.graphs import Graph
from shoal.risk.matchings.collapse import merge
from shoal.risk.matchings.profile import plan, sweep
from shoal.risk.matchings.structure import Edges
from shoal.risk.matchings.worm import balanced, sample
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.progress import report

_EDGES = 20_000  # maximum edges of a part for which a sweep is planned
_STEPS = 5_000_000  # maximum steps of one sweep; longer ones are sampled
_ALL_STEPS = 300_000_000  # maximum steps of all sweeps together
_PART = 200_000  # steps that each part may take in any case
_PEOPLE = 20_000_000  # maximum number of people in a random walk
_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Cracks:
    """The expected cracks of a graph.

    value, low, high: expected cracks with their interval, None if there is no bound.
    risks: (own pairs of the graph,) the probability that such a person is matched with their
        record.
    sampled, guessed: people whose risks come from a random walk, or from scaling alone; all other
        risks are exact.
    """

    value: float
    low: float | None
    high: float | None
    risks: Floats = field(repr=False)
    sampled: int = 0
    guessed: int = 0


class Part(NamedTuple):
    """A part of a graph: positions of its kinds of people and of records, edges and own pairs."""

    people: Counts
    records: Counts
    edges: Counts
    own: Counts


def cracks_of(
    graph: Graph, *, method: str, target: float, seed: int | None, threads: int
) -> Cracks:
    """Return the expected cracks of a graph without edges that lie in no perfect matching.

    method: "auto", "exact" or "fast"; target: half of the interval's width, as a share of cracks.
    """
    shown = graph.own[:, 1] < len(graph.copies) - graph.hidden  # (pairs,) with a released record
    risks = np.zeros(len(graph.own))
    waiting, value = solve_uniform_parts(graph, risks, shown)
    error = 0.0
    if method != "fast" and waiting.any():
        found, error = sweep_parts(graph, risks, waiting, shown, method)
        value += found
    risks[~shown] = 0.0
    if not waiting.any():
        return Cracks(value, value - error, value + error, risks)
    left = count_waiting(graph, waiting, method)
    own = np.flatnonzero(waiting[graph.own[:, 0]])
    if method == "fast":
        risks[own] = np.where(
            shown[own], scaled_edges(graph, waiting)[graph.edges_of(graph.own[own])], 0.0
        )
        value += math.fsum((risks * graph.many)[own])
        return Cracks(value, None, None, risks, guessed=left)
    wider = 1 + value / max(len(np.unique(graph.own[own][shown[own], 1])), 1)
    walked = _walk(graph, waiting, own, shown, (target * wider, seed, threads))
    risks[own] = walked.risks
    low, high = (value + sign * error + end for sign, end in ((-1, walked.low), (1, walked.high)))
    return Cracks(value + walked.value, low, high, risks, sampled=left)


def count_waiting(graph: Graph, waiting: Bools, method: str) -> int:
    """Return how many people must be sampled; raise an error if that is not possible."""
    left = int(graph.people[waiting].sum())
    if method == "exact":
        raise InputError(
            f"{left:,} people are in components too large to solve exactly; use the method 'auto' "
            "for an estimate"
        )
    if left > _PEOPLE:
        raise InputError(
            f"{left:,} people are in components too large to solve exactly, more than can be "
            f"sampled ({_PEOPLE:,}); name more known attributes, or use fewer rows"
        )
    return left


def solve_uniform_parts(graph: Graph, risks: Floats, shown: Bools) -> tuple[Bools, float]:
    """Fill in the risks of uniform parts; return kinds of people in other parts, and the cracks.

    A person who has each of n records with the same probability has their own with probability 1/n.
    """
    people, _ = graph.parts
    uniform, sizes = uniform_parts(graph)
    known = people[graph.own[:, 0]]
    risks[:] = np.where(uniform[known], 1 / sizes[known], 0.0)
    found = np.bincount(known, graph.many * shown, minlength=len(sizes)) / sizes
    return np.asarray(~uniform[people]), float(found[uniform].sum())


def uniform_parts(graph: Graph) -> tuple[Bools, Counts]:
    """(parts,) whether all matchings of a part are equally likely, and how many people it has.

    They are if everyone may have every record with equal weight, and for one kind of people or of
    records with any weights.
    """
    people, records = graph.parts
    parts = int(people.max()) + 1 if len(people) else 0
    kinds = [np.bincount(line, minlength=parts) for line in (people, records)]
    uniform = (kinds[0] == 1) | (kinds[1] == 1)
    if graph.weights is None:
        uniform |= np.bincount(people[graph.heads], minlength=parts) == kinds[0] * kinds[1]
    return uniform, sum_by(people, parts, graph.people)


def sweep_parts(
    graph: Graph, risks: Floats, waiting: Bools, shown: Bools, method: str
) -> tuple[float, float]:
    """Solve parts with a short sweep; return the cracks and a bound on the rounding error."""
    cracks, error, budget = [0.0], 0.0, float(_ALL_STEPS)
    people, kinds, done = graph.many * shown, int(waiting.sum()), 0
    for part in _parts(graph, waiting):
        report("matching", done, kinds)
        done += len(part.people)
        if method != "exact" and (len(part.edges) > _EDGES or budget <= 0):
            continue
        found = _sweep(graph, part, math.inf if method == "exact" else min(_STEPS, budget))
        if found is not None:
            risks[part.own] = found.risks
            waiting[part.people] = False
            cracks.append(float((found.risks * people[part.own]).sum()))
            error += (found.error + 2 * _UNIT * len(part.own)) * cracks[-1]
            budget -= found.steps + _PART
    return math.fsum(cracks), error


def _parts(graph: Graph, waiting: Bools) -> Iterator[Part]:
    """Yield the unsolved parts."""
    people, records = graph.parts
    lines = people, records, people[graph.heads], people[graph.own[:, 0]]
    asked = np.unique(people[waiting])
    orders = [np.argsort(line, kind="stable") for line in lines]
    ends = [
        (np.searchsorted(line, asked, sorter=order), np.searchsorted(line, asked, "right", order))
        for line, order in zip(lines, orders, strict=True)
    ]
    for at in range(len(asked)):
        cut = (
            order[first[at] : last[at]] for order, (first, last) in zip(orders, ends, strict=True)
        )
        yield Part(*cut)


class Swept(NamedTuple):
    """Result of a sweep: the risks of own pairs, a bound on their relative error, its steps."""

    risks: Floats
    error: float
    steps: float


def _sweep(graph: Graph, part: Part, most: float) -> Swept | None:
    """Return the risks of a part, None if that takes too many steps."""
    heads = np.searchsorted(part.people, graph.heads[part.edges])
    weights = np.ones(len(part.edges)) if graph.weights is None else graph.weights[part.edges]
    edges = Edges(
        np.searchsorted(heads, np.arange(len(part.people) + 1)),
        np.searchsorted(part.records, graph.indices[part.edges]),
        weights / weights.max(),
    )
    merged = merge(edges, graph.people[part.people], graph.copies[part.records])
    planned = plan(merged)
    if not planned.steps <= most or math.isinf(planned.steps):
        return None
    swept = sweep(planned)
    pairs = swept.pairs.T if planned.swapped else swept.pairs
    each = pairs / (merged.row_counts[:, None] * merged.column_counts)
    rows = merged.row_kinds[np.searchsorted(part.people, graph.own[part.own, 0])]
    columns = merged.column_kinds[np.searchsorted(part.records, graph.own[part.own, 1])]
    return Swept(each[rows, columns], 3 * swept.error, planned.steps)


class Walked(NamedTuple):
    """Result of a random walk: the expected cracks, their interval, the risks of own pairs."""

    value: float
    low: float
    high: float
    risks: Floats


def _walk(
    graph: Graph, waiting: Bools, own: Counts, shown: Bools, how: tuple[float, int | None, int]
) -> Walked:
    """Walk over the matchings of all unsolved parts."""
    indptr, indices, types, kinds = cut(graph, waiting)
    many = graph.many[own]
    each = np.repeat(np.arange(len(own)), many)  # (people,) the own pair of each
    person = types[graph.own[own, 0]][each]
    record = np.searchsorted(kinds, graph.own[own, 1])[each]
    weights = balanced(indptr, indices, edge_weights(graph, waiting), person, graph.copies[kinds])
    target, seed, threads = how
    found = sample(
        indptr,
        indices,
        weights,
        person,
        graph.copies[kinds],
        np.where(shown[own][each], record, -1),
        start=record,
        target=target,
        seed=seed,
        threads=threads,
    )
    mean = np.bincount(each, found.marginals, minlength=len(own)) / many
    risks = np.where(shown[own], np.minimum(mean, 1 / graph.copies[graph.own[own, 1]]), 0.0)
    return Walked(found.value, found.low, found.high, risks)


def scaled_edges(graph: Graph, waiting: Bools) -> Floats:
    """(edges,) the probability of each unsolved edge if pairs were independent, 0 elsewhere."""
    indptr, indices, _, kinds = cut(graph, waiting)
    person = np.repeat(np.arange(len(indptr) - 1), graph.people[waiting])
    scaled = balanced(indptr, indices, edge_weights(graph, waiting), person, graph.copies[kinds])
    every = np.zeros(len(graph.indices))
    every[waiting[graph.heads]] = scaled
    return np.minimum(every, 1 / graph.copies[graph.indices])


def cut(graph: Graph, waiting: Bools) -> tuple[Counts, Counts, Counts, Counts]:
    """Return the edges of unsolved kinds of people, the numbers of these, and kinds of records."""
    degrees = np.diff(graph.indptr)[waiting]
    used = graph.indices[waiting[graph.heads]]
    kinds = np.unique(used).astype(np.int64)
    types = np.cumsum(waiting, dtype=np.int64) - 1
    indptr = np.concatenate(([0], np.cumsum(degrees, dtype=np.int64)))
    return indptr, np.searchsorted(kinds, used).astype(np.int64), types, kinds


def edge_weights(graph: Graph, waiting: Bools) -> Floats:
    """(edges of unsolved kinds,) the weights."""
    inside = waiting[graph.heads]
    return np.ones(int(inside.sum())) if graph.weights is None else graph.weights[inside]
