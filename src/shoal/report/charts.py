"""The house's look for charts, and how they are saved: white paper, dark ink, no frame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from shoal.core.extras import requires
from shoal.core.files import check_writable, replace_file
from shoal.errors import OutputError

INK, SOFT, PAPER = "#1f2933", "#6b7785", "#ffffff"
ENDINGS = (".png", ".svg", ".html")


def styled(chart: Any) -> Any:
    """Give an Altair chart the house's look."""
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
    """Refuse early a picture that could not be saved."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(
            f"{path}: a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; rename it"
        )
    check_writable(path, force=force)


def save_chart(chart: Any, path: Path, *, force: bool = False) -> None:
    """Write a chart by the name's ending, whole or not at all.

    A page (.html) holds all it needs and opens without a network.
    """
    check_picture(path, force=force)
    with replace_file(path, force=force) as temporary:
        temporary.write_bytes(_drawn(chart, path.suffix.lower()))


def inline(chart: Any, name: str) -> str:
    """Return a chart as SVG that can stand in a page beside others.

    name: what sets its ids apart from those of the others.
    """
    return beside_others(_drawn(chart, ".svg").decode(), name)


def beside_others(drawn: str, name: str) -> str:
    """Return SVG, as it is saved, the same way."""
    bare = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn)
    found = dict.fromkeys(re.findall(r'\bid="([^"]+)"', bare))  # numbered on from chart to chart
    for place, old in enumerate(found):
        bare = re.sub(rf'(\bid="|url\(#|href="#){re.escape(old)}\b', rf"\g<1>{name}-{place}", bare)
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
    """Return a page that holds a chart, as JSON, and the scripts that draw it."""
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
    r"""Return JSON that can stand in a script of a page: no text in it ends the script.

    Names of columns come from the data, and a name may hold anything.

    >>> print(in_script('{"name": "</script>"}'))
    {"name": "\u003c/script\u003e"}
    """
    return re.sub("[<>&\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", json_text)
