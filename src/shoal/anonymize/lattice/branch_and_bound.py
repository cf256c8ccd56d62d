"""Branch and bound: the node with the least cost, without counting the classes of every node.

Boxes of the lattice are searched in the order of a lower bound on the cost of their nodes, until no
bound is below the best cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.anonymize.lattice.lattice import Node
from shoal.anonymize.lattice.model_counts import ModelCounts, can_judge
from shoal.anonymize.lattice.node_counts import NodeCounts
from shoal.anonymize.lattice.objectives import Costs
from shoal.anonymize.lattice.searching import Ground
from shoal.anonymize.lattice.views import view
from shoal.support.progress import report
from shoal.support.stopwatch import working_time

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

    def __init__(self, ground: Ground, costs: Costs) -> None:
        from shoal.anonymize.lattice._boxes import Losses

        self._ground, self._costs = ground, costs
        lattice, corner, least = ground.lattice, ground.corner, ground.model.least_size
        self._counts = NodeCounts(lattice, corner, least, ground.limit, costs.gains())
        self.additive, self.rows = self._counts.additive, self._counts.rows
        self.by_size = ground.by_size and self.additive
        span = tuple(top - least for top, least in zip(lattice.heights, corner, strict=True))
        by_level = np.zeros((len(span), max(span) + 1))
        for j, means in enumerate(costs.means):
            by_level[j, : span[j] + 1] = means[corner[j] :]
        records = max(lattice.table.records, 1)
        judged = not self.by_size and can_judge(lattice, ground.model)
        self._model = ModelCounts(lattice, corner, ground.model, costs.gains()) if judged else None
        self._losses = Losses(
            by_level, costs.weights, costs.geometric, records, self.by_size, judged
        )
        self._boxes = _first_box(span)

    def run(self, *, seconds: float | None = None, reads: int | None = None) -> None:
        """Search until the best node is proven, the time is over, or so many rows are read."""
        from shoal.anonymize.lattice._boxes import ASK, DONE, FULL, JUDGE, search_boxes

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
        from shoal.anonymize.lattice._boxes import offer

        found = view(self._ground.lattice, node, self._ground.model)
        if found.suppressed <= self._ground.limit:
            relative = np.subtract(node, self._ground.corner).astype(np.int16)
            cost = float(self._costs.scaled(self._costs.exact(node, found)))
            offer(self._boxes, relative, cost)

    def _judge(self) -> None:
        """Judge the `high` of the box that was taken last, and open it again unless it is lost."""
        from shoal.anonymize.lattice._boxes import settle, weigh

        assert self._model is not None
        boxes, losses, limit = self._boxes, self._losses, self._ground.limit
        found = self._model.judge(boxes.node)
        if found.least <= limit:
            cost = weigh(losses, boxes.node, found.lost) if found.suppressed <= limit else np.inf
            settle(losses, boxes, cost, found.least_lost / losses.records)

    def suppressed(self, node: Node) -> int:
        """Return the records in small classes of a node, or a number above the limit."""
        return self._counts.suppressed(np.subtract(node, self._ground.corner).astype(np.int16))

    def _absolute(self, node: Any) -> Node:
        corner = self._ground.corner
        return tuple(int(level) + least for level, least in zip(node, corner, strict=True))


def _first_box(span: tuple[int, ...]) -> Any:
    """Return a single open box with all nodes."""
    boxes = _room(_FIRST_BOXES, len(span))
    boxes.high[0] = span
    boxes.open[0], boxes.cost[0] = 1, np.inf
    return boxes


def _room(capacity: int, attributes: int) -> Any:
    from shoal.anonymize.lattice._boxes import Boxes

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
