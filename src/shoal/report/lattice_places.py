"""The positions of the nodes of a lattice in its picture, with their costs and states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np

from shoal.anonymize import check_askable
from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.objectives import Costs, Objective
from shoal.anonymize.lattice.searching import Ground, check_share, minimal
from shoal.anonymize.lattice.views import most_suppressed
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.report.masking import LEAST, Mask
from shoal.support.options import check_choice

MAX_NODES = 3_000  # more would be illegible
MAX_LINE_NODES = 60
ROW_SHARE = 0.72  # of the distance between rows, for the lines of one row
State = Literal["not anonymous", "anonymous", "minimal"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Spot:
    """One node in the picture.

    row: about the sum of its levels; place: its position in the row, 0 in the middle.
    cost: by the objective; suppressed: records in classes that are too small, in words if the
        picture must not give their number.
    """

    node: Node
    row: float
    place: float
    cost: float
    suppressed: str
    state: State
    chosen: bool


@dataclass(frozen=True)
class Spots:
    """All nodes of a lattice; `exact` is false if their costs are lower bounds."""

    names: tuple[str, ...]
    nodes: tuple[Spot, ...]
    exact: bool

    def count(self, state: State) -> int:
        """Return how many nodes are in a state."""
        return sum(spot.state == state for spot in self.nodes)


def place_nodes(
    table: Table,
    model: Model,
    *,
    max_suppression: float = 0.05,
    objective: Objective = "loss",
    chosen: Mapping[str, int] | None = None,
    max_nodes: int = MAX_NODES,
) -> Spots:
    """Return every node with its position in the picture, its cost and its state."""
    check_share("max_suppression", max_suppression)
    check_choice("objective", objective, get_args(Objective))
    check_askable(table, model)
    lattice = Lattice.of(table)
    if lattice.nodes > max_nodes:
        raise InputError(
            f"the lattice has {lattice.nodes:,} nodes, and a picture shows at most {max_nodes:,}; "
            "use fewer quasi-identifiers or hierarchies with fewer levels"
        )
    picked = None if chosen is None else _node(lattice, chosen)
    limit = most_suppressed(lattice, max_suppression)
    ground = Ground(lattice, model, (0,) * len(lattice.shape), limit)
    costs = Costs(lattice, objective)
    known = costs.by_pass(ground.measures) if ground.by_size else None
    cube = costs.bound(ground.measures) if known is None else known
    flags = [ground.anonymous(node) for node in np.ndindex(*lattice.shape)]
    anonymous = np.array(flags, dtype=np.bool_).reshape(lattice.shape)
    least = set(minimal(anonymous))
    nodes = tuple(
        Spot(
            node,
            row,
            place,
            float(cube[node]),
            _in_words(int(ground.measures.suppressed[node]), table, model),
            "minimal" if node in least else STATES[int(anonymous[node])],
            node == picked,
        )
        for row, place, node in _places(lattice.shape)
    )
    return Spots(tuple(c.name for c in lattice.columns), nodes, known is not None)


def _in_words(suppressed: int, table: Table, model: Model) -> str:
    """Return the number of suppressed records, masked because a picture may be published."""
    if table.unit is not None:  # the records may belong to few people
        return "some" if suppressed else "0"
    count = Mask(max(model.least_size, LEAST)).count(suppressed, table.records)
    return count if isinstance(count, str) else f"{count:,}"


def _node(lattice: Lattice, chosen: Mapping[str, int]) -> Node:
    names = [c.name for c in lattice.columns]
    if set(chosen) != set(names):
        raise InputError(f"chosen must give a level for each of {', '.join(names)}")
    node = tuple(int(chosen[name]) for name in names)
    for name, level, top in zip(names, node, lattice.heights, strict=True):
        if not 0 <= level <= top:
            raise InputError(f"chosen: the level of {name} must be 0 to {top}, not {level}")
    return node


def _places(shape: Sequence[int]) -> Iterator[tuple[float, float, Node]]:
    """Yield the height, the position in the row and the node, coarse first attributes on the left.

    A row of many nodes is split into several lines.
    """
    rows: dict[int, list[Node]] = {}
    for node in product(*(range(levels) for levels in shape)):
        rows.setdefault(sum(node), []).append(node)
    for row, nodes in rows.items():
        lines = -(-len(nodes) // MAX_LINE_NODES)
        line_nodes = -(-len(nodes) // lines)
        for i, node in enumerate(sorted(nodes, reverse=True)):
            down = (i % lines - (lines - 1) / 2) * ROW_SHARE / lines
            yield row - down, i // lines - (line_nodes - 1) / 2, node
