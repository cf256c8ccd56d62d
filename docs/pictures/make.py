"""Draw the pictures of the documentation: `python docs/pictures/make.py`.

All data is generated, so the same versions draw the same pictures.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import vl_convert
from concepts import draw_cell, draw_classes, draw_hierarchy
from planes import DOT, draw_plane, draw_ways, rows_of

import shoal
from shoal.report.charts import INK, styled
from shoal.report.lattice_picture import draw_lattice

HERE = Path(__file__).parent
EFFORTS = {"low": "#86b3c6", "normal": "#2a7f9e", "high": "#0b3c5d"}
WAYS = {"ranges and sets": "#2a7f9e", "hierarchies": "#d0743c"}
LIFTS = {
    "ranges and sets": (-14, -27),
    "hierarchies": (-42, -16),
    "low": (-31, -12),
    "normal": (-36, -14),
    "high": (42, 16),
}
AGES = [28, 31, 34, 50, 61, 65, 68, 71]
KS = (2, 3, 5, 10, 20, 50, 100, 200)


def main() -> None:
    """Write the vector pictures, and the first one as pixels too."""
    plane = draw_plane()
    save(plane, "mondrian")
    pixels = vl_convert.vegalite_to_png(plane.to_json(), scale=1.66, ppi=72)
    (HERE / "mondrian.png").write_bytes(pixels)
    save(draw_ways(), "ways")
    save(draw_classes(), "classes")
    save(draw_hierarchy(), "hierarchy")
    save(draw_cell(), "cell")
    save(draw_losses(), "loss")
    save(draw_coverage(), "coverage")
    save_lattice()
    save_comparison()


def save_comparison() -> None:
    """Sixteen releases of the generated patients, loss against risk."""
    methods = ["mondrian", "greedy", "datafly", "flash"]
    found = shoal.compare(shoal.datasets.patients(1000, seed=1), k=[3, 5, 10, 25], methods=methods)
    path = HERE / "comparison.svg"
    found.picture(path, force=True)
    path.write_text(without_names(path.read_text(encoding="utf-8")), encoding="utf-8")


def draw_coverage() -> alt.HConcatChart:
    """Eight people published in classes, and each by a range of their own."""
    ages = pa.table({"age": AGES})
    table = shoal.Table.from_arrow(ages, {"age": {"role": "quasi", "bounds": [18, 82]}})
    grouped = shoal.anonymize(table, shoal.KAnonymity(3), "optimal")
    freeform = shoal.anonymize(table, shoal.FreeformAnonymity(3), "doka-hungarian", seed=1)
    title = alt.TitleParams(
        "Eight people: a dot is an age, a bar what is published of it",
        subtitle=[
            "Left, everybody shares a bar with two others at least. Right, each has a bar of their",
            "own that covers three people at least, and everybody lies under three bars at least.",
        ],
        offset=14,
    )
    panels = [
        draw_bars(grouped, "3-anonymity: classes"),
        draw_bars(freeform, "freeform 3-anonymity: coverage"),
    ]
    return styled(alt.hconcat(*panels, spacing=30, title=title))


def draw_bars(release: shoal.Release, name: str) -> alt.LayerChart:
    """Draw each record's published range, and the age behind it."""
    recoding = release.recodings["age"]
    assert recoding.low is not None
    assert recoding.high is not None
    rows = rows_of(
        {
            "record": list(range(len(AGES))),
            "age": AGES,
            "low": recoding.low[recoding.codes].tolist(),
            "high": recoding.high[recoding.codes].tolist(),
        }
    )
    y = alt.Y("record:O", title=None, axis=None)
    x = alt.X("low:Q", title="age in years", scale=alt.Scale(domain=[25, 75], nice=False))
    chart = alt.Chart(alt.Data(values=rows))
    bars = chart.mark_bar(color="#8cc7d6", height=9).encode(x=x, x2="high:Q", y=y)
    dots = chart.mark_circle(size=34, color=INK, opacity=1).encode(x="age:Q", y=y)
    loss = f"{name}, loss {shoal.metrics.ncp(release):.2f}"
    told = alt.TitleParams(loss, fontSize=13, fontWeight="normal")
    return (bars + dots).properties(width=290, height=150, title=told)


