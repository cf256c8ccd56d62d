"""Expected cracks of a consistency graph: how many people are matched with their own record.

    uniform components   everyone may have every record: a closed form
    cheap components     as attack matrices with repeated rows and columns: solved exactly
    all others           sampled together by the worm algorithm, with an interval

`cracks_of` counts records that are different people. `people_cracks` counts people with several
rows, who are found if one of their rows is matched with any of their records. In a uniform
component with n rows and n records, of which a rows and b records are theirs, a person is missed
with probability C(n − b, a) / C(n, a); components are independent, so misses multiply. Components
in which everyone has one row are solved as by `cracks_of`, the others are sampled. Malik,
"Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from shoal.errors import InputError
from shoal.risk.graphs import Graph
from shoal.risk.matchings.solver import Budget, solve_within
from shoal.risk.matchings.structure import ROUNDOFF, Component, Edges, Multiplicity
from shoal.risk.matchings.worm import (
    Owners,
    PeopleSample,
    balanced,
    log_missed,
    sample,
    walk_people,
)
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.progress import report
from shoal.table.members import KindEdges, Members
from shoal.table.people import Unit, sum_by

_MAX_EDGES = 20_000  # edges of a component that may be solved exactly
_MAX_SECONDS = 0.15  # cost of the exact solution of one component
_MAX_TOTAL_SECONDS = 9.0  # cost of all exact solutions together
_OVERHEAD_SECONDS = 0.006  # what each solved component counts for in addition to its cost
_MAX_PEOPLE = 20_000_000  # people in a random walk


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
    # half_width is relative to the total, of which the walk expects about one crack for each kind
    # of records; the exact part adds no width
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
        error += (3 * solution.error + 2 * ROUNDOFF * len(own)) * cracks[-1]
    return math.fsum(cracks), error


def _components(graph: Graph, waiting: Bools, max_edges: float) -> Iterator[Component]:
    """Yield the unsolved components that have at most so many edges."""
    people, records = graph.parts
    # the component of each kind of people, of records, of each edge and of each own pair; sorted by
    # component once, so that the members of a component are slices
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


@dataclass(frozen=True, eq=False)
class PeopleCracks:
    """The expected number of people found.

    Parameters:
        value, low, high: Expected number of people found and its interval, None if there is none.
        links: Expected number of records that are linked to the right person.
        risks: (people,) the probability that each is found, 0 without a released record.
        sampled, guessed: People whose risk comes from a random walk, or from scaling alone.
    """

    value: float
    low: float | None
    high: float | None
    links: float
    risks: Floats = field(repr=False)
    sampled: int = 0
    guessed: int = 0


def people_cracks(
    graph: Graph,
    person: Unit,
    *,
    method: str,
    half_width: float,
    seed: int | None,
    threads: int,
) -> PeopleCracks:
    """Return the expected number of people found.

    Parameters:
        graph: A consistency graph without edges that are in no perfect matching.
        person: The person of each row of the table.
        method: "auto", "exact" or "fast".
        half_width: Half the width of the interval, relative to the value.
        seed: Seed of the random walk.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: A component cannot be solved exactly, or has too many people to sample.
        NotConverged: The random walk did not become narrow enough.
    """
    shares = _Shares(graph, person)
    missed, links, error = shares.uniform()
    waiting = ~shares.is_uniform[graph.parts[0]]
    if method != "fast" and waiting.any():
        solved_links, solved_error = shares.solve_single(missed, waiting, method)
        links, error = links + solved_links, error + solved_error
    if not waiting.any():
        value = float((1 - missed).sum())
        return PeopleCracks(value, value - error, value + error, links, 1 - missed)
    count_waiting(graph, waiting, method)
    left = np.zeros(person.count, dtype=np.bool_)
    left[person.ids[shares.asking(waiting)]] = True
    if method == "fast":
        links += shares.guess(missed, waiting)
        value = float((1 - missed).sum())
        return PeopleCracks(value, None, None, links, 1 - missed, guessed=int(left.sum()))
    walked = shares.walk(missed, waiting, (half_width, seed, threads))
    low, high = walked.low - error, walked.high + error
    risks = 1 - missed * walked.missed
    return PeopleCracks(
        walked.value, low, high, links + walked.links, risks, sampled=int(left.sum())
    )


class _Shares:
    """The rows and records of each person in each component of a graph.

    asks, holds: for each person and component, the rows to be matched and the released records.
    """

    def __init__(self, graph: Graph, person: Unit) -> None:
        self.graph, self.person = graph, person
        self.is_uniform, self.sizes = uniform_components(graph)
        people, records = graph.parts
        self.shown = (graph.record >= 0) & (graph.record < len(graph.copies) - graph.hidden)
        asking = np.where(graph.person >= 0, people[graph.person], -1).astype(np.int32)
        held = np.where(self.shown, records[graph.record], -1).astype(np.int32)
        self.asks = Members.of(asking, person, graph.counts)
        self.holds = Members.of(held, person, graph.counts)
        self.part = asking

    def asking(self, waiting: Bools) -> Counts:
        """Return the rows of unsolved kinds."""
        kinds = self.graph.person
        return np.flatnonzero((kinds >= 0) & np.append(waiting, False)[kinds])

    def uniform(self) -> tuple[Floats, float, float]:
        """Return (people,) the probability to be missed in uniform components, links and error."""
        holds, asks = self.holds, self.asks
        keys = asks.place.astype(np.int64) * asks.count + asks.person
        wanted = holds.place.astype(np.int64) * holds.count + holds.person
        rows = asks.rows[np.searchsorted(keys, wanted)]  # holders of a record match it
        inside = self.is_uniform[holds.place]
        n, a, b = self.sizes[holds.place][inside], rows[inside], holds.rows[inside]
        logs = np.bincount(holds.person[inside], log_missed(n, a, b), minlength=holds.count)
        error = 8 * ROUNDOFF * float(gammaln(n + 1.0).sum())
        return np.exp(logs), float((a * b / n).sum()), error

    def solve_single(self, missed: Floats, waiting: Bools, method: str) -> tuple[float, float]:
        """Solve components where everyone has one row; return right links and rounding error.

        missed: (people,) multiplied by the probabilities to be missed there.
        waiting: (kinds of people,) cleared for solved components.
        """
        # components in which someone has several rows are left to the walk
        graph, parts = self.graph, self.graph.parts[0]
        several = np.zeros(len(self.sizes), dtype=np.bool_)
        several[self.asks.place[self.asks.rows > 1]] = True
        chosen = waiting & ~several[parts]
        if not chosen.any():
            return 0.0, 0.0
        before, risks = chosen.copy(), np.zeros(len(graph.own))
        shown = graph.own[:, 1] < len(graph.copies) - graph.hidden
        links, error = solve_components(graph, risks, chosen, shown, method)
        done = before & ~chosen
        waiting &= ~done
        rows = self.asking(done)
        rows = rows[self.shown[rows]]
        missed[self.person.ids[rows]] *= 1 - risks[graph.pair[rows]]
        return links, error

    def guess(self, missed: Floats, waiting: Bools) -> float:
        """Estimate unsolved components as if rows were independent; return right links."""
        graph = self.graph
        rows = self.asking(waiting)
        edges = KindEdges(graph.indptr, graph.indices, len(graph.copies))
        unit = Unit(self.person.columns, self.person.ids[rows], self.person.count)
        counts = None if graph.counts is None else graph.counts[rows]
        records = np.where(self.shown[rows], graph.record[rows], -1).astype(np.int32)
        chances = edges.own_records(
            graph.person[rows], records, unit, counts, scaled_edges(graph, waiting)
        )
        each = np.ones(len(rows)) if counts is None else counts
        with np.errstate(divide="ignore"):
            logs = np.log1p(-chances.clip(0.0, 1.0)) * each
        missed *= np.exp(np.bincount(unit.ids, logs, minlength=unit.count))
        return math.fsum(chances * each)

    def walk(
        self, missed: Floats, waiting: Bools, options: tuple[float, int | None, int]
    ) -> PeopleSample:
        """Walk over the matchings of all unsolved components."""
        graph, (half_width, seed, threads) = self.graph, options
        indptr, indices, types, kinds = cut(graph, waiting)
        rows = self.asking(waiting)
        if graph.counts is not None:
            rows = np.repeat(rows, graph.counts[rows])
        row_type = types[graph.person[rows]]
        start = np.searchsorted(kinds, graph.record[rows])
        capacity = graph.copies[kinds]
        weights = balanced(indptr, indices, edge_weights(graph, waiting), row_type, capacity)
        owners = self._owners(missed, rows, start)
        return walk_people(
            indptr,
            indices,
            weights,
            row_type,
            capacity,
            start,
            owners,
            half_width=half_width,
            seed=seed,
            threads=threads,
        )

    def _owners(self, missed: Floats, rows: Counts, classes: Counts) -> Owners:
        """Return the owners of the rows and records in the walk."""
        ids = self.person.ids[rows]
        held: Codes = np.where(self.shown[rows], classes, -1).astype(np.int32)
        holds = Members.of(held, Unit(self.person.columns, ids, self.person.count))
        order = np.lexsort((holds.place, holds.person))
        return Owners(ids, missed, holds.place[order], holds.person[order], holds.rows[order])
