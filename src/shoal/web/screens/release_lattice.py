"""The tab Levels of the screen Release: every combination as a point and as a row of a table.

Charts are drawn on a canvas, in the colours of the theme; every chart has a table beside it.
"""

from __future__ import annotations

import pickle
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import ui

from shoal.report.lattice_picture import STATES, Spots
from shoal.support.arrays import Counts
from shoal.table.hierarchy import Hierarchy
from shoal.web.project.lattice import METHOD, WORDS, LatticeNode, LatticeView, recode_sample
from shoal.web.project.outcomes import percent
from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run
from shoal.web.project.studies import Study, list_nodes
from shoal.web.project.topics import Step
from shoal.web.screens.parts import heading, named, table, watch
from shoal.web.text import release as text

_PAGE = 20
_MANY_NODES = 2_000  # more are drawn smaller
_SAMPLE_ROWS = 200  # of the preview, from which examples are taken
_EXAMPLES = 2  # of each column
_SUPPRESSED = 0.05  # of the records, unless the method states another share
_STATES = {
    "all": ("not anonymous", "anonymous", "minimal"),
    "kept": ("anonymous", "minimal"),
    "minimal": ("minimal",),
}


def build(project: Project, run: Run, request: RunRequest) -> None:
    """Draw the explorer.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
    """
    ui.label(text.LEVELS_WHY).classes("s-why")
    output = project.workspace / f"{run.folder.name}-levels.bin"

    summary = run.summary or {}
    share = float((summary.get("options") or {}).get("max_suppression") or _SUPPRESSED)

    def explore() -> None:
        node = summary.get("node")
        project.studies.begin("levels", run.name, list_nodes, request, output, node, share)

    def draw(study: Study | None) -> None:
        if study is None or study.result is None:
            ui.button(text.EXPLORE, on_click=explore)
            fetch_charts()
        else:
            _Explorer(project, share, *load(output, output.stat().st_mtime_ns))

    watch(project, "levels", run, draw)


@lru_cache(maxsize=4)
def load(path: Path, version: int) -> tuple[LatticeView, dict[str, Hierarchy]]:
    """Read the combinations and the hierarchies that a job wrote; a version is read once.

    Parameters:
        path: The file.
        version: When it was written.
    """
    found: tuple[LatticeView, dict[str, Hierarchy]] = pickle.loads(path.read_bytes())
    return found


