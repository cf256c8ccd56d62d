"""Charts of an evaluation of networks under attack, by the size of the perturbation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.report.charts import INK, SOFT, inline, styled

Row = dict[str, Any]
_GOAL, _OTHER, _GREY = "#c8553d", "#e3a857", "#b9c3cd"
_SIZE = "size of the perturbation"
_WIDTH, _HEIGHT = 620, 220
_PANELS, _PANEL = 3, 190  # panels side by side, and how wide each is


def charts(report: Row) -> dict[str, str]:
    """Return the charts of a report as SVG, by name."""
    rows = [{**row, "label": noise_label(row["noise"])} for row in report["bins"]]
    drawn = {
        "sizes": _sizes(report["sizes"], superimposed=bool(report["attack"]["superimposed"])),
        "networks": _networks(rows, report["examples"]["networks"]),
        "votes": _votes(rows),
        "accuracy": _accuracy(rows),
    }
    return {name: inline(styled(chart), name) for name, chart in drawn.items()}


def noise_label(scale: float) -> str:
    """Return a scale of noise in words."""
    return f"noise {scale:g}" if scale else "no noise"


def _sizes(rows: Sequence[Row], *, superimposed: bool) -> Any:
    """Bars for how many examples have a perturbation of each size."""
    import altair as alt

    names = {"yes": "reached the goal", "no": "did not"}
    if superimposed:
        names = {"yes": "all perturbations", "no": "fewer"}
    shown = [{**row, "reached": names[row["success"]]} for row in rows if row["examples"]]
    return (
        alt.Chart(alt.Data(values=shown))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=_SIZE, scale=_from_zero(rows[-1]["high"])),
            x2="high:Q",
            y=alt.Y("examples:Q", title="examples", stack="zero"),
            color=_colour("reached", list(names.values()), [_GOAL, _GREY]),
            order=alt.Order("success:N", sort="descending"),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


def _networks(rows: Sequence[Row], networks: int) -> Any:
    """Lines for how many networks changed, a panel for each scale of noise."""
    import altair as alt

    shown = _long(rows, {"to_target": "to the goal", "to_other": "to another class"})
    y = alt.Y("value:Q", title="networks", scale=alt.Scale(domain=[0, networks]))
    return _panels(_dotted(shown, y, _outcome_colour(), rows), rows)


def _votes(rows: Sequence[Row]) -> Any:
    """Bars for the share of examples that changed the vote, a panel for each scale of noise."""
    import altair as alt

    shown = _long(rows, {"vote_to_target": "to the goal", "vote_to_other": "to another class"})
    half = rows[0]["middle"]
    for row in shown:
        row |= {"low": row["middle"] - half, "high": row["middle"] + half}
    drawn = (
        alt.Chart(alt.Data(values=[row for row in shown if row["value"]]))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("low:Q", bin="binned", title=_SIZE, scale=_from_zero(_greatest(rows))),
            x2="high:Q",
            y=alt.Y("value:Q", title="share of examples", stack="zero"),
            color=_outcome_colour(),
        )
    )
    return _panels(drawn, rows)


def _accuracy(rows: Sequence[Row]) -> Any:
    """Lines for the accuracy of the vote, one for each scale of noise."""
    import altair as alt

    shown = [{**row, "value": row["accuracy"]} for row in rows if row["examples"]]
    labels = _labels(rows)
    colour = alt.Color(
        "label:N",
        title=None,
        sort=labels,
        scale=alt.Scale(domain=labels, scheme="viridis") if labels[1:] else alt.Scale(range=[INK]),
        legend=alt.Legend(orient="top"),
    )
    y = alt.Y("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]))
    return _dotted(shown, y, colour, rows).properties(width=_WIDTH, height=_HEIGHT)


def _dotted(shown: Sequence[Row], y: Any, colour: Any, rows: Sequence[Row]) -> Any:
    """Thin lines, with dots sized by the number of examples."""
    import altair as alt

    x = alt.X("middle:Q", title=_SIZE, scale=_from_zero(_greatest(rows)))
    base = alt.Chart().encode(x=x, y=y, color=colour)
    size = alt.Size("examples:Q", scale=alt.Scale(range=[8, 110]), legend=None)
    dots = base.mark_point(filled=True, opacity=0.9).encode(size=size)
    data = alt.Data(values=list(shown))
    return alt.layer(base.mark_line(strokeWidth=1.2, opacity=0.6), dots, data=data)


def _panels(chart: Any, rows: Sequence[Row]) -> Any:
    import altair as alt

    labels = _labels(rows)
    wide = _PANEL if labels[1:] else _WIDTH
    header = alt.Header(labelFontSize=12, labelColor=SOFT, labelAnchor="start")
    return chart.properties(width=wide, height=150 if labels[1:] else _HEIGHT).facet(
        facet=alt.Facet("label:N", title=None, sort=labels, header=header), columns=_PANELS
    )


def _long(rows: Sequence[Row], names: dict[str, str]) -> list[Row]:
    """Return a row for each bin and name, without bins that have no examples."""
    kept = ("label", "middle", "examples")
    return [
        {**{key: row[key] for key in kept}, "what": title, "value": row[name]}
        for row in rows
        if row["examples"]
        for name, title in names.items()
    ]


def _outcome_colour() -> Any:
    return _colour("what", ["to the goal", "to another class"], [_GOAL, _OTHER])


def _colour(field: str, domain: list[str], colours: list[str]) -> Any:
    import altair as alt

    return alt.Color(
        f"{field}:N",
        title=None,
        scale=alt.Scale(domain=domain, range=colours),
        legend=alt.Legend(orient="top"),
    )


def _from_zero(greatest: float) -> Any:
    import altair as alt

    return alt.Scale(domain=[0, greatest], nice=False)


def _greatest(rows: Sequence[Row]) -> float:
    return float(rows[-1]["middle"] + rows[0]["middle"])


def _labels(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["label"] for row in rows))
