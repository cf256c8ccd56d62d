"""Charts of a release for notebooks, the common style of all charts, and how they are saved.

`release_chart` draws a column before and after, class sizes, or losses. Like the report, a chart
shows nothing that too few people share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError, UnknownColumn, unknown
from shoal.release.release import Release
from shoal.report.before_after import distribution
from shoal.report.losses import losses
from shoal.report.masking import LEAST, Mask, released_only
from shoal.report.released import size_bars
from shoal.risk.reidentification import Reidentification
from shoal.support.files import check_writable, replace_file
from shoal.support.imports import requires
from shoal.support.outputs import as_output
from shoal.table.column import Role

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
    # gradients and clip paths are referred to by id, and ids of two charts would collide
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


WIDTH, BAR = 520, 22
_AFTER, _BEFORE = "#0b6e8a", "#c5ccd3"


def release_chart(release: Release, column: str | None = None, *, of: str = "classes") -> Any:
    """Return an Altair chart of a release.

    Parameters:
        release: The release to draw.
        column: A quasi-identifier or sensitive column, to show its values before and after.
        of: Without a column, `classes` for class sizes or `loss` for the loss of each column.

    Returns:
        The chart.
    """
    if release.withheld:
        raise InputError(
            "a chart compares the release with the original table, which a release with a "
            "differential privacy claim must not reveal; plot the rows of to_pandas() instead"
        )
    kept = released_only(release)
    mask = Mask(max(int(getattr(release.model, "least_size", 1)), LEAST))
    if column is not None:
        return _before_and_after(kept, column, mask)
    if of not in _CHARTS:
        raise unknown("no chart of", of, _CHARTS)
    return _CHARTS[of](kept, mask)


def _before_and_after(kept: Release, name: str, mask: Mask) -> Any:
    shown = [c.name for c in kept.original if c.role in (Role.QUASI, Role.SENSITIVE)]
    if name not in shown:
        raise UnknownColumn(f"no chart of column {name!r}; there are {', '.join(shown)}")
    found = distribution(kept.original[name], kept.recodings.get(name), kept.original, mask)
    if not found["groups"]:
        raise InputError(f"column {name!r} cannot be shown: too few people share each value")
    sides = ("before", "after") if name in kept.recodings else ("after",)
    values = [
        {"value": group["label"], "side": side, "share": group[side]}
        for group in found["groups"]
        for side in sides
    ]
    labels = [group["label"] for group in found["groups"]]
    title = f"{name} before and after" if len(sides) > 1 else f"{name}, published unchanged"
    return _bars(values, labels, "share", title, "share of the released rows", sides=sides)


def _class_sizes(kept: Release, mask: Mask) -> Any:
    bars = size_bars(Reidentification.of_classes(kept.classes), mask)
    values = [{"value": _size(bar), "number": bar["number"]} for bar in bars]
    labels = [value["value"] for value in values]
    return _bars(values, labels, "number", "People in a class", "classes", form=",d")


def _size(bar: dict[str, Any]) -> str:
    if bar["to"] is None:
        return f"{bar['from']:,} or more"
    return f"{bar['from']:,}" if bar["from"] == bar["to"] else f"{bar['from']:,} – {bar['to']:,}"


def _loss_by_column(kept: Release, mask: Mask) -> Any:
    found = losses(kept, mask)["attributes"]
    values = [{"value": each["column"], "loss": each["loss"]} for each in found]
    labels = [each["column"] for each in sorted(found, key=lambda each: -each["loss"])]
    title = "Loss by column (ncp: 0 = all cells exact, 1 = all hidden)"
    return _bars(values, labels, "loss", title, "ncp")


_CHARTS: dict[str, Callable[[Release, Mask], Any]] = {
    "classes": _class_sizes,
    "loss": _loss_by_column,
}


def _bars(
    values: Sequence[dict[str, Any]],
    labels: Sequence[str],
    measure: str,
    title: str,
    axis: str,
    *,
    sides: Sequence[str] = ("after",),
    form: str = ".0%",
) -> Any:
    import altair as alt

    shown = ".3f" if measure == "loss" else form
    encoding: dict[str, Any] = {
        "y": alt.Y("value:N", sort=list(labels), title=None, axis=alt.Axis(labelLimit=260)),
        "x": alt.X(f"{measure}:Q", title=axis, axis=alt.Axis(format=shown)),
        "tooltip": [alt.Tooltip("value:N"), alt.Tooltip(f"{measure}:Q", format=shown)],
    }
    if len(sides) > 1:
        scale = alt.Scale(domain=list(sides), range=[_BEFORE, _AFTER])
        encoding["color"] = alt.Color("side:N", scale=scale, title=None, sort=list(sides))
        encoding["yOffset"] = alt.YOffset("side:N", sort=list(sides))
        encoding["tooltip"].append(alt.Tooltip("side:N"))
    chart = alt.Chart(alt.Data(values=list(values))).mark_bar(
        **({} if len(sides) > 1 else {"color": _AFTER})
    )
    return styled(
        chart.encode(**encoding).properties(
            width=WIDTH,
            height=alt.Step(BAR if len(sides) == 1 else BAR * 0.7),
            title=alt.TitleParams(title, color=INK, subtitleColor=SOFT),
        )
    )
