"""Charts and pictures of networks under attack: outcomes by size, and adversarial examples."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import OutputError
from shoal.report.charts import INK, SOFT, inline, styled
from shoal.support.arrays import Bools
from shoal.support.files import check_writable, replace_file

Row = dict[str, Any]
_GOAL, _OTHER, _GREY = "#c8553d", "#e3a857", "#b9c3cd"
_SIZE = "size of the perturbation"
_WIDTH, _HEIGHT = 620, 220
_PANELS, _PANEL = 3, 190  # panels side by side, and how wide each is


def charts(report: Row) -> dict[str, str]:
    """Return the charts of a report as SVG, by name."""
    rows = [{**row, "label": noise_label(row["noise"])} for row in report["bins"]]
    drawn = {
        "sizes": _sizes(report["sizes"], superimposed=bool(report["attack"]["superimposed"])),
        "networks": _networks(rows, report["examples"]["networks"]),
        "votes": _votes(rows),
        "accuracy": _accuracy(rows),
    }
    return {name: inline(styled(chart), name) for name, chart in drawn.items()}


def noise_label(scale: float) -> str:
    """Return a scale of noise in words."""
    return f"noise {scale:g}" if scale else "no noise"


def _sizes(rows: Sequence[Row], *, superimposed: bool) -> Any:
    """Bars for how many examples have a perturbation of each size."""
    import altair as alt

    names = {"yes": "reached the goal", "no": "did not"}
    if superimposed:
        names = {"yes": "all perturbations", "no": "fewer"}
    shown = [{**row, "reached": names[row["success"]]} for row in rows if row["examples"]]
    return (
        alt.Chart(alt.Data(values=shown))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=_SIZE, scale=_from_zero(rows[-1]["high"])),
            x2="high:Q",
            y=alt.Y("examples:Q", title="examples", stack="zero"),
            color=_colour("reached", list(names.values()), [_GOAL, _GREY]),
            order=alt.Order("success:N", sort="descending"),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


def _networks(rows: Sequence[Row], networks: int) -> Any:
    """Lines for how many networks changed, a panel for each scale of noise."""
    import altair as alt

    shown = _long(rows, {"to_target": "to the goal", "to_other": "to another class"})
    y = alt.Y("value:Q", title="networks", scale=alt.Scale(domain=[0, networks]))
    return _panels(_dotted(shown, y, _outcome_colour(), rows), rows)


def _votes(rows: Sequence[Row]) -> Any:
    """Bars for the share of examples that changed the vote, a panel for each scale of noise."""
    import altair as alt

    shown = _long(rows, {"vote_to_target": "to the goal", "vote_to_other": "to another class"})
    half = rows[0]["middle"]
    for row in shown:
        row |= {"low": row["middle"] - half, "high": row["middle"] + half}
    drawn = (
        alt.Chart(alt.Data(values=[row for row in shown if row["value"]]))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("low:Q", bin="binned", title=_SIZE, scale=_from_zero(_greatest(rows))),
            x2="high:Q",
            y=alt.Y("value:Q", title="share of examples", stack="zero"),
            color=_outcome_colour(),
        )
    )
    return _panels(drawn, rows)


def _accuracy(rows: Sequence[Row]) -> Any:
    """Lines for the accuracy of the vote, one for each scale of noise."""
    import altair as alt

    shown = [{**row, "value": row["accuracy"]} for row in rows if row["examples"]]
    labels = _labels(rows)
    colour = alt.Color(
        "label:N",
        title=None,
        sort=labels,
        scale=alt.Scale(domain=labels, scheme="viridis") if labels[1:] else alt.Scale(range=[INK]),
        legend=alt.Legend(orient="top"),
    )
    y = alt.Y("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]))
    return _dotted(shown, y, colour, rows).properties(width=_WIDTH, height=_HEIGHT)


def _dotted(shown: Sequence[Row], y: Any, colour: Any, rows: Sequence[Row]) -> Any:
    """Thin lines, with dots sized by the number of examples."""
    import altair as alt

    x = alt.X("middle:Q", title=_SIZE, scale=_from_zero(_greatest(rows)))
    base = alt.Chart().encode(x=x, y=y, color=colour)
    size = alt.Size("examples:Q", scale=alt.Scale(range=[8, 110]), legend=None)
    dots = base.mark_point(filled=True, opacity=0.9).encode(size=size)
    data = alt.Data(values=list(shown))
    return alt.layer(base.mark_line(strokeWidth=1.2, opacity=0.6), dots, data=data)


def _panels(chart: Any, rows: Sequence[Row]) -> Any:
    import altair as alt

    labels = _labels(rows)
    wide = _PANEL if labels[1:] else _WIDTH
    header = alt.Header(labelFontSize=12, labelColor=SOFT, labelAnchor="start")
    return chart.properties(width=wide, height=150 if labels[1:] else _HEIGHT).facet(
        facet=alt.Facet("label:N", title=None, sort=labels, header=header), columns=_PANELS
    )


def _long(rows: Sequence[Row], names: dict[str, str]) -> list[Row]:
    """Return a row for each bin and name, without bins that have no examples."""
    kept = ("label", "middle", "examples")
    return [
        {**{key: row[key] for key in kept}, "what": title, "value": row[name]}
        for row in rows
        if row["examples"]
        for name, title in names.items()
    ]


def _outcome_colour() -> Any:
    return _colour("what", ["to the goal", "to another class"], [_GOAL, _OTHER])


def _colour(field: str, domain: list[str], colours: list[str]) -> Any:
    import altair as alt

    return alt.Color(
        f"{field}:N",
        title=None,
        scale=alt.Scale(domain=domain, range=colours),
        legend=alt.Legend(orient="top"),
    )


def _from_zero(greatest: float) -> Any:
    import altair as alt

    return alt.Scale(domain=[0, greatest], nice=False)


def _greatest(rows: Sequence[Row]) -> float:
    return float(rows[-1]["middle"] + rows[0]["middle"])


def _labels(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["label"] for row in rows))


ENDINGS = (".png", ".html")
_GAP = 2  # pixels between pictures, before they are enlarged


def check_ending(path: Path, *, force: bool) -> None:
    """Raise an error before any work if the picture could not be saved."""
    if path.suffix not in ENDINGS:
        raise OutputError(f"{path}: the name of a picture must end in {' or '.join(ENDINGS)}")
    check_writable(path, force=force)


def worth_showing(samples: Any, sizes: Any, fooled: Bools, most: int) -> list[int]:
    """Return the indices of changed examples, about half of which fooled the vote, those first.

    Within each half, the smallest change of every picture comes before the second of any picture.
    """
    halves = []
    for those in (fooled, ~fooled):
        places = np.flatnonzero(those & (sizes > 0))
        places = places[np.argsort(sizes[places], kind="stable")]
        # turns: how many smaller changes of the same picture come before each one
        seen: Counter[int] = Counter()
        turns = []
        for sample in samples[places].tolist():
            turns.append(seen[sample])
            seen[sample] += 1
        halves.append(places[np.argsort(turns, kind="stable")].tolist())
    first, second = halves
    shown = first[: max(most - len(second), (most + 1) // 2)]
    return [*shown, *second[: most - len(shown)]]


def triptychs(originals: Any, adversarial: Any) -> Any:
    """Return (rows, height, width, channels) bytes: original, perturbation, adversarial.

    In the perturbation, grey means no change; its contrast is stretched for each example.
    """
    change = adversarial - originals
    most = np.maximum(np.abs(change).max(axis=(1, 2, 3), keepdims=True), 1e-12)
    gap = np.ones((*originals.shape[:3], _GAP), dtype=originals.dtype)
    joined = np.concatenate([originals, gap, 0.5 + change / (2 * most), gap, adversarial], axis=3)
    return np.rint(joined * 255).clip(0, 255).astype(np.uint8).transpose(0, 2, 3, 1)


def write_pictures(
    path: Path, pictures: Any, captions: list[str], *, zoom: int, force: bool
) -> None:
    """Write all rows as one picture (.png), or as a page with a caption for each (.html)."""
    enlarged = pictures.repeat(zoom, axis=1).repeat(zoom, axis=2)
    if path.suffix == ".png":
        gap = np.full((len(enlarged), _GAP * zoom, *enlarged.shape[2:]), 255, dtype=np.uint8)
        below = np.concatenate([enlarged, gap], axis=1)
        content = png(below.reshape(-1, *below.shape[2:]))
    else:
        content = _page(enlarged, captions).encode()
    with replace_file(path, force=force) as temporary:
        temporary.write_bytes(content)


def png(pixels: Any) -> bytes:
    """Return (height, width, 1 or 3) bytes as a PNG file."""
    height, width, channels = pixels.shape
    if channels not in (1, 3):
        raise OutputError(f"pictures must have 1 or 3 channels to be shown, not {channels}")
    lines = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # each begins with its filter
    lines[:, 1:] = pixels.reshape(height, -1)
    colour = 0 if channels == 1 else 2
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    # each chunk is its length, name, body and checksum
    parts = {b"IHDR": head, b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts.items()
    )


def address(pixels: Any) -> str:
    """Return (height, width, 1 or 3) bytes as a data URL."""
    return f"data:image/png;base64,{b64encode(png(pixels)).decode()}"


def _page(pictures: Any, captions: list[str]) -> str:
    figures = "\n".join(
        f'<figure><img alt="" src="{address(each)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for each, caption in zip(pictures, captions, strict=True)
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Adversarial examples'
        "</title>\n<style>body{font-family:sans-serif;display:flex;flex-wrap:wrap}</style>\n"
        f"<h1>Original, perturbation, adversarial</h1>\n{figures}\n</html>\n"
    )
