"""The pictures of the studies of robust predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.report.charts import SOFT
from studies.runs import Row

NAMES = {"plain": "without noise", "noisy": "with noise"}
OUTCOMES = {"correct": "right", "target": "as wanted", "other": "something else"}
_BLUE, _RED, _SAND = "#4c78a8", "#c8553d", "#e3a857"
_SIZE = "size of the perturbation"


def temperatures(rows: Sequence[Row], votes: Sequence[Row]) -> Any:
    """Dots for the accuracy of each network, lines for their vote."""
    import altair as alt

    y = alt.Y("accuracy:Q", title="share right, held back", scale=alt.Scale(zero=False))
    dots = alt.Chart(alt.Data(values=list(rows))).mark_point(filled=True, size=45, opacity=0.85)
    lines = alt.Chart(alt.Data(values=list(votes))).mark_rule(strokeWidth=1.6)
    x = alt.X("temperature:Q", title="temperature that the network was trained at")
    several, dash = {}, {}
    if len(_order(rows, "trained")) > 1:
        several["shape"] = alt.Shape("trained:N", title="trained on pictures")
        dash["strokeDash"] = alt.StrokeDash("trained:N", legend=None)
    return alt.layer(
        lines.encode(y=y, color=_model("model"), **dash),
        dots.encode(x=x, y=y, color=_model("model"), **several),
    ).properties(width=560, height=230)


def by_size(rows: Sequence[Row], panels: Sequence[str], titles: Sequence[str]) -> Any:
    """Lines over the size of the perturbation, side by side; larger dots for more examples."""
    import altair as alt

    greatest = max(row["middle"] for row in rows) + min(row["middle"] for row in rows)
    x = alt.X("middle:Q", title=_SIZE, scale=alt.Scale(domain=[0, greatest], nice=False))
    size = alt.Size("examples:Q", scale=alt.Scale(range=[8, 110]), legend=None)
    drawn = []
    for name, title in zip(panels, titles, strict=True):
        shown = [row for row in rows if row[name] is not None]
        y = alt.Y(f"{name}:Q", title=title, scale=alt.Scale(zero=True))
        base = alt.Chart(alt.Data(values=shown)).encode(x=x, y=y, color=_model("model"))
        line = base.mark_line(strokeWidth=1.3, opacity=0.6)
        dots = base.mark_point(filled=True, opacity=0.9).encode(size=size)
        drawn.append((line + dots).properties(width=310, height=210))
    return alt.hconcat(*drawn, spacing=36)


def own_answers(rows: Sequence[Row]) -> Any:
    """Dots, one per network, for its answer to the example against itself."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_point(filled=True, size=55, opacity=0.9)
        .encode(
            x=alt.X("perturbation:Q", title=_SIZE),
            y=alt.Y("temperature:Q", title="temperature of the network"),
            color=_outcome("answer"),
        )
        .properties(width=310, height=210)
        .facet(column=_panels("model"))
    )


def own_shares(rows: Sequence[Row]) -> Any:
    """Bars for the answers of attacked networks, by the size of the perturbation."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("low:Q", bin="binned", title=_SIZE),
            x2="high:Q",
            y=alt.Y("share:Q", title="share of examples", stack="zero"),
            color=_outcome("answer"),
            order=alt.Order("place:Q"),
        )
        .properties(width=310, height=180)
        .facet(column=_panels("model"))
    )


def attackers(rows: Sequence[Row]) -> Any:
    """Bars for the answers of the vote under each attack, with the interval of right answers."""
    import altair as alt

    wide = alt.Axis(labelLimit=300)
    place = alt.Y("attacker:N", sort=_order(rows, "attacker"), title=None, axis=wide)
    base = alt.Chart()
    bars = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x=alt.X("share:Q", title="share of examples", scale=alt.Scale(domain=[0, 1])),
        y=place,
        color=_outcome("answer"),
        order=alt.Order("place:Q"),
    )
    right = base.transform_filter("datum.place == 0")
    span = right.mark_rule(strokeWidth=2, color="#1f2933").encode(
        x=alt.X("low:Q"), x2="high:Q", y=place
    )
    return (
        alt.layer(bars, span, data=alt.Data(values=list(rows)))
        .properties(width=265, height=alt.Step(30))
        .facet(column=_panels("model"))
    )


def settings(rows: Sequence[Row], panel: str, titles: str) -> Any:
    """Lines for the accuracy, clean and attacked, over the deviation of the noise."""
    import altair as alt

    kinds = {"vote_clean": "clean", "vote_attacked": "under attack", "single_clean": "one network"}
    shown = [
        {"deviation": row["deviation"], panel: row[panel], "what": title, "share": row[name]}
        for row in rows
        for name, title in kinds.items()
    ]
    colours = alt.Scale(domain=list(kinds.values()), range=[_BLUE, _RED, "#9aa5b1"])
    header = alt.Header(
        labelFontSize=12, labelColor=SOFT, titleColor=SOFT, titleFontWeight="normal"
    )
    return (
        alt.Chart(alt.Data(values=shown))
        .mark_line(point=True, strokeWidth=1.8)
        .encode(
            x=alt.X("deviation:Q", title="standard deviation of the noise"),
            y=alt.Y("share:Q", title="share right", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("what:N", title=None, scale=colours),
        )
        .properties(width=205, height=150)
        .facet(
            facet=alt.Facet(f"{panel}:N", title=titles, sort=_order(rows, panel), header=header),
            columns=3,
        )
    )


def _model(name: str) -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(NAMES.values()), range=[_RED, _BLUE])
    return alt.Color(f"{name}:N", title=None, scale=scale, legend=alt.Legend(orient="top"))


def _outcome(name: str) -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(OUTCOMES.values()), range=[_BLUE, _RED, _SAND])
    return alt.Color(f"{name}:N", title=None, scale=scale, legend=alt.Legend(orient="top"))


def _panels(name: str) -> Any:
    import altair as alt

    header = alt.Header(labelFontSize=12, labelColor=SOFT, labelAnchor="start")
    return alt.Column(f"{name}:N", title=None, sort=list(NAMES.values()), header=header)


def _order(rows: Sequence[Row], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))
