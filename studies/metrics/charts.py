"""The pictures of the metrics study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.report.charts import INK, SOFT
from studies.marks import OUR_COLOUR, OURS, THEIRS, whose_colour, whose_shape
from studies.metrics.releases import ALGORITHMS, TABLES, UTILITIES
from studies.runs import Row, groups

_POINTS = 20  # releases drawn of each table and algorithm; lines are of all
_BINS = 20
Panels = tuple[str, Sequence[str]]  # a field, and its values in order


def scatter(
    rows: Sequence[Row], fitted: Sequence[Row], metrics: Sequence[str], *, by_algorithm: bool
) -> Any:
    """Points of utility over metrics with lines of best fit, a row of panels for each metric."""
    import altair as alt

    data = [
        {
            "kind": "point",
            **{name: row[name] for name in ("table", "algorithm", "utility", "metric")},
            "x": row["x"],
            "y": row["y"],
        }
        for row in _few(rows, metrics)
    ] + [{"kind": "line", **row} for row in fitted if row["metric"] in metrics]
    place = {**_close_to("x", "y"), "color": _colour("table", list(TABLES))}
    points = alt.Chart().transform_filter("datum.kind == 'point'")
    lines = alt.Chart().transform_filter("datum.kind == 'line'").encode(**place, x2="x2", y2="y2")
    dash: dict[str, Any] = {}
    if by_algorithm:
        dash["strokeDash"] = alt.StrokeDash("algorithm:N", sort=list(ALGORITHMS), title=None)
    marks = [
        points.mark_circle(size=9, opacity=0.45).encode(**place),
        lines.mark_rule(strokeWidth=1.6).encode(**dash),
    ]
    chart = alt.layer(*marks, data=alt.Data(values=data)).properties(width=125, height=95)
    return _panels(chart, ("metric", metrics), ("utility", UTILITIES))


def _few(rows: Sequence[Row], metrics: Sequence[str]) -> list[Row]:
    """Return the points that are drawn: the first releases of each cell."""
    return [
        {**row, "metric": metric, "utility": utility, "x": row[metric], "y": row[utility]}
        for _, cell in groups(rows, "table", "algorithm")
        for row in cell[:_POINTS]
        for metric in metrics
        for utility in UTILITIES
    ]


def histograms(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Bars for how figures are spread, a row of panels for each figure and a column for a table."""
    import altair as alt

    bars = (
        alt.Chart(alt.Data(values=_binned(rows, names)))
        .mark_bar(opacity=0.55)
        .encode(
            x=alt.X("low:Q", title=None, scale=alt.Scale(zero=False), axis=_few_ticks()),
            x2="high:Q",
            y=alt.Y("share:Q", stack=None, title=None, axis=_few_ticks()),
            color=_colour("algorithm", list(ALGORITHMS)),
        )
        .properties(width=190, height=70)
    )
    return _panels(bars, ("figure", names), ("table", list(TABLES)))


def _binned(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    found = []
    for (table,), part in groups(rows, "table"):
        for name in names:
            every = [row[name] for row in part]
            edges = np.linspace(min(every), max(every) + 1e-12, _BINS + 1)
            for (algorithm,), cell in groups(part, "algorithm"):
                counts, _ = np.histogram([row[name] for row in cell], edges)
                found += [
                    {"table": table, "algorithm": algorithm, "figure": name, "share": n / len(cell),
                     "low": float(low), "high": float(high)}
                    for n, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True)
                    if n
                ]  # fmt: skip
    return found


def effects(rows: Sequence[Row]) -> Any:
    """Dots with intervals for the mean size of coefficients."""
    import altair as alt

    place = alt.Y("metric:N", sort=[row["metric"] for row in rows], title=None)
    base = alt.Chart(alt.Data(values=list(rows)))
    bars = base.mark_rule(strokeWidth=2.5, color=OUR_COLOUR).encode(
        x=alt.X("low:Q", title="mean size of the coefficient"), x2="high:Q", y=place
    )
    dots = base.mark_point(filled=True, size=70, opacity=1, color=OUR_COLOUR).encode(
        x="effect:Q", y=place
    )
    return (bars + dots).properties(width=460, height=alt.Step(22))


