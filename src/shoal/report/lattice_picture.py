"""A picture of a lattice: which nodes are anonymous, which are minimal, which one was chosen.

The raw table is at the bottom, everything hidden is at the top; each row holds the nodes with one
sum of levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.anonymize.lattice.objectives import Objective
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.report.charts import INK, PAPER, SOFT, check_picture, save_chart, styled
from shoal.report.lattice_places import MOST_ABREAST, ROW_SHARE, STATES, Spot, Spots, place_nodes
from shoal.report.masking import rounded

MOST_LINED = 300  # up to here neighbours are joined by lines
MOST_NAMED = 120  # up to here each node carries its levels
CHOSEN = "chosen"
# how a node is drawn: area, rim, width of the rim, shape, opacity
LOOKS: dict[str, tuple[float, str, float, str, float]] = {
    "not anonymous": (44, "#b4bec8", 1.2, "circle", 0.4),
    "anonymous": (230, PAPER, 1.5, "circle", 1.0),
    "minimal": (230, INK, 2.4, "circle", 1.0),
    CHOSEN: (430, "#d0743c", 3.4, "diamond", 1.0),
}


def draw_release(release: Release, path: str | Path, *, force: bool = False) -> None:
    """Save a picture of the lattice that a full-domain method searched, its node pointed out."""
    if release.node is None:
        raise InputError(
            f"method {release.run.method} searches no lattice; a picture goes with "
            "datafly, samarati, mingen, incognito, ola or flash"
        )
    if release.withheld:
        raise InputError(
            f"method {release.run.method} must not tell what its lattice looks like, which depends "
            "on records that are not released"
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
    """Save a picture of a table's lattice as PNG, SVG or HTML, by the name's ending.

    chosen: a node to point out, such as `release.node`.
    force: overwrite an existing file.
    """
    check_picture(Path(path), force=force)
    spots = place_nodes(
        table, model, max_suppression=max_suppression, objective=objective, chosen=chosen
    )
    told = f"{model}, at most {100 * max_suppression:g} % of the records left out"
    save_chart(_chart(spots, told, objective), Path(path), force=force)


def _lines(spots: Spots) -> list[dict[str, float]]:
    """Return a line between any two nodes that differ by one level of one attribute."""
    by_node = {spot.node: spot for spot in spots.nodes}
    found = []
    for low in spots.nodes:
        for j, level in enumerate(low.node):
            high = by_node.get((*low.node[:j], level + 1, *low.node[j + 1 :]))
            if high is not None:
                ends = {"place": low.place, "row": low.row, "place2": high.place, "row2": high.row}
                found.append(ends)
    return found


def _chart(spots: Spots, told: str, objective: Objective) -> Any:
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
    lines = -(-max(Counter(sum(spot.node) for spot in spots.nodes).values()) // MOST_ABREAST)
    room = min(width / (2 * widest + 1), height / (tall + 1) * ROW_SHARE / lines)
    layers = [_marks(base, spots, objective, min(room / 20, 1.0))]
    if len(rows) <= MOST_NAMED:
        halo = base.mark_text(dy=19, fontSize=10, stroke=PAPER, strokeWidth=4).encode(text="name:N")
        name = base.mark_text(dy=19, fontSize=10, color=SOFT).encode(text="name:N")
        layers = [halo, *layers, name]
    if len(rows) <= MOST_LINED:
        thin = alt.Chart(alt.Data(values=_lines(spots))).mark_rule(color="#dde3e8", strokeWidth=1)
        layers.insert(0, thin.encode(x=x, y=y, x2="place2:Q", y2="row2:Q"))
    title = alt.TitleParams(_title(spots), subtitle=_subtitle(spots, told, objective))
    return styled(alt.layer(*layers).properties(width=width, height=height, title=title))


def _marks(base: Any, spots: Spots, objective: Objective, grain: float) -> Any:
    """Draw the nodes: filled by cost, with a size, rim and shape for each state.

    grain: 1 where there is room, less where nodes stand close.
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
    told = f"cost ({objective})" if spots.exact else f"cost ({objective}), at least"
    colours = alt.Scale(range=["#e3f1f5", "#8cc7d6", "#2a7f9e", "#0b3c5d"], domain=[0, 1])
    return base.mark_point(filled=True, opacity=1).encode(
        fill=alt.Fill("cost:Q", title=told, scale=colours).legend(gradientLength=140, tickCount=3),
        order=alt.Order("rank:Q"),
        tooltip=[
            *(alt.Tooltip(f"level{j}:Q", title=name) for j, name in enumerate(spots.names)),
            alt.Tooltip("cost:Q", title=told, format=".3f"),
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


def _subtitle(spots: Spots, told: str, objective: Objective) -> list[str]:
    order = " · ".join(spots.names)
    colour = (
        f"Colour: what the node costs by {objective}, what is left out included."
        if spots.exact
        else f"Colour: what the levels alone cost by {objective}; what is left out comes on top."
    )
    return [
        told,
        f"Levels of {order}, from the table as it is (bottom) to all hidden (top).",
        colour,
    ]
