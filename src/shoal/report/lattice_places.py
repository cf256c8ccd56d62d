"""The positions of the nodes of a lattice in its picture, with their costs and states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from shoal.support.arrays import Codes, Counts, Floats
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


@dataclass(frozen=True, eq=False)
class Spots:
    """All nodes of a lattice, as arrays with one entry per node.

    names: the attributes; levels: (nodes, attributes).
    rows, places, costs: as in `Spot`; states: positions in `STATES`.
    suppressed: positions in `words`, which has each number of records once.
    chosen: the position of the highlighted node, None if there is none.
    exact: false if the costs are lower bounds.
    """

    names: tuple[str, ...]
    levels: Codes
    rows: Floats
    places: Floats
    costs: Floats
    states: Codes
    suppressed: Codes
    words: tuple[str, ...]
    chosen: int | None
    exact: bool

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, index: int) -> Spot:
        return Spot(
            tuple(self.levels[index].tolist()),
            float(self.rows[index]),
            float(self.places[index]),
            float(self.costs[index]),
            self.words[self.suppressed[index]],
            STATES[self.states[index]],
            index == self.chosen,
        )

    @cached_property
    def nodes(self) -> tuple[Spot, ...]:
        """The nodes one by one."""
        return tuple(self[index] for index in range(len(self)))

    def count(self, state: State) -> int:
        """Return how many nodes are in a state."""
        return int((self.states == STATES.index(state)).sum())


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
    states = _states(ground)
    order, rows, places = _places(lattice.shape)
    counts, suppressed = np.unique(ground.measures.suppressed, return_inverse=True)
    flat = -1 if picked is None else np.ravel_multi_index(picked, lattice.shape)
    chosen_at = np.flatnonzero(order == flat).tolist()
    return Spots(
        tuple(c.name for c in lattice.columns),
        np.stack(np.unravel_index(order, lattice.shape), axis=1).astype(np.int32),
        rows,
        places,
        cube.ravel()[order].astype(np.float64),
        states.ravel()[order],
        suppressed.ravel()[order].astype(np.int32),
        tuple(_in_words(int(count), table, model) for count in counts),
        chosen_at[0] if chosen_at else None,
        known is not None,
    )


def _states(ground: Ground) -> Codes:
    """Return the state of every node as its position in `STATES`."""
    anonymous = ground.possible.copy()
    if not ground.by_size:
        for node in np.argwhere(anonymous):
            anonymous[tuple(node)] = ground.anonymous(tuple(node.tolist()))
    states = anonymous.astype(np.int32)
    for least in minimal(anonymous):
        states[least] = STATES.index("minimal")
    return states


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


def _places(shape: Sequence[int]) -> tuple[Counts, Floats, Floats]:
    """Return the nodes by their positions in the cube, and their heights and positions in a row.

    Coarse first attributes are on the left. A row of many nodes is split into several lines.
    """
    sums = np.indices(shape).sum(axis=0).ravel()
    order = np.lexsort((-np.arange(len(sums)), sums))
    row = sums[order]
    sizes = np.bincount(row)
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    lines = -(-sizes // MAX_LINE_NODES)
    line_nodes = -(-sizes // lines)
    index = np.arange(len(row)) - begins[row]  # in its row
    lines, line_nodes = lines[row], line_nodes[row]
    down = (index % lines - (lines - 1) / 2) * ROW_SHARE / lines
    return order, row - down, index // lines - (line_nodes - 1) / 2
