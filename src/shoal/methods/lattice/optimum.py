"""The node with the least cost: by branch and bound, or by a sweep of the lattice.

    BoxSearch      takes boxes of nodes in the order of a lower bound on their cost, until no bound
                   is below the best cost; the cost must rise with the levels, and sizes add up
    ModelCounts    what a model says of single nodes, for a search that sizes do not decide
    sweep          measures every node, and evaluates nodes in the order of a lower bound until none
                   can be better

Both choose the first node, in the order of levels, among those of equal cost.

Why a model bounds finer nodes: let C be a class of a node. At a finer node C is divided, and the
parts that meet the model are kept. If merged classes keep meeting the model, so does the union K of
the kept parts. So a finer node suppresses at least as many records of C as must leave C before the
rest meets the model, which `Model.fewest_removed` bounds from below. The number of records in
classes that break the model is itself no such bound: a class beyond t can contain many records
whose classes were within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from shoal.errors import Infeasible
from shoal.methods.lattice.entries import Ladder, entries_of
from shoal.methods.lattice.lattice import Lattice, Node, View, view
from shoal.methods.lattice.node_counts import (
    NodeCounts,
    levels_of,
    number_by_lead,
    store_of,
    sweep_reads,
)
from shoal.methods.lattice.objectives import Costs
from shoal.methods.lattice.problem import Problem, measurable
from shoal.privacy.model import Model
from shoal.release.provenance import Candidate
from shoal.support.arrays import Counts, Floats
from shoal.support.progress import report, working_time
from shoal.table.classes import Classes
from shoal.table.people import group_keys
from shoal.table.table import Table

TIE = 1e-12  # costs that differ by no more are equal
_ROUNDING = 1e-13  # of a cost
_ALWAYS_READ = 10_000_000  # rows that branch and bound may read on any lattice
_READ_COST = 3  # rows of a sweep that take as long as one row of branch and bound
_TIED_SHARE = 0.1  # of all nodes; if more could be tied, the sweep is cheaper


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best node of a lattice.

    candidate: the node with its cost and its suppressed records; view: the node under the model.
    evaluated: number of evaluated nodes.
    bound: lower bound of the cost of any node; equal to the cost if the node is proven optimal.
    """

    candidate: Candidate
    view: View
    evaluated: int
    bound: float

    @property
    def node(self) -> Node:
        """The levels of the node."""
        return tuple(self.candidate.node.values())

    @property
    def proven(self) -> bool:
        """Whether no node costs less."""
        return self.bound >= self.candidate.loss - TIE


def find_optimum(problem: Problem, costs: Costs, seconds: float) -> Optimum:
    """Return the anonymous node with the least cost.

    seconds: time for a lattice that cannot be measured completely; the bound is then below the
        cost of the node if the time is over.
    """
    large = not measurable(problem.lattice)
    if costs.rises:
        search = BoxSearch(problem, costs)
        if large:
            if not search.by_size:
                search.ask(problem.lattice.heights)  # to have a node if the time is over
            search.run(seconds=seconds)
            if search.best is None and not search.complete:
                raise Infeasible(
                    f"no node that meets {problem.model} was found in {seconds:g} s; allow more "
                    "time or suppression, or use fewer quasi-identifiers"
                )
            node, evaluated, bound = search.best, search.evaluated, search.bound
            del search  # its tables
            return _optimum(problem, costs, node, evaluated, bound)
        # otherwise sizes are upper bounds, and the sweep, which counts people exactly, is better
        if search.additive:
            search.run(reads=_reads_allowed(problem, search.rows) if search.by_size else None)
            if search.complete:
                node, evaluated = search.best, search.evaluated
                del search
                return _optimum(problem, costs, node, evaluated)
        del search
    node, evaluated = sweep(problem, costs)
    return _optimum(problem, costs, node, evaluated)


def find_tied(problem: Problem, costs: Costs) -> tuple[list[Candidate], int] | None:
    """Return all nodes with the least cost, in the order of levels, and the evaluated count.

    Returns None if the sweep is cheaper or has to be used: the levels and the number of suppressed
    records must determine the cost, and class sizes whether a node is anonymous.
    """
    if not (problem.by_size and costs.by_level):
        return None
    search = BoxSearch(problem, costs)
    if not search.by_size:
        return None
    search.run(reads=_reads_allowed(problem, search.rows))
    if not search.complete:
        return None
    if search.best is None:
        return [], search.evaluated
    least = costs.at(search.best, search.suppressed(search.best))
    # the levels alone leave few nodes that can cost as much; each is counted
    nodes = costs.between(least, problem.limit, problem.corner)
    if len(nodes) > _TIED_SHARE * problem.lattice.nodes:
        return None
    tied = []
    for node in nodes:
        suppressed = search.suppressed(node)
        cost = costs.at(node, suppressed)
        if suppressed <= problem.limit and cost <= least + TIE:
            tied.append(Candidate(problem.lattice.named(node), cost, suppressed))
    return tied, search.evaluated + len(nodes)


