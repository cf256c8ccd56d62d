"""The page that a study writes: pictures, tables, and claims with their verdicts."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from shoal.report.charts import save_chart, styled, with_unique_ids
from shoal.support.files import replace_file
from studies.claims import Verdict
from studies.runs import Row
from studies.verdicts import RULE

VERDICTS = "verdicts.json"


@dataclass(frozen=True)
class Picture:
    """A chart of a section.

    ending: the end of its file name; dense pictures are better as PNG.
    """

    chart: Any
    title: str
    ending: str = ".svg"

    def save(self, out: Path, stem: str) -> str:
        """Save the chart and return it as markup for a page."""
        path = out / f"{stem}{self.ending}"
        save_chart(styled(self.chart.properties(title=self.title)), path, force=True)
        if path.suffix == ".svg":
            return with_unique_ids(path.read_text(encoding="utf-8"), path.stem)
        title, drawn = escape(self.title), b64encode(path.read_bytes()).decode()
        return f'<img alt="{title}" style="max-width: 100%" src="data:image/png;base64,{drawn}">'


@dataclass(frozen=True)
class Section:
    """One figure or table of a study: its rows, pictures of them, and the columns to show.

    name: its number, or `Table` and the number.
    """

    name: str
    title: str
    rows: Sequence[Row]
    pictures: Sequence[Picture] = ()
    heads: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """The heading on the page."""
        return self.name if self.name.startswith("Table") else f"Figure {self.name}"

    @property
    def stem(self) -> str:
        """The stem of its file names."""
        return (self.heading[0].lower() + self.heading[1:]).replace(" ", "-").replace(".", "-")

    def draw(self, out: Path, verdicts: Sequence[Verdict], form: str) -> Drawn:
        """Write rows and pictures; returns the section of the page, with every row.

        form: the format of numbers that are not counts.
        """
        self.write_csv(out)
        pictures = [picture.save(out, self.stem) for picture in self.pictures]
        cells = [[format_cell(row.get(head), form) for head in self.heads] for row in self.rows]
        return Drawn(self, verdicts, pictures, self.heads, cells)

    def write_csv(self, out: Path) -> None:
        """Write the rows."""
        write_rows(out / f"{self.stem}.csv", self.rows)


@dataclass(frozen=True)
class Drawn:
    """A section with its verdicts, its pictures as text, and its table.

    about: the contents of the table. opened: whether the page shows the table unfolded.
    """

    section: Section
    verdicts: Sequence[Verdict]
    pictures: Sequence[str]
    heads: Sequence[str] = ()
    cells: Sequence[Sequence[str]] = ()
    about: str = "All figures, averaged over draws"
    opened: bool = False

    def unless_longer(self, most: int) -> Drawn:
        """Leave the table out if it has more rows than that; the CSV file has them."""
        return self if len(self.cells) <= most else replace(self, cells=())


def write_page(out: Path, title: str, about: str, drawn: Sequence[Drawn]) -> Path:
    """Write one page over all sections, and their verdicts as JSON; returns the page."""
    from jinja2 import Environment, PackageLoader

    template = Environment(loader=PackageLoader("studies"), autoescape=True)
    page = template.get_template("page.html").render(
        title=title, about=about, rule=RULE, drawn=drawn
    )
    path = out / "report.html"
    with replace_file(path, force=True) as temporary:
        temporary.write_text(page, encoding="utf-8")
    _write_verdicts(out, title, about, drawn)
    return path


def _write_verdicts(out: Path, title: str, about: str, drawn: Sequence[Drawn]) -> None:
    """Write the verdicts of all sections as JSON."""
    sections = [
        {
            "name": each.section.name,
            "heading": each.section.heading,
            "title": each.section.title,
            "verdicts": [asdict(verdict) for verdict in each.verdicts],
        }
        for each in drawn
    ]
    text = json.dumps({"title": title, "about": about, "sections": sections}, ensure_ascii=False)
    with replace_file(out / VERDICTS, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, completely or not at all."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    with replace_file(path, force=True) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def format_cell(value: Any, form: str) -> str:
    """Return the text of a cell: a dash for None, `form` for numbers that are not counts."""
    if value is None:
        return "—"
    return format(value, form) if isinstance(value, float) else str(value)
