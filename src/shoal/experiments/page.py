"""The page that an experiment leaves: pictures, tables, and claims beside what was found."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from shoal.core.files import replace_file
from shoal.experiments.runs import Row, groups
from shoal.report.charts import save_chart, styled


@dataclass(frozen=True)
class Verdict:
    """A claim, whether it holds here (None: cannot be told), and the figures behind that."""

    claim: str
    holds: bool | None
    found: str

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return {True: "agrees", False: "disagrees", None: "open"}[self.holds]


@dataclass(frozen=True)
class Section:
    """One figure: its rows, the field it is drawn against, the field of its panels.

    name: its number, or `Table` and the number.
    """

    name: str
    title: str
    rows: Sequence[Row]
    axes: tuple[str, str | None]
    verdicts: Sequence[Verdict]

    @property
    def heading(self) -> str:
        """The name in words."""
        return self.name if self.name.startswith("Table") else f"Figure {self.name}"

    @property
    def stem(self) -> str:
        """What its files are called."""
        return (self.heading[0].lower() + self.heading[1:]).replace(" ", "-").replace(".", "-")


@dataclass(frozen=True)
class Drawn:
    """A section with its pictures as text, and its table.

    about: what the table holds. opened: whether it is there to be seen at once.
    """

    section: Section
    pictures: Sequence[str]
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    about: str = "All figures, averaged over draws"
    opened: bool = False


def write_page(out: Path, title: str, about: str, sections: Sequence[Section]) -> Path:
    """Write a CSV and pictures for each section and one page over all; returns the page."""
    drawn = []
    for section in sections:
        means = _means(section)
        write_csv(out, section)
        pictures = [_draw(out, section, means, what) for what in ("loss", "seconds")]
        drawn.append(Drawn(section, pictures, *_grid(section, means)))
    return write_drawn(out, title, about, drawn)


def write_drawn(out: Path, title: str, about: str, drawn: Sequence[Drawn]) -> Path:
    """Write one page over sections that are drawn already; returns the page."""
    from jinja2 import Environment, PackageLoader

    template = Environment(loader=PackageLoader("shoal.experiments"), autoescape=True)
    page = template.get_template("page.html").render(title=title, about=about, drawn=drawn)
    place = out / "report.html"
    with replace_file(place, force=True) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return place


def _means(section: Section) -> list[Row]:
    """Return loss and seconds averaged over draws."""
    across, panel = section.axes
    fields = [name for name in (across, panel) if name and name != "method"]
    means = []
    for place, rows in groups(section.rows, "method", *fields):
        measured = [r for r in rows if r["loss"] is not None]
        row = dict(zip(("method", *fields), place, strict=True))
        for what in ("loss", "seconds"):
            row[what] = fmean(r[what] for r in measured) if measured else None
        means.append(row)
    return means


def _grid(section: Section, means: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    fields = [name for name in means[0] if name not in ("loss", "seconds")] if means else []
    heads = [*fields, "loss", "CPU s"]
    cells = [
        [*(str(row[name]) for name in fields), _told(row["loss"]), _told(row["seconds"])]
        for row in means
    ]
    return heads, cells


def _told(number: float | None) -> str:
    return "—" if number is None else f"{number:.4g}"


def write_csv(out: Path, section: Section) -> None:
    """Write the rows of a section."""
    write_rows(out / f"{section.stem}.csv", section.rows)


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, whole or not at all."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    with replace_file(path, force=True) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def _draw(out: Path, section: Section, means: Sequence[Row], what: str) -> str:
    """Draw one measure of a section; returns the picture as text to put into a page."""
    import altair as alt

    across, panel = section.axes
    title = {"loss": "loss a record", "seconds": "CPU seconds"}[what]
    rows = [row for row in means if row[what] is not None]
    data = alt.Data(values=rows)
    scale: Any = alt.Scale(type="log") if what == "seconds" else alt.Scale(zero=True)
    colour = alt.Color("method:N", scale=alt.Scale(scheme="tableau10"))
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
                color=colour,
            )
        )
    chart = chart.properties(width=330, height=240)
    if panel:
        chart = chart.facet(column=alt.Column(f"{panel}:N", title=None)).resolve_scale(
            x="independent"
        )
    chart = chart.properties(title=f"Figure {section.name}: {title}")
    path = out / f"figure-{section.name.replace('.', '-')}-{what}.svg"
    save_chart(styled(chart), path, force=True)
    return path.read_text(encoding="utf-8")


def _axis(name: str) -> str:
    return {"width": "attributes", "size": "records, or attributes"}.get(name, name)
