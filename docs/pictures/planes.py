"""People on a plane of two attributes, and what is published of them."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

import shoal
from shoal.report.charts import INK, PAPER, styled

PATIENTS, K, DOT = 1500, 25, 0.55
BLUE, ORANGE = "#2a7f9e", "#d0743c"
TREES = {
    "age": {"intervals": [5, 10, 20, 40]},
    "cost": {"intervals": {"widths": [0.125, 0.25, 0.5, 1], "origin": 2.5}},
}


def draw_plane() -> alt.LayerChart:
    """Patients by age and cost, with the box that Mondrian publishes for each class."""
    table = patients_on_a_plane(PATIENTS)
    release = shoal.anonymize(table, shoal.KAnonymity(K), effort="high")
    sizes = release.classes.sizes
    x = alt.X("age_low:Q", title="age in years", scale=alt.Scale(domain=[-1, 106], nice=False))
    x = x.axis(values=list(range(0, 101, 10)))
    y = alt.Y("cost_low:Q", title="cost of the stay, on a logarithmic scale")
    y = y.scale(zero=False, nice=False, padding=12)
    y = y.axis(
        values=np.log10([500, 1000, 2000, 5000, 10_000, 20_000, 40_000]).tolist(),
        labelExpr="format(round(pow(10, datum.value) / 100) * 100, ',')",
    )
    colours = alt.Scale(domain=[K, int(sizes.max())], range=["#e3f1f5", "#8cc7d6", "#3d95b0"])
    key = alt.Legend(title="people in the box", tickCount=4, gradientLength=180, format="d")
    rectangles = (
        alt.Chart(alt.Data(values=boxes_of(release)))
        .mark_rect(stroke=PAPER, strokeWidth=1.2)
        .encode(
            x=x,
            x2="age_high:Q",
            y=y,
            y2="cost_high:Q",
            color=alt.Color("records:Q", scale=colours, legend=key),
        )
    )
    points = (
        alt.Chart(alt.Data(values=rows_of(table.to_arrow().to_pydict())))
        .mark_circle(size=5, color=INK, opacity=DOT)
        .encode(x="age:Q", y="cost:Q")
    )
    title = alt.TitleParams(
        f"{len(table):,} people, {len(sizes)} boxes, at least {sizes.min()} people in each",
        subtitle=[
            "Each dot is a generated patient. Mondrian publishes the box, not the dot:",
            "narrow where people are many, wide where they are few.",
        ],
    )
    return styled((rectangles + points).properties(width=640, height=400, title=title))


def draw_ways() -> alt.HConcatChart:
    """The same people published on one grid, in boxes that are cut, and in groups."""
    table = patients_on_a_plane(240, TREES)
    asked = {
        "flash": ("full-domain: one grid for all", {"max_suppression": 0.05}),
        "mondrian": ("Mondrian: cuts where people are", {"hierarchies": False, "effort": "high"}),
        "anneal": ("grouping: any people together", {}),
    }
    panels = []
    for method, (name, options) in asked.items():
        release = shoal.anonymize(table, shoal.KAnonymity(8), method, **options)
        panels.append(draw_boxes(table, release, name))
    title = alt.TitleParams(
        f"The same {len(table)} people, three ways to hide each among eight",
        subtitle=[
            "A dot is a generated patient by age and cost of the stay, a box is what is published.",
            "Orange: left out, and counted as lost. Loss is the normalized certainty penalty.",
        ],
        offset=14,
    )
    return styled(alt.hconcat(*panels, spacing=22, title=title))


def draw_boxes(table: shoal.Table, release: shoal.Release, name: str) -> alt.LayerChart:
    """Draw the boxes of a release and the people in and outside of them."""
    dots = {**table.to_arrow().to_pydict(), "kept": (release.classes.ids >= 0).tolist()}
    plain = {"title": None, "axis": alt.Axis(labels=False, ticks=False, grid=False)}
    x = alt.X("age_low:Q", scale=alt.Scale(domain=[-2, 106], nice=False), **plain)
    y = alt.Y("cost_low:Q", scale=alt.Scale(zero=False, nice=False, padding=6), **plain)
    boxes = (
        alt.Chart(alt.Data(values=boxes_of(release)))
        .mark_rect(fill="#8cc7d6", fillOpacity=0.4, stroke=BLUE, strokeWidth=1.1)
        .encode(x=x, x2="age_high:Q", y=y, y2="cost_high:Q")
    )
    colour = alt.Color("kept:N", legend=None).scale(domain=[True, False], range=[INK, ORANGE])
    points = (
        alt.Chart(alt.Data(values=rows_of(dots)))
        .mark_circle(size=11, opacity=0.8)
        .encode(x="age:Q", y="cost:Q", color=colour)
    )
    told = alt.TitleParams(
        f"{name}, loss {shoal.metrics.ncp(release):.2f}", fontSize=13, fontWeight="normal"
    )
    return (boxes + points).properties(width=255, height=230, title=told)


def patients_on_a_plane(patients: int, trees: dict[str, Any] | None = None) -> shoal.Table:
    """Return generated patients with two attributes: age, and the logarithm of the cost."""
    full = pa.concat_tables(shoal.datasets.patient_chunks(patients, seed=5))
    full = full.filter(full.column("birth_date").is_valid())
    days = full.column("admission_date").to_numpy() - full.column("birth_date").to_numpy()
    age = np.round(days.astype("timedelta64[D]").astype(float) / 365.2425, 1)
    cost = np.round(np.log10(full.column("cost").to_numpy().astype(float)), 2)
    data = pa.table({"age": age, "cost": cost})
    return shoal.Table.from_arrow(data, {"age": "quasi", "cost": "quasi"}, trees)


def boxes_of(release: shoal.Release) -> list[dict[str, Any]]:
    """Return what is published of each class: its bounds, and how many people are in it."""
    sizes, ids = release.classes.sizes, release.classes.ids
    first = np.array([np.flatnonzero(ids == c)[0] for c in range(len(sizes))])
    boxes: dict[str, Any] = {"records": sizes.tolist()}
    for name, recoding in release.recodings.items():
        assert recoding.low is not None
        assert recoding.high is not None
        entry = recoding.codes[first]
        boxes[f"{name}_low"] = recoding.low[entry].tolist()
        boxes[f"{name}_high"] = recoding.high[entry].tolist()
    return rows_of(boxes)


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows."""
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
