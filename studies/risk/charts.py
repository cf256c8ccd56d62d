"""Pictures of the study of disclosure risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.page import Picture
from studies.runs import Row

_PUBLISHED = ((4, 1.75), (7, 3.0))  # permanents and expected cracks


def _graphs(rows: Sequence[Row]) -> list[Picture]:
    """Figure 2.4: expected cracks against the permanent, with the two published points."""
    import altair as alt

    points = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_circle(color="#2a7f8e", opacity=0.55)
        .encode(
            x=alt.X(
                "permanent:Q",
                scale=alt.Scale(type="log", domain=[1, 130], nice=False),
                title="permanent",
            ),
            y=alt.Y("cracks:Q", title="expected cracks"),
            size=alt.Size("graphs:Q", scale=alt.Scale(type="log", range=[12, 260]), title="graphs"),
        )
    )
    chart = points
    for (permanent, cracks), aside in zip(_PUBLISHED, (-1, 1), strict=True):
        spot = {"permanent": permanent, "cracks": cracks, "name": f"({permanent}, {cracks:g})"}
        marks = alt.Chart(alt.Data(values=[spot])).encode(x="permanent:Q", y="cracks:Q")
        chart += marks.mark_point(color="#b3401f", size=160, strokeWidth=2)
        chart += marks.mark_text(
            color="#b3401f", dx=34 * aside, dy=-14 * aside, fontWeight="bold"
        ).encode(text="name:N")
    return [_sized(chart, "Figure 2.4: more matchings, fewer cracks, mostly")]


def _mappings(rows: Sequence[Row]) -> list[Picture]:
    """Figure 4.1: Ψ and H, mapping by mapping."""
    import altair as alt

    values = [
        {"mapping": row["mapping"], "value": row[name], "what": name_shown}
        for row in rows
        for name, name_shown in (("psi", "Ψ"), ("heuristic", "H"))
    ]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("mapping:Q", title="true mapping, by Ψ"),
            y=alt.Y("value:Q", title="people found"),
            color=alt.Color(
                "what:N", title=None, sort=["Ψ", "H"], scale=alt.Scale(range=["#1f2933", "#e08a2e"])
            ),
        )
    )
    return [_sized(chart, "Figure 4.1: Ψ and H of Q")]


def _random(rows: Sequence[Row]) -> list[Picture]:
    """Figure 4.2: NMAPE against the permanent, with the published bound."""
    import altair as alt

    points = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_circle(size=14, opacity=0.5)
        .encode(
            x=alt.X("permanent:Q", title="permanent"),
            y=alt.Y("nmape:Q", title="NMAPE", axis=alt.Axis(format="%")),
            color=alt.Color("family:N", title="drawn as", scale=alt.Scale(scheme="tableau10")),
        )
    )
    line = alt.Chart(alt.Data(values=[{"bound": 0.06}])).encode(y="bound:Q")
    label = line.mark_text(align="right", x="width", dy=-8, color="#b3401f", text="6 %, published")
    chart = points + line.mark_rule(color="#b3401f", strokeDash=[6, 4]) + label
    return [_sized(chart, "Figure 4.2: mean error of H, 5 × 5")]


def _large(rows: Sequence[Row]) -> list[Picture]:
    """Ours: the error of H at the true mapping, and NMAPE, against n."""
    titles = {
        "error": "Figure A: error of H at the true mapping",
        "nmape": "Figure A: NMAPE, its mean over all mappings",
    }
    return [
        _sized(_against_size(rows, what), title, f"-{what}.svg") for what, title in titles.items()
    ]


def _against_size(rows: Sequence[Row], what: str) -> Any:
    """Draw a dot per draw, and a line through the means."""
    import altair as alt

    values = [row for row in rows if row[what] is not None]
    scale = alt.Scale(type="linear" if what == "error" else "log")
    axis = {
        "title": "H / Ψ − 1" if what == "error" else "NMAPE",
        "scale": scale,
        "axis": alt.Axis(format="~%"),
    }
    ticks = alt.Axis(values=[10, 100, 1000, 10_000], format=",")
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("size:Q", title="records", scale=alt.Scale(type="log"), axis=ticks),
        color=alt.Color("kind:N", title="attack", scale=alt.Scale(scheme="tableau10")),
    )
    dots = base.mark_point(filled=True, size=35).encode(y=alt.Y(f"{what}:Q", **axis))
    return base.mark_line(strokeWidth=2).encode(y=alt.Y(f"mean({what}):Q", **axis)) + dots


def _sized(chart: Any, title: str, ending: str = ".svg") -> Picture:
    return Picture(chart.properties(width=520, height=320), title, ending)


PICTURES = {"2.4": _graphs, "4.1": _mappings, "4.2": _random, "A": _large}
