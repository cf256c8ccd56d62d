"""Expected cracks of a consistency graph: how many people are matched with their own record.

Components in which everyone may have every record have a closed form. The others are components of
an attack matrix with repeated rows and columns: those that are cheap to solve exactly are solved,
the rest are sampled together by the worm algorithm, with an interval.
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
from shoal.risk.matchings.solver import Budget, solve_within
from shoal.risk.matchings.structure import Component, Edges, Multiplicity
from shoal.risk.matchings.worm import balanced, sample
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.progress import report

_MAX_EDGES = 20_000  # edges of a component that may be solved exactly
_MAX_SECONDS = 0.15  # cost of the exact solution of one component
_MAX_TOTAL_SECONDS = 9.0  # cost of all exact solutions together
_OVERHEAD_SECONDS = 0.006  # what each solved component counts for in addition to its cost
_MAX_PEOPLE = 20_000_000  # people in a random walk
_UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Cracks:
    """The expected cracks of a graph.

    Parameters:
        value, low, high: Expected cracks with their interval, None if there is no bound.
        risks: (own pairs of the graph,) the probability that such a person is matched with their
            record.
        sampled, guessed: People whose risks come from a random walk, or from scaling alone; all
            other risks are exact.
    """

    value: float
    low: float | None
    high: float | None
    risks: Floats = field(repr=False)
    sampled: int = 0
    guessed: int = 0


def cracks_of(
    graph: Graph, *, method: str, half_width: float, seed: int | None, threads: int
) -> Cracks:
    """Return the expected cracks of a graph.

    Parameters:
        graph: A consistency graph without edges that are in no perfect matching.
        method: "auto", "exact" or "fast".
        half_width: Half the width of the interval, relative to the value.
        seed: Seed of the random walk.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: A component cannot be solved exactly, or has too many people to sample.
        NotConverged: The random walk did not become narrow enough.
    """
    shown = graph.own[:, 1] < len(graph.copies) - graph.hidden  # (pairs,) with a released record
    risks = np.zeros(len(graph.own))
    waiting, value = solve_uniform_components(graph, risks, shown)
    error = 0.0
    if method != "fast" and waiting.any():
        solved, error = solve_components(graph, risks, waiting, shown, method)
        value += solved
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
    sampled = _walk(graph, waiting, own, shown, half_width * wider, seed, threads)
    risks[own] = sampled.risks
    low, high = value - error + sampled.low, value + error + sampled.high
    return Cracks(value + sampled.value, low, high, risks, sampled=left)


def count_waiting(graph: Graph, waiting: Bools, method: str) -> int:
    """Return the number of people in unsolved components.

    Parameters:
        graph: The consistency graph.
        waiting: (kinds of people,) which are unsolved.
        method: "auto", "exact" or "fast".

    Raises:
        InputError: The method is "exact", or these are more people than can be sampled.
    """
    left = int(graph.people[waiting].sum())
    if method == "exact":
        raise InputError(
            f"{left:,} people are in components too large to solve exactly; use the method 'auto' "
            "for an estimate"
        )
    if left > _MAX_PEOPLE:
        raise InputError(
            f"{left:,} people are in components too large to solve exactly, more than can be "
            f"sampled ({_MAX_PEOPLE:,}); name more known attributes, or use fewer rows"
        )
    return left


def solve_uniform_components(graph: Graph, risks: Floats, shown: Bools) -> tuple[Bools, float]:
    """Fill in the risks of uniform components.

    A person who has each of n records with the same probability has their own with probability 1/n.

    Parameters:
        graph: The consistency graph.
        risks: (own pairs,) filled in, 0 in other components.
        shown: (own pairs,) whether the record is released.

    Returns:
        (kinds of people,) whether they are in another component; the expected cracks.
    """
    people, _ = graph.parts
    uniform, sizes = uniform_components(graph)
    known = people[graph.own[:, 0]]
    risks[:] = np.where(uniform[known], 1 / sizes[known], 0.0)
    cracks = np.bincount(known, graph.many * shown, minlength=len(sizes)) / sizes
    return np.asarray(~uniform[people]), float(cracks[uniform].sum())


def uniform_components(graph: Graph) -> tuple[Bools, Counts]:
    """Return, for each component, whether all its pairs are equally likely, and its people.

    They are if everyone may have every record with equal weight, or if there is one kind of people
    or of records, with any weights.
    """
    people, records = graph.parts
    parts = int(people.max()) + 1 if len(people) else 0
    kinds = [np.bincount(line, minlength=parts) for line in (people, records)]
    uniform = (kinds[0] == 1) | (kinds[1] == 1)
    if graph.weights is None:
        uniform |= np.bincount(people[graph.heads], minlength=parts) == kinds[0] * kinds[1]
    return uniform, sum_by(people, parts, graph.people)


def solve_components(
    graph: Graph, risks: Floats, waiting: Bools, shown: Bools, method: str
) -> tuple[float, float]:
    """Solve components exactly if that is cheap, or with the method "exact" if it is possible.

    Parameters:
        graph: The consistency graph.
        risks: (own pairs,) filled in for solved components.
        waiting: (kinds of people,) which are unsolved; cleared for solved components.
        shown: (own pairs,) whether the record is released.
        method: "auto" or "exact".

    Returns:
        The expected cracks of the solved components, and a bound on their rounding error.
    """
    if method == "exact":
        max_edges, budget = math.inf, Budget(math.inf)
    else:
        limits = {"total_seconds": _MAX_TOTAL_SECONDS, "overhead_seconds": _OVERHEAD_SECONDS}
        max_edges, budget = _MAX_EDGES, Budget(_MAX_SECONDS, **limits)
    cracks, error, done = [0.0], 0.0, 0
    people, kinds = graph.many * shown, int(waiting.sum())
    components = _components(graph, waiting.copy(), max_edges)
    for component, solution in solve_within(components, budget):
        done += component.size
        report("matching", done, kinds)
        if solution is None or component.multiplicity is None:
            continue
        own = component.multiplicity.own
        risks[own] = solution.marginals
        waiting[component.rows] = False
        cracks.append(float((solution.marginals * people[own]).sum()))
        error += (3 * solution.error + 2 * _UNIT * len(own)) * cracks[-1]
    return math.fsum(cracks), error


def _components(graph: Graph, waiting: Bools, max_edges: float) -> Iterator[Component]:
    """Yield the unsolved components that have at most so many edges."""
    people, records = graph.parts
    lines = people, records, people[graph.heads], people[graph.own[:, 0]]
    wanted = np.unique(people[waiting])
    orders = [np.argsort(line, kind="stable") for line in lines]
    bounds = [
        np.stack([np.searchsorted(line, wanted, side, order) for side in ("left", "right")], axis=1)
        for line, order in zip(lines, orders, strict=True)
    ]
    for ends in zip(*bounds, strict=True):
        members = [order[first:last] for order, (first, last) in zip(orders, ends, strict=True)]
        if len(members[2]) <= max_edges:
            yield _component(graph, *members)


def _component(
    graph: Graph, people: Counts, records: Counts, edges: Counts, own: Counts
) -> Component:
    """Return the component of these kinds of people and of records, edges and own pairs."""
    heads = np.searchsorted(people, graph.heads[edges])
    weights = np.ones(len(edges)) if graph.weights is None else graph.weights[edges]
    own_rows, mapping = (
        np.searchsorted(kinds, graph.own[own, side]) for side, kinds in enumerate((people, records))
    )
    return Component(
        people,
        records,
        mapping,
        Edges(
            np.searchsorted(heads, np.arange(len(people) + 1)),
            np.searchsorted(records, graph.indices[edges]),
            weights,
        ),
        Multiplicity(graph.people[people], graph.copies[records], own_rows, own),
    )


class _SampledCracks(NamedTuple):
    """Result of a random walk: the expected cracks, their interval, the risks of own pairs."""

    value: float
    low: float
    high: float
    risks: Floats


def _walk(
    graph: Graph,
    waiting: Bools,
    own: Counts,
    shown: Bools,
    half_width: float,
    seed: int | None,
    threads: int,
) -> _SampledCracks:
    """Walk over the matchings of all unsolved components together; own: their own pairs."""
    indptr, indices, types, kinds = cut(graph, waiting)
    many = graph.many[own]
    each = np.repeat(np.arange(len(own)), many)  # (people,) the own pair of each
    person = types[graph.own[own, 0]][each]
    record = np.searchsorted(kinds, graph.own[own, 1])[each]
    weights = balanced(indptr, indices, edge_weights(graph, waiting), person, graph.copies[kinds])
    walk = sample(
        indptr,
        indices,
        weights,
        person,
        graph.copies[kinds],
        np.where(shown[own][each], record, -1),
        start=record,
        half_width=half_width,
        seed=seed,
        threads=threads,
    )
    mean = np.bincount(each, walk.marginals, minlength=len(own)) / many
    risks = np.where(shown[own], np.minimum(mean, 1 / graph.copies[graph.own[own, 1]]), 0.0)
    return _SampledCracks(walk.value, walk.low, walk.high, risks)


def scaled_edges(graph: Graph, waiting: Bools) -> Floats:
    """(edges,) the probability of each unsolved edge as if pairs were independent, 0 elsewhere."""
    indptr, indices, _, kinds = cut(graph, waiting)
    person = np.repeat(np.arange(len(indptr) - 1), graph.people[waiting])
    scaled = balanced(indptr, indices, edge_weights(graph, waiting), person, graph.copies[kinds])
    chances = np.zeros(len(graph.indices))
    chances[waiting[graph.heads]] = scaled
    return np.minimum(chances, 1 / graph.copies[graph.indices])


def cut(graph: Graph, waiting: Bools) -> tuple[Counts, Counts, Counts, Counts]:
    """Return the part of the graph that is unsolved.

    Returns:
        The edges, as `indptr` and `indices`; (kinds of people,) their new number; the kinds of
        records, by their new number.
    """
    degrees = np.diff(graph.indptr)[waiting]
    used = graph.indices[waiting[graph.heads]]
    kinds = np.unique(used).astype(np.int64)
    types = np.cumsum(waiting, dtype=np.int64) - 1
    indptr = np.concatenate(([0], np.cumsum(degrees, dtype=np.int64)))
    return indptr, np.searchsorted(kinds, used).astype(np.int64), types, kinds


def edge_weights(graph: Graph, waiting: Bools) -> Floats:
    """(edges of unsolved kinds,) the weight of each edge."""
    inside = waiting[graph.heads]
    return np.ones(int(inside.sum())) if graph.weights is None else graph.weights[inside]
