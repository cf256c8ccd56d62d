"""Charts on a canvas, in the colours of the theme; every chart has a table beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nicegui import ui


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
