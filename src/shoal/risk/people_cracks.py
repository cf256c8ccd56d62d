"""Expected number of people found in a consistency graph if people have several rows.

Rows are matched with records; a person is found if one of their rows is matched with any of their
records. In a uniform component with n rows and n records, of which a rows and b records are theirs,
a person is missed with probability C(n − b, a) / C(n, a). Components are independent of each other.
If everyone in a component has one row, it is solved like a graph of single records. Other
components are sampled, with an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from shoal.core.members import KindEdges, Members
from shoal.core.people import Unit
from shoal.risk.cracks import (
    count_waiting,
    cut,
    edge_weights,
    scaled_edges,
    solve_components,
    uniform_components,
)
from shoal.risk.graphs import Graph
from shoal.risk.matchings.people_walk import Owners, PeopleSample, log_missed, walk_people
from shoal.risk.matchings.worm import balanced
from shoal.support.arrays import Bools, Codes, Counts, Floats

_UNIT = 2.0**-53


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
        error = 8 * _UNIT * float(gammaln(n + 1.0).sum())
        return np.exp(logs), float((a * b / n).sum()), error

    def solve_single(self, missed: Floats, waiting: Bools, method: str) -> tuple[float, float]:
        """Solve components where everyone has one row; return right links and rounding error.

        missed: (people,) multiplied by the probabilities to be missed there.
        waiting: (kinds of people,) cleared for solved components.
        """
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
