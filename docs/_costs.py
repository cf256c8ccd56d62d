"""Write the costs of the methods into their pages.

`python docs/_costs.py` copies the figures of `python benchmarks/run.py --section methods --full`
into the table of methods/index.md, and derives the line **Costs.** of each method from that table.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from shoal import METHODS
from shoal.report.charts import save_chart, styled

DOCS = Path(__file__).parent
INDEX = DOCS / "methods" / "index.md"
FIGURES = DOCS.parent / "benchmarks" / "results" / "latest.json"
SIZES = (100, 2_000, 30_162)
LEFT = ("greedy", "ola", "sorted", "doka-greedy", "anneal")  # labelled on the left of their dots
FAMILIES = {  # folders of methods, and what they publish
    "partition": "a range or label per class",
    "lattice": "one level per column",
    "freeform": "a range per record",
}
_HEAD = (
    f"| method | {' | '.join(f'{rows:,} rows' for rows in SIZES)} | MB | left out |\n"
    "|---|---:|---:|---:|---:|---:|\n"
)
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")


def main() -> None:
    """Write the table if there are new figures, the line of each method, and the chart."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.is_file() else {}
    if "methods" in figures:
        INDEX.write_text(tabled(INDEX.read_text(encoding="utf-8"), figures["methods"]["runs"]))
    for page in sorted(INDEX.parent.glob("*.md")):
        page.write_text(with_costs(page.read_text(encoding="utf-8")), encoding="utf-8")
    save_chart(draw(measured()), DOCS / "pictures" / "costs.svg", force=True)


def tabled(index: str, runs: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the page with a line for each method; raise SystemExit if a run failed."""
    lines = [_line(name, by) for name, by in runs.items()]
    return _TABLE.sub(lambda _: _HEAD + "".join(lines), index)


def _line(name: str, by: dict[str, dict[str, Any]]) -> str:
    for rows, run in by.items():
        if "note" in run:
            raise SystemExit(f"{name}, {rows} rows: {run['note']}")
    method, _, options = name.partition(", ")
    cells = [f"`{method}`" + (f", `{options}`" if options else "")]
    cells += [_cell(by[str(rows)]) if str(rows) in by else "" for rows in SIZES]
    largest = by[max(by, key=int)]
    out = f"{largest['suppressed']:,}" if largest["suppressed"] else ""
    return f"| {' | '.join(cells)} | {largest['added_mb']:,.0f} | {out} |\n"


def _cell(run: dict[str, Any]) -> str:
    loss = f"{run['ncp']:.4f}"
    return f"{loss.removeprefix('0')}, {_seconds(run['cpu'])} s"


def _seconds(seconds: float) -> str:
    if seconds < 0.005:
        return "< 0.01"
    return f"{seconds:.2f}" if seconds < 1 else f"{seconds:.1f}"


def measured() -> dict[str, list[str]]:
    """Return, for each method, its cells in the table."""
    table = _TABLE.search(INDEX.read_text(encoding="utf-8"))
    lines = (table[0] if table else "").splitlines()[2:]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name.strip("`"): rest for name, *rest in cells}


def with_costs(page: str) -> str:
    """Return a page whose **Costs.** lines match the table."""
    table = measured()
    for name in METHODS:
        section = re.compile(
            rf"(^##+ {name}\n(?:(?!^##? ).*\n)*?)^\*\*Costs\.\*\*.*\n", re.MULTILINE
        )
        line = f"**Costs.** {_words(table[name])}\n" if name in table else "**Costs.**\n"
        page = section.sub(lambda found, line=line: found[1] + line, page)
    return page


def _words(cells: list[str]) -> str:
    *sizes, megabytes, out = cells
    costs = [f"{n:,} rows: loss {cost}" for n, cost in zip(SIZES, sizes, strict=True) if cost]
    left = f", {out} rows left out" if out else ""
    return f"{'; '.join(costs)}, {megabytes} MB{left}. [How it was measured](index.md#costs)."


def draw(table: dict[str, list[str]]) -> Any:
    """Draw loss against time for every method that ran on the whole table."""
    import altair as alt

    points = []
    for name, (*_, whole, _megabytes, _out) in table.items():
        method, options = name.partition("`")[::2]
        if whole and method != "auto":  # the method that it chose has a dot already
            loss, seconds = re.findall(r"[\d.]+", whole)
            points.append(
                {
                    "label": "mondrian, no hierarchies" if options else method,
                    "family": FAMILIES[METHODS[method].__module__.split(".")[-2]],
                    "loss": float(loss),
                    "seconds": float(seconds),
                    "left": method in LEFT,
                }
            )
    low = alt.Axis(values=[0.1, 0.3, 1, 3, 10, 30, 100], format="~g", grid=True)
    x = alt.X("seconds:Q", title="CPU seconds", axis=low).scale(type="log", padding=30)
    y = alt.Y("loss:Q", title="loss (ncp)").scale(type="log", domain=[0.01, 1])
    y = y.axis(values=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], format="~g")
    colour = alt.Color("family:N", title="publishes").scale(
        domain=list(FAMILIES.values()), range=["#2a7f9e", "#d0743c", "#6f4fa0"]
    )
    base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y)
    dots = base.mark_circle(size=70, opacity=1).encode(color=colour)
    words = [
        base.transform_filter(side).mark_text(align=align, dx=dx, dy=dy, fontSize=12)
        for side, align, dx, dy in (
            ("!datum.left", "left", 8, -5),
            ("datum.left", "right", -8, 5),
        )
    ]
    title = alt.TitleParams(
        f"{SIZES[-1]:,} people, k = 5: loss and time of each method",
        subtitle="Left and low is better. Both scales are logarithmic.",
    )
    layers = alt.layer(dots, *(each.encode(text="label:N") for each in words))
    return styled(layers.properties(width=600, height=360, title=title))


if __name__ == "__main__":
    main()
