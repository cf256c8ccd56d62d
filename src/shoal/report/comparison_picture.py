"""The picture of a comparison: the loss of each release against its risk.

The page (.html) shows the figures of a release in a tooltip and lets the reader choose the loss.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.report.charts import INK, PAPER, SOFT, check_picture, save_chart, styled
from shoal.report.masking import LEAST, Mask, rounded

WIDTH, HEIGHT = 680, 440
MAX_LABELS = 14  # labelled points on the front
COLOURS = (
    "#0b6e8a", "#d9822b", "#7a4fa3", "#2f9e62", "#c23b5a", "#8a6d3b", "#3c6fd1",
    "#b0479c", "#5f7d2e", "#13a3a3", "#995544", "#596a7b", "#d1a000", "#404a8f",
)  # fmt: skip
_LOG_RATIO = 5.0  # the risk axis is logarithmic if the risks differ by at least this factor
_TICKS = [1 / n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 10**6)]


def draw_comparison(
    rows: Sequence[Mapping[str, Any]],
    fronts: Mapping[str, Sequence[bool]],
    path: Path,
    *,
    risk: str = "highest risk",
    force: bool = False,
) -> None:
    """Draw one point for each release.

    rows: releases as a comparison lists them.
    fronts: for each column that can be the loss, which rows are on its Pareto front; the first is
        shown, and the page offers the others.
    """
    check_picture(path, force=force)
    pages = path.suffix.lower() == ".html"
    save_chart(comparison_chart(rows, fronts, risk=risk, interactive=pages), path, force=force)


def comparison_chart(
    rows: Sequence[Mapping[str, Any]],
    fronts: Mapping[str, Sequence[bool]],
    *,
    risk: str = "highest risk",
    interactive: bool = True,
) -> Any:
    """Return the Altair chart that `draw_comparison` saves."""
    points = [
        _point(row, name, risk, stays)
        for name, kept in fronts.items()
        for row, stays in zip(rows, kept, strict=True)
        if row[name] is not None and row[risk] is not None
    ]
    losses = list(dict.fromkeys(point["of"] for point in points))
    if next(iter(fronts)) not in losses:
        raise InputError("no release to draw: none has both the requested loss and the risk")
    _name_front(points)
    return _chart(points, losses, risk, interactive=interactive)


def _point(row: Mapping[str, Any], loss: str, risk: str, stays: bool) -> dict[str, Any]:
    options = ", ".join(f"{n} = {_as_text(v)}" for n, v in row["options"].items())
    return {
        "of": loss,
        "loss": rounded(row[loss]),
        "risk": row[risk],
        "front": stays,
        "method": f"{row['method']}, {options}" if options else row["method"],
        "hierarchies": row["hierarchies"],
        "k": row["k"],
        "label": "",
        "model": row["model"],
        "seconds": row["search seconds"],
        "suppressed": _suppressed(row),
    }


def _suppressed(row: Mapping[str, Any]) -> str:
    """Return the number of suppressed records, masked because a picture may be published."""
    if row["people"] != row["records"]:  # many rows may belong to few people
        return "some" if row["suppressed"] else "0"
    count = Mask(max(row["k"] or 1, LEAST)).count(row["suppressed"], row["records"])
    return count if isinstance(count, str) else f"{count:,}"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _name_front(points: list[dict[str, Any]]) -> None:
    """Label the points on a front if there are few; coinciding points share one label."""
    together: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in points:
        if point["front"]:
            position = (point["of"], point["loss"], point["risk"])
            together.setdefault(position, []).append(point)
    named = Counter(position[0] for position in together)
    for (loss, *_), alike in together.items():
        if named[loss] <= MAX_LABELS:
            methods = list(dict.fromkeys(point["method"].split(",")[0] for point in alike))
            sizes = sorted({point["k"] for point in alike if point["k"] is not None})
            listed = ", ".join(map(str, sizes))
            alike[0]["label"] = ", ".join(methods) + (f"  k = {listed}" if sizes else "")


def _chart(points: list[dict[str, Any]], losses: list[str], risk: str, *, interactive: bool) -> Any:
    import altair as alt

    shown = alt.param(
        name="shown",
        value=losses[0],
        bind=alt.binding_select(options=losses, name="loss: ")
        if len(losses) > 1
        else alt.Undefined,
    )
    clicked = alt.selection_point(name="clicked", fields=["method"], bind="legend")
    base = alt.Chart(alt.Data(values=points)).transform_filter("datum.of == shown")
    base = base.encode(x=_risk_axis(points, risk), y=_loss_axis())
    line = base.transform_filter("datum.front").mark_line(
        interpolate="step-after", color=SOFT, strokeWidth=1.5, strokeDash=[5, 4]
    )
    heading = (
        alt.Chart(alt.Data(values=[{}]))
        .mark_text(align="left", baseline="bottom", color=INK, fontSize=13, clip=False)
        .encode(
            x=alt.value(-34), y=alt.value(-10), text=alt.value(alt.expr("'loss (' + shown + ')'"))
        )
    )
    many = sum(point["of"] == losses[0] for point in points)
    title = alt.TitleParams(
        f"{many:,} releases" if many > 1 else "one release", subtitle=_subtitle(risk), offset=34
    )
    marks = _marks(base, points, clicked).add_params(shown, clicked)
    if interactive:
        marks = marks.add_params(alt.selection_interval(name="view", bind="scales"))
    layers = [line.encode(order="risk:Q"), *_names(base), marks, heading]
    return styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))


def _risk_axis(points: list[dict[str, Any]], risk: str) -> Any:
    import altair as alt

    risks = [point["risk"] for point in points]
    if min(risks) <= 0 or max(risks) < _LOG_RATIO * min(risks):
        return alt.X("risk:Q", title=risk).scale(zero=False, nice=False, padding=50)
    ticks = [tick for tick in _TICKS if min(risks) / 2 < tick < max(risks) * 2]
    labels = "'1 in ' + format(1 / datum.value, ',.0f')"
    axis = alt.Axis(values=ticks, labelExpr=labels, labelOverlap=True)
    scale = alt.Scale(type="log", nice=False, padding=50)
    return alt.X("risk:Q", title=risk, scale=scale, axis=axis)


def _loss_axis() -> Any:
    import altair as alt

    axis = alt.Axis(title=None, tickCount=6, labelExpr="datum.value < 0 ? '' : datum.label")
    return alt.Y("loss:Q", axis=axis).scale(zero=True, nice=False, padding=30)


def _marks(base: Any, points: list[dict[str, Any]], clicked: Any) -> Any:
    """Draw the releases: a colour and a shape for each method, a dark rim on the front."""
    import altair as alt

    methods = list(dict.fromkeys(point["method"] for point in points))
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(methods))]
    shapes = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
    forms = [shapes[i % len(shapes)] for i in range(len(methods))]
    rim, key = "datum.front", alt.Legend(labelLimit=300, symbolSize=90)
    return base.mark_point(filled=True, size=100).encode(
        fill=alt.Fill("method:N", scale=alt.Scale(domain=methods, range=colours), legend=key),
        shape=alt.Shape("method:N", scale=alt.Scale(domain=methods, range=forms), legend=key),
        stroke=alt.condition(rim, alt.value(INK), alt.value(PAPER)),
        strokeWidth=alt.condition(rim, alt.value(2), alt.value(0.6)),
        opacity=alt.condition(clicked, alt.value(0.88), alt.value(0.1)),
        order=alt.Order("front:N"),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("model:N"),
            alt.Tooltip("hierarchies:N"),
            alt.Tooltip("loss:Q", format=".3f"),
            alt.Tooltip("risk:Q", format=".4f"),
            alt.Tooltip("suppressed:N", title="records suppressed"),
            alt.Tooltip("seconds:Q", format=".2f"),
        ],
    )


def _names(base: Any) -> list[Any]:
    """Label the releases on the front, below their points."""
    named = base.transform_filter("datum.label").encode(text="label:N")
    form: dict[str, Any] = {"dy": 17, "fontSize": 11}
    halo = named.mark_text(stroke=PAPER, strokeWidth=5, **form)
    return [halo, named.mark_text(color=INK, **form)]


def _subtitle(risk: str) -> list[str]:
    meanings = {
        "highest risk": "Risk: the highest chance of picking a person's own record.",
        "average risk": "Risk: the chance of picking a person's own record, on average.",
        "expected risk": "Risk: the expected share of people found by matching all at once.",
    }
    return [
        "Lower left is better. No release beats one on the front (dark rim) in both.",
        meanings.get(risk, f"Risk: {risk}."),
    ]
