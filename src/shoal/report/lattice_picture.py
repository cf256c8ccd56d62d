"""A picture of a lattice: which nodes are anonymous, which are minimal, which one was chosen.

The original table is at the bottom and the fully generalized one at the top; each row contains the
nodes with the same sum of levels. `place_nodes` computes positions, costs and states, which the web
app draws too; `draw_lattice` makes a chart of them.

    row 2      (2,0) (1,1) (0,2)
    row 1         (1,0) (0,1)          coarse first attributes on the left
    row 0            (0,0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from shoal.errors import InputError
from shoal.methods import check_askable
from shoal.methods.lattice.lattice import Lattice, Node, most_suppressed
from shoal.methods.lattice.objectives import Costs, Objective
from shoal.methods.lattice.problem import Problem, check_share, minimal
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.report.charts import INK, PAPER, SOFT, check_picture, save_chart, styled
from shoal.report.masking import LEAST, Mask, rounded
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_choice
from shoal.table.table import Table

MAX_LINKED_NODES = 300  # neighbours are joined by lines up to this many nodes
MAX_NAMED_NODES = 120  # nodes are labelled with their levels up to this many nodes
CHOSEN = "chosen"
# how a node is drawn: area, rim, width of the rim, shape, opacity
LOOKS: dict[str, tuple[float, str, float, str, float]] = {
    "not anonymous": (44, "#b4bec8", 1.2, "circle", 0.4),
    "anonymous": (230, PAPER, 1.5, "circle", 1.0),
    "minimal": (230, INK, 2.4, "circle", 1.0),
    CHOSEN: (430, "#d0743c", 3.4, "diamond", 1.0),
}


def draw_release(release: Release, path: str | Path, *, force: bool = False) -> None:
    """Save a picture of the lattice that a full-domain method searched, its node highlighted.

    Parameters:
        release: A release of a full-domain method.
        path: The file to write: .png, .svg or .html.
        force: Overwrite an existing file.

    Raises:
        InputError: The method searched no lattice, or its lattice depends on records that are not
            released.
        OutputError: The file cannot be written, or its ending is another.
        MissingExtra: The extra `pictures` is not installed.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import shoal
    >>> release = shoal.anonymize(shoal.datasets.load("health-record"), k=2, method="datafly")
    >>> with TemporaryDirectory() as folder:
    ...     draw_release(release, Path(folder, "lattice.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['lattice.html']
    """
    if release.node is None:
        raise InputError(
            f"method {release.run.method} searches no lattice; a picture of it is available for "
            "datafly, samarati, mingen, incognito, ola and flash"
        )
    if release.withheld:
        raise InputError(
            f"method {release.run.method} cannot draw its lattice, which depends on records that "
            "are not released"
        )
    options = release.run.options
    draw_lattice(
        release.original,
        release.model,  # type: ignore[arg-type]
        path,
        max_suppression=options.get("max_suppression") or 0.0,
        objective=options.get("objective", "precision"),
        chosen=release.node,
        force=force,
    )


def draw_lattice(
    table: Table,
    model: Model,
    path: str | Path,
    *,
    max_suppression: float = 0.05,
    objective: Objective = "loss",
    chosen: Mapping[str, int] | None = None,
    force: bool = False,
) -> None:
    """Save a picture of a table's lattice of generalization levels.

    Parameters:
        table: The table; its quasi-identifiers need hierarchies.
        model: The privacy model that a node must meet to be anonymous.
        path: The file to write: .png, .svg or .html.
        max_suppression: Share of the records that may be suppressed.
        objective: The cost of a node.
        chosen: A node to highlight, such as `release.node`.
        force: Overwrite an existing file.

    Raises:
        InputError: A quasi-identifier has no hierarchy, or an option is wrong.
        OutputError: The file cannot be written, or its ending is another.
        MissingExtra: The extra `pictures` is not installed.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> with TemporaryDirectory() as folder:
    ...     draw_lattice(table, shoal.KAnonymity(2), Path(folder, "lattice.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['lattice.html']
    """
    check_picture(Path(path), force=force)
    spots = place_nodes(
        table, model, max_suppression=max_suppression, objective=objective, chosen=chosen
    )
    setting = f"{model}, at most {100 * max_suppression:g} % of the records suppressed"
    save_chart(_chart(spots, setting, objective), Path(path), force=force)


def _lines(spots: Spots) -> list[dict[str, float]]:
    """Return a line between any two nodes that differ by one level of one attribute."""
    by_node = {spot.node: spot for spot in spots.nodes}
    lines = []
    for low in spots.nodes:
        for j, level in enumerate(low.node):
            high = by_node.get((*low.node[:j], level + 1, *low.node[j + 1 :]))
            if high is not None:
                ends = {"place": low.place, "row": low.row, "place2": high.place, "row2": high.row}
                lines.append(ends)
    return lines


def _chart(spots: Spots, setting: str, objective: Objective) -> Any:
    import altair as alt

    rows = [_row(spots, spot) for spot in spots.nodes]
    widest = max(abs(spot.place) for spot in spots.nodes)
    tall = max(sum(spot.node) for spot in spots.nodes)
    x = alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-widest - 0.6, widest + 0.6]))
    y = alt.Y("row:Q", title="sum of levels").scale(domain=[-0.5, tall + 0.5], nice=False)
    y = y.axis(values=list(range(tall + 1)), format="d", grid=False, domain=False, ticks=False)
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)
    width = float(np.clip((2 * widest + 1) * 62, 320, 900))
    height = float(np.clip((tall + 1) * 58, 220, 960))
    # nodes shrink where neighbours would touch: room is the distance between them
    lines = -(-max(Counter(sum(spot.node) for spot in spots.nodes).values()) // MAX_LINE_NODES)
    room = min(width / (2 * widest + 1), height / (tall + 1) * ROW_SHARE / lines)
    layers = [_marks(base, spots, objective, min(room / 20, 1.0))]
    if len(rows) <= MAX_NAMED_NODES:
        halo = base.mark_text(dy=19, fontSize=10, stroke=PAPER, strokeWidth=4).encode(text="name:N")
        name = base.mark_text(dy=19, fontSize=10, color=SOFT).encode(text="name:N")
        layers = [halo, *layers, name]
    if len(rows) <= MAX_LINKED_NODES:
        thin = alt.Chart(alt.Data(values=_lines(spots))).mark_rule(color="#dde3e8", strokeWidth=1)
        layers.insert(0, thin.encode(x=x, y=y, x2="place2:Q", y2="row2:Q"))
    title = alt.TitleParams(_title(spots), subtitle=_subtitle(spots, setting, objective))
    return styled(alt.layer(*layers).properties(width=width, height=height, title=title))


def _marks(base: Any, spots: Spots, objective: Objective, grain: float) -> Any:
    """Draw the nodes: filled by cost, with a size, rim and shape for each state.

    grain: relative size of the nodes, 1 if there is room and less if they are close together.
    """
    import altair as alt

    shown = list(LOOKS) if any(spot.chosen for spot in spots.nodes) else list(STATES)
    areas, rims, widths, shapes, fills = (list(look) for look in zip(*LOOKS.values(), strict=True))
    key = alt.Legend(title="node", symbolFillColor="#8cc7d6", rowPadding=6)

    def by_look(values: list[Any]) -> Any:
        return alt.Scale(type="ordinal", domain=shown, range=values[: len(shown)])

    looks = {
        "size": alt.Size("look:N", legend=key, scale=by_look([grain**2 * a for a in areas])),
        "stroke": alt.Stroke("look:N", legend=key, scale=by_look(rims)),
        "strokeWidth": alt.StrokeWidth(
            "look:N", legend=key, scale=by_look([grain * w for w in widths])
        ),
        "shape": alt.Shape("look:N", legend=key, scale=by_look(shapes)),
        "fillOpacity": alt.FillOpacity("look:N", legend=None, scale=by_look(fills)),
    }
    title = f"cost ({objective})" if spots.exact else f"cost ({objective}), lower bound"
    colours = alt.Scale(range=["#e3f1f5", "#8cc7d6", "#2a7f9e", "#0b3c5d"], domain=[0, 1])
    return base.mark_point(filled=True, opacity=1).encode(
        fill=alt.Fill("cost:Q", title=title, scale=colours).legend(gradientLength=140, tickCount=3),
        order=alt.Order("rank:Q"),
        tooltip=[
            *(alt.Tooltip(f"level{j}:Q", title=name) for j, name in enumerate(spots.names)),
            alt.Tooltip("cost:Q", title=title, format=".3f"),
            alt.Tooltip("suppressed:N", title="records in small classes"),
            alt.Tooltip("look:N", title="node"),
        ],
        **looks,
    )


def _row(spots: Spots, spot: Spot) -> dict[str, Any]:
    return {
        "place": spot.place,
        "row": spot.row,
        "cost": rounded(spot.cost),
        "suppressed": spot.suppressed,
        "look": CHOSEN if spot.chosen else spot.state,
        "rank": len(STATES) if spot.chosen else STATES.index(spot.state),
        "name": "·".join(map(str, spot.node)),
        **{f"level{j}": level for j, level in enumerate(spot.node)},
    }


def _title(spots: Spots) -> str:
    kept = len(spots.nodes) - spots.count("not anonymous")
    return f"{len(spots.nodes):,} nodes, {kept:,} anonymous, {spots.count('minimal'):,} minimal"


def _subtitle(spots: Spots, setting: str, objective: Objective) -> list[str]:
    order = " · ".join(spots.names)
    colour = (
        f"Colour: the cost of the node ({objective}), including suppressed records."
        if spots.exact
        else f"Colour: the cost of the levels alone ({objective}), without suppressed records."
    )
    return [
        setting,
        f"Levels of {order}, from the original table (bottom) to all hidden (top).",
        colour,
    ]


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
    problem = Problem(lattice, model, (0,) * len(lattice.shape), limit)
    costs = Costs(lattice, objective)
    known = costs.by_pass(problem.measures) if problem.by_size else None
    # cube: the cost of every node, indexed by its levels
    cube = costs.bound(problem.measures) if known is None else known
    states = _states(problem)
    order, rows, places = _places(lattice.shape)
    counts, suppressed = np.unique(problem.measures.suppressed, return_inverse=True)
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


def _states(problem: Problem) -> Codes:
    """Return the state of every node as its position in `STATES`."""
    anonymous = problem.possible.copy()
    if not problem.by_size:
        for node in np.argwhere(anonymous):
            anonymous[tuple(node)] = problem.anonymous(tuple(node.tolist()))
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
    # begins: (rows,) the position in `order` of the first node of each row
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    # lines, line_nodes: (rows,) lines of a row, and nodes in each, both rounded up
    lines = -(-sizes // MAX_LINE_NODES)
    line_nodes = -(-sizes // lines)
    index = np.arange(len(row)) - begins[row]  # in its row
    lines, line_nodes = lines[row], line_nodes[row]
    down = (index % lines - (lines - 1) / 2) * ROW_SHARE / lines
    return order, row - down, index // lines - (line_nodes - 1) / 2