def _reads_allowed(problem: Problem, rows: int) -> int:
    """Return the number of rows after which the sweep takes over."""
    lattice = problem.lattice
    levels = (size - least for size, least in zip(lattice.shape, problem.corner, strict=True))
    return max(_ALWAYS_READ, sweep_reads(rows, prod(levels)) // _READ_COST)


def _optimum(
    problem: Problem, costs: Costs, node: Node | None, evaluated: int, bound: float | None = None
) -> Optimum:
    if node is None:
        raise problem.infeasible()
    best = view(problem.lattice, node, problem.model)
    cost = costs.exact(node, best)
    candidate = Candidate(problem.lattice.named(node), cost, best.suppressed)
    return Optimum(candidate, best, evaluated, cost if bound is None else bound)


def sweep(problem: Problem, costs: Costs) -> tuple[Node | None, int]:
    """Return the best node by measuring all of them, and the number of evaluated nodes.

    Nodes are evaluated by increasing lower bound until no bound is below the best exact cost, so
    the result is optimal even if costs or models are not monotone.
    """
    lattice = problem.lattice
    exact = costs.by_pass(problem.measures) if problem.by_size else None
    bounds = (costs.bound(problem.measures) if exact is None else exact).ravel()
    flat = np.flatnonzero(problem.possible)
    order = flat[np.argsort(bounds[flat].round(12), kind="stable")]
    best, least, seen = -1, np.inf, 0
    for index in order.tolist():
        if bounds[index] > least + TIE:
            break
        # it costs at least as much and comes later
        if bounds[index] >= least - _ROUNDING and index > best:
            continue
        node = tuple(int(i) for i in np.unravel_index(index, lattice.shape))
        node_view = view(lattice, node, problem.model)
        seen += 1
        if seen % 64 == 0:
            report("search", seen, None)
        if node_view.suppressed > problem.limit:
            continue
        value = costs.exact(node, node_view)
        if value < least - TIE or (value <= least + TIE and index < best):
            best, least = index, min(value, least)
    if best < 0:
        return None, seen
    return tuple(int(i) for i in np.unravel_index(best, lattice.shape)), seen


_READS = 20_000_000  # rows between two looks at the clock
_FIRST_BOXES = 1 << 10
_MAX_BOXES = 1 << 22


class BoxSearch:
    """A search for the node with the least cost, the first one among equals.

    additive: whether no person is in several tuples; otherwise counted sizes are upper bounds.
    by_size: whether sizes determine the cost; otherwise the model judges each counted node, or is
        asked about single nodes.
    rows: number of distinct tuples at the corner.
    """

    def __init__(self, problem: Problem, costs: Costs) -> None:
        from shoal.methods.lattice._boxes import Losses

        self._problem, self._costs = problem, costs
        lattice, corner, least = problem.lattice, problem.corner, problem.model.least_size
        self._counts = NodeCounts(lattice, corner, least, problem.limit, costs.gains())
        self.additive, self.rows = self._counts.additive, self._counts.rows
        self.by_size = problem.by_size and self.additive
        span = tuple(top - least for top, least in zip(lattice.heights, corner, strict=True))
        by_level = np.zeros((len(span), max(span) + 1))
        for j, means in enumerate(costs.means):
            by_level[j, : span[j] + 1] = means[corner[j] :]
        records = max(lattice.table.records, 1)
        judged = not self.by_size and can_judge(lattice, problem.model)
        self._model = ModelCounts(lattice, corner, problem.model, costs.gains()) if judged else None
        self._losses = Losses(
            by_level, costs.weights, costs.geometric, records, self.by_size, judged
        )
        self._boxes = _first_box(span)

    def run(self, *, seconds: float | None = None, reads: int | None = None) -> None:
        """Search until the best node is proven, the time is over, or so many rows are read."""
        from shoal.methods.lattice._boxes import ASK, DONE, FULL, JUDGE, search_boxes

        end = None if seconds is None else working_time() + seconds
        counts = self._counts
        while True:
            boxes = self._boxes
            state = search_boxes(
                counts.levels, counts.store, counts.demand, self._losses, boxes, _READS
            )
            if state == DONE:
                return
            if state == ASK:
                self.ask(self._absolute(boxes.node))
            elif state == JUDGE:
                self._judge()
            elif state == FULL:
                if len(boxes.heap) >= _MAX_BOXES:
                    return
                self._boxes = _grown(boxes)
            if counts.store.refused[0]:
                counts.make_room()
            if self._model is not None:
                self._model.make_room()
            report("search", self.evaluated, None)
            if end is not None and working_time() > end:
                return
            if reads is not None and counts.reads > reads:
                return

    @property
    def best(self) -> Node | None:
        """The best node so far, if there is one."""
        return self._absolute(self._boxes.best) if np.isfinite(self._boxes.cost[0]) else None

    @property
    def complete(self) -> bool:
        """Whether the best node is proven to be optimal, or no node is feasible."""
        return not self._boxes.open[0]

    @property
    def evaluated(self) -> int:
        """Number of nodes whose classes were counted."""
        return int(self._boxes.counts[0])

    @property
    def bound(self) -> float | None:
        """Lower bound of the cost of every feasible node; None if the best node is optimal."""
        boxes = self._boxes
        if self.complete:
            return None
        return float(self._costs.unscaled(min(boxes.bound[boxes.heap[0]], boxes.cost[0])))

    def ask(self, node: Node) -> None:
        """Make a node the best one if it meets the model and costs less."""
        from shoal.methods.lattice._boxes import offer

        node_view = view(self._problem.lattice, node, self._problem.model)
        if node_view.suppressed <= self._problem.limit:
            relative = np.subtract(node, self._problem.corner).astype(np.int16)
            cost = float(self._costs.scaled(self._costs.exact(node, node_view)))
            offer(self._boxes, relative, cost)

    def _judge(self) -> None:
        """Judge the `high` of the box that was taken last, and open it again unless it is lost."""
        from shoal.methods.lattice._boxes import settle, weigh

        assert self._model is not None
        boxes, losses, limit = self._boxes, self._losses, self._problem.limit
        judged = self._model.judge(boxes.node)
        if judged.least <= limit:
            cost = weigh(losses, boxes.node, judged.lost) if judged.suppressed <= limit else np.inf
            settle(losses, boxes, cost, judged.least_lost / losses.records)

    def suppressed(self, node: Node) -> int:
        """Return the records in small classes of a node, or a number above the limit."""
        return self._counts.suppressed(np.subtract(node, self._problem.corner).astype(np.int16))

    def _absolute(self, node: Any) -> Node:
        corner = self._problem.corner
        return tuple(int(level) + least for level, least in zip(node, corner, strict=True))


def _first_box(span: tuple[int, ...]) -> Any:
    """Return a single open box with all nodes."""
    boxes = _room(_FIRST_BOXES, len(span))
    boxes.high[0] = span
    boxes.open[0], boxes.cost[0] = 1, np.inf
    return boxes


def _room(capacity: int, attributes: int) -> Any:
    from shoal.methods.lattice._boxes import Boxes

    return Boxes(
        np.zeros((capacity, attributes), np.int16),
        np.zeros((capacity, attributes), np.int16),
        np.zeros(capacity),
        np.zeros((capacity, attributes)),
        np.zeros(capacity, np.bool_),
        np.arange(capacity),
        np.zeros(1, np.int64),
        np.zeros(attributes, np.int16),
        np.zeros(1),
        np.zeros(1, np.int64),
        np.zeros(attributes, np.int16),
        np.zeros(attributes),
    )


def _grown(boxes: Any) -> Any:
    """Return the boxes with twice the room."""
    capacity, attributes = boxes.low.shape
    larger = _room(2 * capacity, attributes)
    for old, new in zip(boxes, larger, strict=True):
        new[: len(old)] = old
    return larger


@dataclass(frozen=True, eq=False)
class Judged:
    """One node under a model.

    suppressed: records in classes that break the model; lost: (attributes,) what their suppression
        adds to the loss of each attribute, summed over records.
    least: lower bound of the records that a node below suppresses; least_lost: (attributes,) the
        same of what this adds.
    """

    suppressed: int
    lost: Floats
    least: int
    least_lost: Floats


class ModelCounts:
    """The classes of single nodes with their values of the model's columns.

    A class is counted as its combinations with these values: the columns are further attributes of
    the tables, with a single level.

    Parameters:
        gains: For each attribute and level, (values,) what suppression adds to the loss of a
            record.
    """

    def __init__(
        self, lattice: Lattice, corner: Node, model: Model, gains: list[list[Floats]]
    ) -> None:
        from shoal.methods.lattice._class_moves import Demand

        self._model, self._origin = model, lattice.origin
        tuples = lattice.tuples(*model.columns).table
        self._columns = [tuples[name] for name in model.columns]
        with_values = Lattice(lattice.table, lattice.columns, lattice.origin, model.columns)
        entries, lead, counts = number_by_lead(entries_of(with_values, corner))
        records = entries.records
        entries = replace(
            entries,
            ladders=(
                *entries.ladders,
                *(Ladder(np.arange(c.domain), ()) for c in self._columns),
            ),
            codes=(*entries.codes, *(c.codes.astype(np.int64) for c in self._columns)),
        )
        values = [
            [np.bincount(c.codes, records, c.domain).astype(np.float64)] for c in self._columns
        ]
        nothing = [[np.zeros(c.domain)] for c in self._columns]
        self._attributes, extended = len(corner), (*corner, *(0 for _ in self._columns))
        self._levels = levels_of(entries, lead, [*counts, *values], extended, [*gains, *nothing])
        self._store = store_of(entries, self._levels)
        every = int(records.sum())
        self._demand = Demand(0, every, 0, every)

    def judge(self, node: Any) -> Judged:
        """Return what the model says of a node, relative to the corner."""
        from shoal.methods.lattice._class_counts import add_source, count_node, find_source

        levels, store, demand = self._levels, self._store, self._demand
        extended = np.zeros(len(levels.domain), np.int16)
        extended[: self._attributes] = node
        source, nothing = find_source(store, extended), np.zeros(0)
        most = len(store.to_counts)
        rows, _, words, _ = count_node(levels, store, demand, source, extended, nothing, most)
        judged = self._judge(extended, rows, words)
        below = np.zeros_like(extended)
        add_source(levels, store, demand, source, extended, rows, below, nothing)
        return judged

    def _judge(self, node: Any, rows: int, words: int) -> Judged:
        """Judge the node that was counted last."""
        levels, store, d = self._levels, self._store, self._attributes
        keys = store.to_keys[: rows * words].reshape(rows, words)
        word, shift, mask = store.fields[3], store.fields[4], store.fields[5]
        codes = [(keys[:, word[j]] >> shift[j]) & mask[j] for j in range(len(node))]
        hidden = keys.copy()
        for j in range(d, len(node)):
            hidden[:, word[j]] &= ~(mask[j] << shift[j])
        # classes are the rows that are equal without the fields of the model's columns
        alike = group_keys(hidden[:, 0])
        for at in range(1, words):
            alike = group_keys(alike.ids * (np.int64(1) << 32) + group_keys(hidden[:, at]).ids)
        counts = store.to_counts[:rows]
        sizes = alike.sizes(counts)
        removed = np.where(sizes < self._model.least_size, sizes, 0)
        out = removed.copy()
        large = np.flatnonzero(removed == 0)  # classes that the model is asked about
        if len(large):
            number = np.full(len(sizes), -1, dtype=np.int32)
            number[large] = np.arange(len(large), dtype=np.int32)
            ids = number[alike.ids]
            asked = np.flatnonzero(ids >= 0)
            columns = tuple(
                replace(column, codes=found[asked].astype(np.int32))
                for column, found in zip(self._columns, codes[d:], strict=True)
            )
            classes = Classes.of(Table(columns, counts[asked]), ids[asked], origin=self._origin)
            removed[large] = self._model.fewest_removed(classes)
            out[large] = np.where(removed[large] > 0, sizes[large], 0)
        gains = [
            levels.gains[levels.gain_first[j, node[j]] + codes[j][alike.first]] for j in range(d)
        ]
        return Judged(
            int(out.sum()),
            np.array([_paid(out, gain) for gain in gains]),
            int(removed.sum()),
            np.array([_paid(removed, gain) for gain in gains]),
        )

    def make_room(self) -> None:
        """Forget all tables but the first, if a table found no room."""
        if self._store.refused[0]:
            self._store.tables[0], self._store.refused[0], self._store.by_rows[0] = 1, 0, 0


def _paid(records: Counts, gain: Floats) -> float:
    return float((records * gain).sum())


def can_judge(lattice: Lattice, model: Model) -> bool:
    """Return whether a model can be judged from the classes of single nodes.

    Every record must be a different person, and every part of the model must be a condition on the
    sizes and the values of single classes that merged classes keep.
    """
    return (
        lattice.table.unit is None
        and lattice.origin is lattice.table
        and bool(model.columns)
        and all(
            part.monotone
            and part.by_class
            and not (part.by_release or part.over_rows or part.needs_population)
            for part in model.parts
        )
    )