def save_lattice() -> None:
    """The lattice of three attributes, with the node that flash chooses."""
    full = shoal.datasets.patients(2_000, seed=1)
    names = ["birth_date", "sex", "postcode"]
    roles = {name: {"role": "quasi", "hierarchy": full[name].hierarchy} for name in names}
    table = shoal.Table.from_arrow(full.to_arrow().select(names), roles)
    model = shoal.KAnonymity(5)
    release = shoal.anonymize(table, model, "flash")
    path = HERE / "lattice.svg"
    draw_lattice(table, model, path, chosen=release.node, force=True)
    path.write_text(without_names(path.read_text(encoding="utf-8")), encoding="utf-8")


def draw_losses() -> alt.HConcatChart:
    """Loss against k, and how much of it each effort leaves."""
    table = shoal.datasets.patients(10_000, seed=1)
    ways = {"ranges and sets": False, "hierarchies": True}
    costs = [
        {"k": k, "line": way, "loss": loss_of(table, k, "normal", through)}
        for way, through in ways.items()
        for k in KS
    ]
    least = {k: loss_of(table, k, "low", False) for k in KS}
    saved = [
        {"k": k, "line": effort, "loss": loss_of(table, k, effort, False) / least[k]}
        for effort in EFFORTS
        for k in KS
    ]
    left = draw_panel(costs, WAYS, "loss (ncp), normal effort", [0, 0.6], ".1f")
    right = draw_panel(
        saved, EFFORTS, "loss against that of low effort, ranges and sets", [0.75, 1.05], ".2f"
    )
    title = alt.TitleParams(
        "What k costs, and what effort saves",
        subtitle="10,000 generated patients, six quasi-identifiers, Mondrian",
        offset=18,
    )
    joined = alt.hconcat(left, right, spacing=34, title=title)
    return styled(joined.resolve_scale(color="independent"))


def loss_of(table: shoal.Table, k: int, effort: str, through_hierarchies: bool) -> float:
    """Return the normalized certainty penalty of one release."""
    options = {"effort": effort, "hierarchies": through_hierarchies}
    release = shoal.anonymize(table, shoal.KAnonymity(k), **options)
    return shoal.metrics.ncp(release)


def draw_panel(
    rows: list[dict[str, Any]], colours: dict[str, str], title: str, span: list[float], form: str
) -> alt.LayerChart:
    """Draw one line for each name, and the name behind its last point."""
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("k:Q", title="k", scale=alt.Scale(type="log", domain=[1.8, 220], nice=False)).axis(
            values=list(KS), grid=False, format="d"
        ),
        y=alt.Y("loss:Q", title=None).scale(domain=span).axis(format=form, tickCount=6),
        color=alt.Color(
            "line:N",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=None,
        ),
    )
    lines = base.mark_line(strokeWidth=2.4)
    dots = base.mark_circle(size=36, opacity=1)
    names = [
        base.transform_filter(f"datum.k == 10 && datum.line == '{name}'")
        .mark_text(align="center", dx=right, dy=down, fontSize=13)
        .encode(text="line:N")
        for name, (right, down) in LIFTS.items()
        if name in colours
    ]
    told = alt.TitleParams(title, fontSize=13, fontWeight="normal")
    return alt.layer(lines, dots, *names).properties(width=290, height=270, title=told)


def without_names(svg: str) -> str:
    """Leave out what is there for readers of single marks."""
    return re.sub(r' (aria-\w+|role)="[^"]*"', "", svg)


def save(chart: Any, name: str) -> None:
    """Write a chart as SVG: a file to look at, so dots are one path and have no names."""
    svg = vl_convert.vegalite_to_svg(chart.to_json())
    svg = without_names(svg)
    dots = rf'<path transform="translate\(([\d.]+),([\d.]+)\)" d="[^"]+" fill="{INK}"[^>]*/>'
    places = re.findall(dots, svg)
    if len(places) > 100:
        spots = "".join(
            f"M{float(x) - 1.2:.1f},{float(y):.1f}a1.2,1.2 0 1 0 2.4 0a1.2,1.2 0 1 0-2.4 0"
            for x, y in places
        )
        whole = f'<path d="{spots}" fill="{INK}" opacity="{DOT}"/>'
        svg = re.sub(dots, "", re.sub(dots, "@dots@", svg, count=1)).replace("@dots@", whole)
    (HERE / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
