"""The common style of charts, and how charts are saved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from shoal.errors import OutputError
from shoal.support.extras import requires
from shoal.support.files import check_writable, replace_file
from shoal.support.outputs import as_output

INK, SOFT, PAPER = "#1f2933", "#6b7785", "#ffffff"
ENDINGS = (".png", ".svg", ".html")


def styled(chart: Any) -> Any:
    """Return an Altair chart in the common style."""
    font = "Inter, Helvetica Neue, Helvetica, Arial, sans-serif"
    return (
        chart.configure(background=PAPER, font=font, padding=18)
        .configure_view(stroke=None)
        .configure_title(
            anchor="start",
            color=INK,
            fontSize=19,
            subtitleColor=SOFT,
            subtitleFontSize=13,
            subtitlePadding=6,
            offset=16,
        )
        .configure_axis(
            labelColor=SOFT,
            titleColor=INK,
            titleFontWeight="normal",
            titleFontSize=13,
            labelFontSize=12,
            gridColor="#eef1f4",
            domainColor="#c5ccd3",
            tickColor="#c5ccd3",
            titlePadding=10,
        )
        .configure_legend(
            labelColor=SOFT,
            titleColor=INK,
            titleFontWeight="normal",
            titleFontSize=13,
            labelFontSize=12,
            offset=22,
        )
    )


def check_picture(path: Path, *, force: bool = False) -> None:
    """Raise an error before any work if the picture could not be saved."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(
            f"{path}: the name of a picture must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )
    check_writable(path, force=force)


def save_chart(chart: Any, path: Path, *, force: bool = False) -> None:
    """Write a chart in the format that the file's ending names; the file is complete or absent.

    A page (.html) is self-contained and opens offline.
    """
    check_picture(path, force=force)
    with as_output(replace_file(path, force=force), path) as temporary:
        temporary.write_bytes(_drawn(chart, path.suffix.lower()))


def inline(chart: Any, name: str) -> str:
    """Return a chart as SVG to embed in a page with other charts.

    name: a prefix that makes its ids unique in the page.
    """
    return with_unique_ids(_drawn(chart, ".svg").decode(), name)


def with_unique_ids(drawn: str, name: str) -> str:
    """Return SVG for embedding, with ids that start with the name."""
    bare = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn)
    ids = dict.fromkeys(re.findall(r'\bid="([^"]+)"', bare))
    for index, old in enumerate(ids):
        bare = re.sub(rf'(\bid="|url\(#|href="#){re.escape(old)}\b', rf"\g<1>{name}-{index}", bare)
    return bare


def _drawn(chart: Any, ending: str) -> bytes:
    with requires("pictures"):
        import vl_convert

    if ending == ".png":
        return vl_convert.vegalite_to_png(chart.to_json(), scale=2)
    if ending == ".svg":
        return vl_convert.vegalite_to_svg(chart.to_json()).encode()
    scripts = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # no snippet of our own
    return _page(chart.to_json(indent=None), scripts).encode()


def _page(spec: str, scripts: str) -> str:
    """Return a page with a chart as JSON and the scripts that draw it."""
    draw = f"vegaEmbed('#chart', {in_script(spec)}, {{mode: 'vega-lite'}}).catch(console.error);"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Shoal</title>
<style>#chart.vega-embed {{ width: 100%; display: flex; }}
#chart.vega-embed details, #chart.vega-embed details summary {{ position: relative; }}</style>
<script>{scripts}</script>
</head>
<body>
<div id="chart"></div>
<script>{draw}</script>
</body>
</html>
"""


def in_script(json_text: str) -> str:
    r"""Return JSON escaped for a script element of a page, so that no text in it ends the script.

    Column names come from the data and may contain any characters.

    >>> print(in_script('{"name": "</script>"}'))
    {"name": "\u003c/script\u003e"}
    """
    return re.sub("[<>&\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", json_text)
