"""The figures of the grouping study: loss and time, averaged over draws, against one field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from studies.claims import Verdict, judge_figure
from studies.grouping import chains
from studies.grouping.claims import CLAIMS
from studies.grouping.ratios import largest, of_figure, ratio
from studies.grouping.tables import FIRST, OTHER_FOUR
from studies.page import Drawn, Picture, Section, format_cell
from studies.runs import Row, groups

TITLES = {
    "3.2": "Against the optimum, k = 3",
    "3.3": "Against other methods, 8 attributes, those without an order as categories",
    "3.4": "Greedy Search over other methods, from the runs of figure 3.3",
    "3.5": "Against other methods, 4 attributes, k = 4",
    "3.6": "Growing tables, 4 attributes",
    "3.7": "Growing k, 8 attributes",
    "3.8": "Growing numbers of attributes",
    chains.NAME: "Sizes of sub-problems, 5,000 records of 4 attributes; its counts fit k = 3, "
    "while the text gives k = 4",
    "A.1": "Another table, FARS, 4 attributes, k = 3; the person's type in place of the month, "
    "which the public copy lacks",
    "B": "Four other attributes: Split & Carry over Greedy Search",
}
_AXES = {  # what a figure is drawn against, and what divides it into panels
    "3.2": ("size", "against"),
    "3.3": ("k", "rows"),
    "3.5": ("method", None),
    "3.6": ("rows", "k"),
    "3.7": ("k", None),
    "3.8": ("width", "k"),
    "A.1": ("method", "rows"),
}
_ROWS = 80  # of a table that is shown
_APART = 20  # a ratio of losses from which their scale is logarithmic
_MEASURES = {"loss": "loss per record", "seconds": "CPU seconds"}


def sections_of(out: Path, rows: Sequence[Row]) -> list[Drawn]:
    """Write a CSV and pictures for each figure; returns them drawn and judged."""
    return [_section(out, rows, figure, title) for figure, title in TITLES.items()]


def _section(out: Path, rows: Sequence[Row], figure: str, title: str) -> Drawn:
    shown = [row for row in rows if row["figure"] == figure and not row.get("reverse")]
    if figure == chains.NAME:
        verdicts = judge_figure(CLAIMS, figure, shown)
        return chains.section_of(title, shown).draw(out, verdicts, ".4g").unless_longer(_ROWS)
    measured = of_figure(rows, "3.3" if figure == "3.4" else figure)
    if figure == "B":
        measured += largest(of_figure(rows, "3.6"))
    verdicts = judge_figure(CLAIMS, figure, measured)
    if figure == "3.4":
        return _ratios(title, measured).draw(out, verdicts, ".3g")
    if figure == "B":
        return _by_attributes(title, measured).draw(out, verdicts, ".3g")
    return _drawn(out, Section(figure, title, shown), verdicts)


def _by_attributes(title: str, rows: Sequence[Row]) -> Section:
    """Return the loss of Split & Carry over that of Greedy Search, by attributes and k."""
    found = []
    for (figure, data, k), _ in groups(rows, "figure", "data", "k"):
        chosen = OTHER_FOUR[data] if figure == "B" else FIRST[data][:4]
        each = ratio(rows, "split-carry", "greedy", figure=figure, k=k)
        labels = {"attributes": ", ".join(chosen), "k": k}
        found.append({**labels, "ratio": each.value, "low": each.low, "high": each.high})
    return Section("B", title, found, (), ["attributes", "k", "ratio", "low", "high"])


def _ratios(title: str, rows: Sequence[Row]) -> Section:
    """Return figure 3.4: the loss of Greedy Search over that of others, with intervals."""
    found = []
    for (other, count, k), _ in groups(rows, "method", "rows", "k"):
        if other == "greedy":
            continue
        each = ratio(rows, "greedy", other, rows=count, k=k)
        labels = {"method": other, "rows": count, "k": k}
        found.append({**labels, "ratio": each.value, "low": each.low, "high": each.high})
    picture = Picture(_ratio_chart(found), "Figure 3.4: loss of Greedy Search over other methods")
    return Section("3.4", title, found, [picture], ["method", "rows", "k", "ratio", "low", "high"])


def _ratio_chart(rows: Sequence[Row]) -> Any:
    import altair as alt

    finite = [row for row in rows if row["high"] < float("inf")]
    base = alt.Chart(alt.Data(values=finite)).encode(
        x=alt.X("k:Q", scale=alt.Scale(zero=False)),
        color=alt.Color("method:N", scale=alt.Scale(scheme="tableau10")),
    )
    chart = base.mark_line(point=True, strokeWidth=2).encode(
        y=alt.Y("ratio:Q", title="loss of greedy over", scale=alt.Scale(zero=False))
    ) + base.mark_rule().encode(y="low:Q", y2="high:Q")
    return chart.properties(width=330, height=240).facet(column=alt.Column("rows:N"))


def _drawn(out: Path, section: Section, verdicts: Sequence[Verdict]) -> Drawn:
    across, panel = _AXES[section.name]
    fields = ["method", *(name for name in (across, panel) if name and name != "method")]
    means = _means(section.rows, fields)
    section.write_csv(out)
    pictures = [_picture(section, means, what).save(out, section.stem) for what in _MEASURES]
    cells = [[format_cell(row[name], ".4g") for name in (*fields, *_MEASURES)] for row in means]
    return Drawn(section, verdicts, pictures, [*fields, "loss", "CPU s"], cells)


def _means(rows: Sequence[Row], fields: Sequence[str]) -> list[Row]:
    """Return loss and seconds averaged over draws."""
    means = []
    for place, runs in groups(rows, *fields):
        measured = [run for run in runs if run["loss"] is not None]
        row = dict(zip(fields, place, strict=True))
        for what in _MEASURES:
            row[what] = fmean(run[what] for run in measured) if measured else None
        means.append(row)
    return means


def _picture(section: Section, means: Sequence[Row], what: str) -> Picture:
    """Draw one measure of a figure."""
    import altair as alt

    across, panel = _AXES[section.name]
    title = _MEASURES[what]
    shown = [row for row in means if row[what] is not None]
    data = alt.Data(values=shown)
    sizes = [row[what] for row in shown if row[what] > 0]
    apart = bool(sizes) and max(sizes) > _APART * min(sizes)
    logarithmic = what == "seconds" or apart
    scale: Any = alt.Scale(type="log") if logarithmic else alt.Scale(zero=True)
    if across == "method":
        chart = (
            alt.Chart(data)
            .mark_point(filled=True, size=110)
            .encode(
                x=alt.X(f"{what}:Q", title=title, scale=scale),
                y=alt.Y("method:N", title=None, sort=alt.EncodingSortField(what)),
            )
        )
    else:
        chart = (
            alt.Chart(data)
            .mark_line(point=True, strokeWidth=2)
            .encode(
                x=alt.X(f"{across}:Q", title=_axis(across), scale=alt.Scale(zero=False)),
                y=alt.Y(f"{what}:Q", title=title, scale=scale),
                color=alt.Color("method:N", scale=alt.Scale(scheme="tableau10")),
            )
        )
    chart = chart.properties(width=330, height=240)
    if panel:
        chart = chart.facet(column=alt.Column(f"{panel}:N", title=_axis(panel))).resolve_scale(
            x="independent"
        )
    return Picture(chart, f"{section.heading}: {title}", f"-{what}.svg")


def _axis(name: str) -> str:
    return {"width": "attributes", "size": "records, or attributes"}.get(name, name)
