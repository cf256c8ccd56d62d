"""Pictures of single ideas: a class, a hierarchy, what a cell leaves open."""

from __future__ import annotations

from typing import Any

import altair as alt
from planes import BLUE, ORANGE, rows_of

import shoal
from shoal.report.charts import INK, PAPER, SOFT, styled

BANDS = ("#d9ecf2", "#f7e3d6")
KNOWN = {"age": 36, "sex": "F"}
EDUCATION = {
    "basic": ["none", "primary", "secondary"],
    "higher": ["bachelor", "master", "doctorate"],
}
CLASS, LABEL, EXTENT = (31, 34, 38), (20, 40), (17, 90)


def draw_classes() -> alt.HConcatChart:
    """A table before and after, row by row; the rows that somebody finds are marked."""
    table = shoal.datasets.load("health-record")
    release = shoal.anonymize(table, shoal.KAnonymity(3))
    before = table.to_arrow().to_pylist()
    after = release.to_arrow().to_pylist()
    person = next(i for i, row in enumerate(before) if KNOWN.items() <= row.items())
    ids = release.classes.ids
    panels = [
        draw_rows("before: the person is found", before, [None] * len(before), {person}),
        draw_rows(
            "after: one of three, in a class of alike rows",
            after,
            ids.tolist(),
            {i for i in range(len(after)) if ids[i] == ids[person]},
        ),
    ]
    title = alt.TitleParams(
        "Who knows a woman of 36, and looks for her disease",
        subtitle="Bold: the rows that could be hers. Colour: the class, rows published alike.",
        offset=14,
    )
    return styled(alt.hconcat(*panels, spacing=34, title=title))


def draw_rows(
    name: str, rows: list[dict[str, Any]], classes: list[int | None], found: set[int]
) -> alt.LayerChart:
    """Draw the rows of a table as text on bands by class."""
    columns = list(rows[0])
    cells = [
        {"row": i, "column": j, "text": str(row[column]), "bold": i in found}
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    heads = [{"row": -1, "column": j, "text": column} for j, column in enumerate(columns)]
    bands = [
        {"row": i, "low": -0.5, "high": len(columns) - 0.5, "colour": BANDS[c % 2]}
        for i, c in enumerate(classes)
        if c is not None
    ]
    x = alt.X("column:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(columns) - 0.5], nice=False))
    y = alt.Y("row:O", axis=None, sort=list(range(-1, len(rows))))
    y = y.scale(domain=list(range(-1, len(rows))), paddingInner=0.08)
    band = alt.Chart(alt.Data(values=bands)).mark_rect()
    layers = (
        [
            band.encode(
                x=alt.X("low:Q", axis=None),
                x2="high:Q",
                y=y,
                color=alt.Color("colour:N").scale(None),
            )
        ]
        if bands
        else []
    )
    text = alt.Chart(alt.Data(values=cells))
    layers += [
        alt.Chart(alt.Data(values=heads))
        .mark_text(color=SOFT, fontSize=12)
        .encode(x=x, y=y, text="text:N"),
        text.transform_filter("!datum.bold")
        .mark_text(color=SOFT, fontSize=12.5)
        .encode(x=x, y=y, text="text:N"),
        text.transform_filter("datum.bold")
        .mark_text(color=INK, fontSize=12.5, fontWeight="bold")
        .encode(x=x, y=y, text="text:N"),
    ]
    told = alt.TitleParams(name, fontSize=13, fontWeight="normal")
    return alt.layer(*layers).properties(width=390, height=200, title=told)


def draw_hierarchy() -> alt.LayerChart:
    """A tree of labels by level, with the ground values that one of them stands for."""
    tree = shoal.hierarchies.tree(EDUCATION)
    leaves = [row[0] for row in tree.rows()]
    places = {(0, leaf): float(i) for i, leaf in enumerate(leaves)}
    links = []
    for level in range(1, tree.height + 1):
        below = {(row[level - 1], row[level]) for row in tree.rows()}
        for label in {above for _, above in below}:
            spots = [places[level - 1, child] for child, above in below if above == label]
            places[level, label] = sum(spots) / len(spots)
        links += [
            {
                "x": places[level - 1, child],
                "y": level - 1 + 0.16,
                "x2": places[level, above],
                "y2": level - 0.16,
                "chosen": "basic" in (child, above) and above != "*",
            }
            for child, above in sorted(below)
        ]
    nodes = [
        {
            "x": x,
            "y": level,
            "label": label,
            "chosen": label == "basic" or label in EDUCATION["basic"],
        }
        for (level, label), x in places.items()
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, len(leaves) - 0.4], nice=False))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[-0.3, tree.height + 0.3], nice=False))
    names = "['level 0: the values', 'level 1', 'level 2: the root'][datum.value]"
    y = y.axis(
        values=[0, 1, 2], labelExpr=names, grid=False, domain=False, ticks=False, labelFontSize=13
    )
    colour = alt.Color("chosen:N", legend=None).scale(domain=[True, False], range=[ORANGE, INK])
    lines = alt.Chart(alt.Data(values=links)).mark_rule(strokeWidth=1.6, opacity=0.55)
    words = alt.Chart(alt.Data(values=nodes)).mark_text(fontSize=14)
    title = alt.TitleParams(
        "A hierarchy, and a cell as a subset",
        subtitle=[
            "The published cell “basic” says: none, primary or secondary (orange).",
            "The root, *, says nothing; a value at level 0 says all.",
        ],
    )
    chart = alt.layer(
        lines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=colour),
        words.encode(x=x, y=y, text="label:N", color=colour),
    )
    return styled(chart.properties(width=560, height=210, title=title))