class _Explorer:
    """Picture, table and details of one lattice in one tab."""

    def __init__(
        self, project: Project, share: float, view: LatticeView, trees: dict[str, Hierarchy]
    ) -> None:
        self.project, self.view, self.trees = project, view, trees
        self.share = share
        self.number = 0
        states = view.spots.states
        self.series = {s: np.flatnonzero(states == i) for i, s in enumerate(STATES)}
        ui.label(view.summary).classes("s-strong")
        with ui.element("div").classes("s-two-lattice"):
            chart(self._options, text.LATTICE, "s-lattice", self._clicked)
            self.detail = ui.element("section").classes("s-card s-node").props("aria-live=polite")
        heading(3, text.NODES)
        with ui.element("div").classes("s-row"):
            self.state = ui.select(text.STATES, value="minimal", label=text.STATE)
            self.state.props("outlined dense").classes("s-field")
            self.state.on_value_change(self._first_page)
        self.part = ui.element("div").classes("w-full")
        cheapest = [view[number] for number in view.numbers(["minimal"])[:1].tolist()]
        self._show(view.chosen or next(iter(cheapest), None))
        self._rows()

    def _options(self, palette: Palette) -> dict[str, Any]:
        grain = 1.0 if len(self.view) <= _MANY_NODES else 0.55
        looks = {
            "not anonymous": (palette.bad, 5, 0.6),
            "anonymous": (palette.accent, 7, 0.55),
            "minimal": (palette.good, 12, 1.0),
        }
        return {
            "aria": {"enabled": True},
            "animation": False,
            "grid": {"left": 40, "right": 16, "top": 36, "bottom": 24},
            "legend": {
                "top": 0,
                "textStyle": {"color": palette.text},
                "data": list(WORDS.values()),
            },
            "tooltip": tooltip(palette) | {":formatter": _formatter(self.view.heights)},
            "xAxis": {"show": False, "type": "value"},
            "yAxis": {
                "type": "value",
                "splitLine": {"show": False},
                "axisLine": {"show": False},
                "axisTick": {"show": False},
                "axisLabel": {"color": palette.muted},
                "minInterval": 1,
            },
            "series": [
                {
                    "type": "scatter",
                    "name": WORDS[state],
                    "progressive": 0,
                    "large": True,
                    "largeThreshold": _MANY_NODES,
                    "zlevel": -1,  # below the tooltip
                    "dimensions": ["x", "y", "number"],
                    "encode": {"x": 0, "y": 1, "tooltip": []},
                    "symbolSize": grain * looks[state][1],
                    "emphasis": {"disabled": True},
                    "itemStyle": {"color": looks[state][0], "opacity": looks[state][2]},
                    ":data": _points(self.view.spots, numbers),
                }
                for state, numbers in self.series.items()
            ],
        }

    def _clicked(self, point: dict[str, Any]) -> None:
        # the chart reports a series and a place in it, which lead to the number of a node
        numbers = list(self.series.values())[int(point["series"])]
        self._show(self.view[int(numbers[int(point["place"])])])

    def _show(self, node: LatticeNode | None) -> None:
        self.detail.clear()
        with self.detail:
            heading(3, text.NODE)
            if node is None:
                ui.label(text.NO_NODE).classes("s-why")
                return
            good = node.state != "not anonymous"
            ui.label(WORDS[node.state]).classes(f"s-notice {'s-good' if good else 's-warn'}")
            with ui.element("dl").classes("s-facts"):
                for term, value in (
                    (text.COST, percent(node.cost)),
                    (text.SMALL_GROUPS, node.suppressed),
                ):
                    with ui.element("div"):
                        with ui.element("dt"):
                            ui.label(term)
                        with ui.element("dd"):
                            ui.label(value)
            examples = self._examples(node)
            rows = [
                (column, text.level_of(level, height), "\n".join(examples.get(column, ())))
                for column, level, height in zip(
                    self.view.columns, node.levels, self.view.heights, strict=True
                )
            ]
            table(text.NODE, (text.COLUMN, text.LEVELS, text.EXAMPLES), rows)
            ui.button(text.USE_LEVELS, on_click=lambda: self._use(node)).props("outline no-caps")

    def _use(self, node: LatticeNode) -> None:
        """State the levels of a node on the screen Protect."""
        levels = dict(zip(self.view.columns, node.levels, strict=True))
        options = {"levels": levels, "max_suppression": self.share}
        self.project.promise(method=METHOD, options=options)
        ui.navigate.to(f"/{Step.PROTECT}")

    def _examples(self, node: LatticeNode) -> dict[str, list[str]]:
        """Return what the levels do to values of the first rows of the file."""
        source = self.project.source
        if source is None:
            return {}
        levels = dict(zip(self.view.columns, node.levels, strict=True))
        preview = source.preview
        sample = recode_sample(
            self.trees, levels, preview.names, preview.rows[:_SAMPLE_ROWS], most=_EXAMPLES
        )
        return {each.column: [text.recoded(*pair) for pair in each.pairs] for each in sample}

    def _first_page(self) -> None:
        self.number = 0
        self._rows()

    def _turn(self, step: int) -> None:
        self.number += step
        self._rows()

    def _rows(self) -> None:
        numbers = self.view.numbers(_STATES[str(self.state.value)])
        pages = max(-(-len(numbers) // _PAGE), 1)
        self.number = min(max(self.number, 0), pages - 1)
        shown = numbers[self.number * _PAGE : (self.number + 1) * _PAGE]
        self.part.clear()
        with self.part:
            rows: list[list[Any]] = [
                [
                    _levels(node),
                    text.STATE_WORDS[node.state],
                    percent(node.cost),
                    node.suppressed,
                    lambda node=node: self._select(node),
                ]
                for node in map(self.view.__getitem__, shown.tolist())
            ]
            heads = (
                " · ".join(self.view.columns),
                text.STATE,
                text.COST,
                text.SMALL_GROUPS,
                text.ACTION,
            )
            table(text.NODES, heads, rows, numbers=(2, 3)).classes("s-nodes")
            with ui.element("div").classes("s-row s-pager"):
                back = ui.button(icon="chevron_left", on_click=lambda: self._turn(-1))
                named(back.props("flat round dense"), text.PREVIOUS)
                ui.label(text.page(self.number, pages, len(numbers))).classes("s-small")
                forth = ui.button(icon="chevron_right", on_click=lambda: self._turn(1))
                named(forth.props("flat round dense"), text.FOLLOWING)
                back.set_enabled(self.number > 0)
                forth.set_enabled(self.number + 1 < pages)

    def _select(self, node: LatticeNode) -> None:
        button = ui.button(text.SELECT, on_click=lambda: self._show(node)).props("flat dense")
        named(button, text.select_node(_levels(node)))


def _points(spots: Spots, numbers: Counts) -> str:
    """Return the call that decodes points: their positions, and which combination each one is.

    One array of numbers is drawn sooner than lists, which the page would watch for changes.
    """
    heights = spots.levels.max(axis=0) + 1
    flat = np.ravel_multi_index(tuple(spots.levels[numbers].T), tuple(heights))
    points = np.stack([spots.places[numbers], spots.rows[numbers], flat], axis=1)
    return f'shoalPoints("{b64encode(points.astype("<f4").tobytes()).decode()}")'


def _formatter(heights: Sequence[int]) -> str:
    """Return the call that makes the function that names the combination of a point."""
    return f"shoalLevels({[int(height) + 1 for height in heights]})"


def _levels(node: LatticeNode) -> str:
    return " · ".join(map(str, node.levels))


@dataclass(frozen=True)
class Palette:
    """The colours of a chart.

    Parameters:
        text, muted, line, accent, good, bad, card: Colours as CSS states them.
    """

    text: str
    muted: str
    line: str
    accent: str
    good: str
    bad: str
    card: str


LIGHT = Palette("#131a24", "#4b5768", "#dfe3ea", "#0b6684", "#17653b", "#b4bec8", "#ffffff")
DARK = Palette("#e8edf4", "#a9b6c8", "#2c394c", "#6cc5e4", "#86d9a8", "#48566b", "#141c28")

# the page states whether it is dark; the answer arrives after the first drawing
_IS_DARK = "document.body.classList.contains('body--dark')"
_FETCH = "void import('nicegui-echart')"


def tooltip(palette: Palette) -> dict[str, Any]:
    """Return the options of a tooltip, which is drawn as text and never as markup.

    Parameters:
        palette: The colours.
    """
    return {
        "renderMode": "richText",
        "backgroundColor": palette.card,
        "borderColor": palette.line,
        "textStyle": {"color": palette.text},
    }


def fetch_charts() -> None:
    """Let the page fetch the program that draws charts, before the first one is drawn."""
    ui.run_javascript(_FETCH)


def chart(
    options: Callable[[Palette], dict[str, Any]],
    name: str,
    kind: str,
    on_click: Callable[[dict[str, Any]], None] | None = None,
) -> ui.echart:
    """Draw a chart, light or dark like the page.

    Data goes into the values of options only: keys that begin with a colon would be run as code.

    Parameters:
        options: Returns the options for some colours.
        name: The accessible name.
        kind: A class that sets the height.
        on_click: Takes the series and the position of a clicked point.
    """
    drawn = ui.echart(options(LIGHT), renderer="canvas").classes(f"s-chart {kind}")
    drawn.props["role"] = "img"
    drawn.props["aria-label"] = name
    if on_click is not None:
        clicked = on_click

        def point(event: Any) -> None:
            clicked({"series": event.series_index, "place": event.data_index})

        drawn.on_point_click(point)

    async def recolour() -> None:
        try:
            dark = await ui.run_javascript(_IS_DARK, timeout=5.0)
        except TimeoutError:  # the page is gone
            return
        if dark:
            drawn.options.clear()
            drawn.options.update(options(DARK))
            drawn.update()

    ui.timer(0.05, recolour, once=True)
    return drawn
