"""The pictures of the learning study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.report.charts import INK, SOFT
from studies.lattice.methods import METHODS
from studies.marks import (
    OUR_COLOUR,
    OURS,
    THEIR_COLOUR,
    THEIRS,
    whose_colour,
    whose_shape,
)
from studies.runs import Row

ORDER = list(METHODS)
SECONDS = (0.01, 0.1, 1, 10, 100, 1000, 10_000)


def _log(name: str, title: str, ticks: Sequence[float], axis: Any = None) -> Any:
    """Return a logarithmic axis with a few lines only."""
    import altair as alt

    scale, marks = alt.Scale(type="log"), alt.Axis(values=list(ticks))
    return (axis or alt.X)(f"{name}:Q", title=title, scale=scale, axis=marks)


def accuracies(rows: Sequence[Row]) -> Any:
    """Dots with intervals for each method, diamonds for published accuracies of the same table."""
    import altair as alt

    place = alt.Y("method:N", sort=ORDER, title=None)
    scale = alt.Scale(zero=False)
    base = alt.Chart()
    marks = [
        base.mark_rule(strokeWidth=2.5, color=OUR_COLOUR).encode(
            x=alt.X("low:Q", title="accuracy on test rows", scale=scale), x2="high:Q", y=place
        ),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x="accuracy:Q", y=place, color=whose_colour(), shape=whose_shape()
        ),
        base.transform_filter(f"datum.whose == '{OURS}'")
        .mark_text(dy=-10, color=SOFT)
        .encode(x="accuracy:Q", y=place, text=alt.Text("accuracy:Q", format=".3f")),
    ]
    return _panels(alt.layer(*marks, data=alt.Data(values=list(rows))), rows)


def seconds(rows: Sequence[Row]) -> Any:
    """Dots for the CPU seconds of each method."""
    import altair as alt

    dots = (
        alt.Chart()
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=_log("seconds", "CPU seconds", SECONDS),
            y=alt.Y("method:N", sort=ORDER, title=None),
            color=whose_colour(),
            shape=whose_shape(),
        )
    )
    return _panels(alt.layer(dots, data=alt.Data(values=list(rows))), rows)


def _panels(chart: Any, rows: Sequence[Row]) -> Any:
    """Give each table a panel, side by side."""
    import altair as alt

    wide = 300 if len({row["table"] for row in rows}) > 1 else 460
    return (
        chart.properties(width=wide, height=26 * len(ORDER))
        .facet(column=alt.Column("table:N", title=None))
        .resolve_scale(x="independent")
    )


def good_nodes(rows: Sequence[Row]) -> Any:
    """Lines for the probability of good nodes over the penalty, by ε′."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=2)
        .encode(
            x=_log("penalty", "penalty f of suppression", (0.1, 1, 10)),
            y=alt.Y("chance:Q", title="probability of a good node", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("epsilon:O", title="ε′", scale=alt.Scale(scheme="viridis")),
        )
        .properties(width=175, height=150)
        .facet(
            column=alt.Column("attributes:O", title="attributes"),
            row=alt.Row("score:N", title=None, sort=["published", "expected"]),
        )
    )


def best_nodes(rows: Sequence[Row]) -> Any:
    """Bars for the probability of the most likely node."""
    import altair as alt

    values = [{**row, "lattice": f"{row['table']}, {row['lattice']}"} for row in rows]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "chance:Q", title="probability of the most likely node", scale=alt.Scale(domain=[0, 1])
        ),
        y=alt.Y("lattice:N", title=None),
        yOffset=alt.YOffset("score:N", sort=["published", "kept", "expected"]),
    )
    bars = base.mark_bar().encode(
        color=alt.Color(
            "score:N",
            title="score",
            sort=["published", "kept", "expected"],
            scale=alt.Scale(range=[THEIR_COLOUR, "#f3b49f", OUR_COLOUR]),
        )
    )
    text = base.mark_text(align="left", dx=4, color=INK).encode(
        text=alt.Text("chance:Q", format=".3f")
    )
    return (bars + text).properties(width=460, height=alt.Step(22))


def lattice_times(rows: Sequence[Row]) -> Any:
    """Lines for seconds against nodes, by how they are counted."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=_log("nodes", "nodes of the lattice", (100, 1000, 10_000, 100_000)),
            y=_log("seconds", "CPU seconds", SECONDS, alt.Y),
            color=alt.Color(
                "how:N",
                title=None,
                scale=alt.Scale(scheme="tableau10"),
                legend=alt.Legend(labelLimit=300),
            ),
            strokeDash=alt.StrokeDash("whose:N", legend=None, sort=[OURS, THEIRS]),
        )
        .properties(width=460, height=250)
    )


def variations(rows: Sequence[Row]) -> Any:
    """Bars for the share of draws that guessed scores change."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_bar()
        .encode(
            x=alt.X(
                "variation:Q",
                title="total variation of the draw",
                scale=alt.Scale(domain=[0, 1]),
            ),
            y=alt.Y("way:N", title=None),
            yOffset=alt.YOffset("attributes:O"),
            color=alt.Color("attributes:O", title="attributes", scale=alt.Scale(scheme="viridis")),
        )
        .properties(width=300, height=alt.Step(14))
        .facet(
            column=alt.Column("score:N", title=None, sort=["published", "expected"]),
            row=alt.Row("table:N", title=None),
        )
    )


def shared_budget(rows: Sequence[Row]) -> Any:
    """Ticks for the accuracy from either release, one per run."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_tick(thickness=2, size=18)
        .encode(
            x=alt.X("accuracy:Q", title="accuracy on test rows", scale=alt.Scale(zero=False)),
            y=alt.Y("from:N", title=None),
            color=alt.Color("from:N", legend=None, scale=alt.Scale(scheme="tableau10")),
        )
        .properties(width=300, height=80)
        .facet(column=alt.Column("table:N", title=None))
        .resolve_scale(x="independent")
    )