def rates(rows: Sequence[Row], what: str, panel: str | None = None) -> Any:
    """Dots with intervals for how often a score is right, diamonds for published rates."""
    import altair as alt

    data = [{**row, "whose": OURS} for row in rows if row["rate"] is not None]
    labels = [name for name in (what, panel) if name]
    data += [
        {**{name: row[name] for name in labels}, "rate": row["published"], "whose": THEIRS}
        for row in rows
        if row.get("published") is not None
    ]
    place = alt.Y(f"{what}:N", sort=list(dict.fromkeys(row[what] for row in rows)), title=None)
    shown = alt.Scale(domain=[0.35, 1])
    across = alt.X("rate:Q", title="share of pairs", scale=shown)
    base = alt.Chart()
    marks = [
        base.mark_rule(color=SOFT, strokeDash=[3, 3]).encode(x=alt.XDatum(0.5, scale=shown)),
        base.mark_rule(strokeWidth=2.5, color=OUR_COLOUR, clip=True).encode(
            x=alt.X("low:Q", scale=shown), x2="high:Q", y=place
        ),
        base.mark_point(filled=True, size=55, opacity=1, clip=True).encode(
            x=across, y=place, color=whose_colour(), shape=whose_shape()
        ),
    ]
    chart = alt.layer(*marks, data=alt.Data(values=data))
    if panel is None:
        return chart.properties(width=460, height=alt.Step(20))
    return chart.properties(width=200, height=alt.Step(18)).facet(
        column=alt.Column(f"{panel}:N", sort=list(TABLES), title=None)
    )


def predicted(rows: Sequence[Row]) -> Any:
    """Points for utility predicted and found, with the line on which they would agree."""
    import altair as alt

    values = []
    for (table, utility), part in groups(rows, "table", "utility"):
        every = [row[name] for row in part for name in ("predicted", "found")]
        labels = {"table": table, "utility": utility, "kind": "line"}
        low, high = min(every), max(every)
        values += [{"kind": "point", **row} for row in part]
        values.append({**labels, "predicted": low, "found": low, "x2": high, "y2": high})
    place = _close_to("predicted", "found")
    points = alt.Chart().transform_filter("datum.kind == 'point'")
    line = alt.Chart().transform_filter("datum.kind == 'line'")
    marks = [
        points.mark_circle(size=14, opacity=0.6).encode(
            **place, color=_colour("algorithm", list(ALGORITHMS))
        ),
        line.mark_rule(color=INK).encode(**place, x2="x2", y2="y2"),
    ]
    chart = alt.layer(*marks, data=alt.Data(values=values)).properties(width=125, height=95)
    return _panels(chart, ("table", list(TABLES)), ("utility", UTILITIES))


def _panels(chart: Any, rows: Panels, columns: Panels) -> Any:
    """Repeat a chart for each value of two fields, each on scales of its own."""
    import altair as alt

    (row, down), (column, across) = rows, columns
    return chart.facet(
        row=alt.Row(f"{row}:N", sort=list(down), title=None),
        column=alt.Column(f"{column}:N", sort=list(across), title=None),
    ).resolve_scale(x="independent", y="independent")


def _close_to(across: str, upwards: str) -> dict[str, Any]:
    """Return axes of two fields that end where their values do."""
    import altair as alt

    near = {"title": None, "scale": alt.Scale(zero=False), "axis": _few_ticks()}
    return {"x": alt.X(f"{across}:Q", **near), "y": alt.Y(f"{upwards}:Q", **near)}


def _colour(name: str, order: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=order, scheme="tableau10")
    return alt.Color(f"{name}:N", title=None, scale=scale)


def _few_ticks() -> Any:
    import altair as alt

    return alt.Axis(tickCount=3, labelFontSize=9)