def draw_cell() -> alt.LayerChart:
    """What one cell loses: the spread of its class, and the width of its label."""
    extent = EXTENT[1] - EXTENT[0]
    spread, width = CLASS[-1] - CLASS[0], LABEL[1] - 1 - LABEL[0]
    rows = rows_of(
        {
            "name": ["extent of the column", "published: [20, 40[", "people of the class"],
            "low": [EXTENT[0], LABEL[0], CLASS[0]],
            "high": [EXTENT[1], LABEL[1] - 1, CLASS[-1]],
            "colour": ["#e3e8ec", "#8cc7d6", BLUE],
            "told": [
                f"{EXTENT[0]} to {EXTENT[1]}: {extent} years",
                f"ncp, pub: {width} / {extent} = {width / extent:.2f}",
                f"class: {spread} / {extent} = {spread / extent:.2f}",
            ],
        }
    )
    order = [row["name"] for row in rows]
    y = alt.Y("name:N", sort=order, title=None)
    y = y.axis(
        grid=False, ticks=False, domain=False, labelFontSize=13, labelColor=INK, labelLimit=220
    )
    x = alt.X("low:Q", title="age in years", scale=alt.Scale(domain=[15, 92], nice=False))
    chart = alt.Chart(alt.Data(values=rows))
    bars = chart.mark_bar(height=22).encode(
        x=x, x2="high:Q", y=y, color=alt.Color("colour:N").scale(None)
    )
    told = chart.mark_text(align="left", dx=10, fontSize=13, color=INK).encode(
        x=alt.X("high:Q"), y=y, text="told:N"
    )
    told = told.transform_filter(f"datum.name != '{order[0]}'")
    whole = chart.transform_filter(f"datum.name == '{order[0]}'").mark_text(fontSize=13, color=INK)
    middle = whole.transform_calculate(middle="(datum.low + datum.high) / 2")
    people = alt.Chart(alt.Data(values=[{"age": age, "name": order[2]} for age in CLASS]))
    dots = people.mark_circle(size=44, color=INK, opacity=1, stroke=PAPER).encode(x="age:Q", y=y)
    title = alt.TitleParams(
        "What one cell loses",
        subtitle="A class of people of 31, 34 and 38, published by a label of a hierarchy.",
    )
    chart = alt.layer(bars, told, middle.encode(x="middle:Q", y=y, text="told:N"), dots)
    return styled(chart.properties(width=520, height=130, title=title))
