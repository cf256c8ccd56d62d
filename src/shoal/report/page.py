"""The report as a printable HTML page: one file without scripts or external resources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

MAX_MATRIX_COLUMNS = 12  # more do not fit on paper
MAX_PAIRS = 25
_ROLES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "weight": "sampling weight",
    None: "none",
}


def page(report: dict[str, Any]) -> str:
    """Return the contents of a report as an HTML page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("shoal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": count, "percent": percent, "figure": figure}
    environment.filters |= {"loss": partial(places, 3), "tenth": partial(places, 1), "odds": odds}
    environment.filters["sentence"] = sentence
    if report["format"]["name"] == "shoal-robust-report":
        from shoal.report.robust_charts import charts

        return environment.get_template("robust.html").render(report=report, charts=charts(report))
    if "claims" in report:
        return environment.get_template("withheld.html").render(report=report, roles=_ROLES)
    return environment.get_template("report.html").render(
        report=report,
        roles=_ROLES,
        matrix=matrix(report["correlations"]["pairs"]),
        changed=changed(report["correlations"]["pairs"]),
        bars=bars(report["risk"]["sizes"]),
    )


def verdict(released: str, models: Sequence[Any], warnings: Sequence[str] = ()) -> str:
    """Return the conclusion of the report in two sentences.

    released: what is released, as a clause; models: the parts of the guarantee; warnings: risks
    outside the guarantee that affect many people, as clauses.
    """
    if not models:
        return " ".join([f"{released}, without a guarantee.", *map(sentence, warnings)])
    conclusion = (
        f"{released}, under {' and '.join(map(in_words, models))}. We regrouped the released rows "
        "and checked the guarantee: it holds"
    )
    if not warnings:
        return f"{conclusion}."
    on = "" if any(model.columns for model in models) else " on the quasi-identifiers"
    return f"{conclusion}{on}, but {'; '.join(warnings)}."


def sentence(clause: str) -> str:
    """Return a clause with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def in_words(model: Any) -> str:
    """Return a model with its parameters in words."""
    inside = [
        f"column {value}" if name == "column" else f"{name} = {value}"
        for name, value in model.options.items()
    ]
    return f"{model.name} ({', '.join(inside)})"


def count(value: int | str | None) -> str:
    """Return a count with thousands separators; a count given in words is returned unchanged."""
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:,}"


def percent(value: float | None) -> str:
    """Return a share as a percentage."""
    if value is None:
        return "–"
    return "< 0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def figure(value: float | None) -> str:
    """Return a number; whole numbers have no decimal places."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def odds(value: float | None) -> str:
    """Return the n of "1 in n": a whole number, or one decimal place."""
    return figure(value) if value is None or value.is_integer() else f"{value:,.1f}"


def places(number: int, value: float | None) -> str:
    """Return a value with a fixed number of decimal places."""
    return "–" if value is None else f"{value:,.{number}f}"


def matrix(pairs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return correlations as rows of cells: original below the diagonal, released above it.

    None if there are too many columns for a matrix.
    """
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["first"], pair["second"])))
    if not pairs or len(names) > MAX_MATRIX_COLUMNS:
        return None
    by_names = {(pair["first"], pair["second"]): pair for pair in pairs}
    rows = []
    for i, row in enumerate(names):
        cells = []
        for j, column in enumerate(names):
            pair = by_names.get((row, column) if i < j else (column, row))
            side = "after" if i < j else "before"
            value = None if pair is None else pair[side]
            shade = 0 if value is None else min(int(abs(value) * 5 + 0.5), 5)
            cells.append({"value": value, "shade": shade})
        rows.append({"name": row, "cells": cells})
    return {"names": names, "rows": rows}


def changed(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pairs whose correlation changed most."""
    order = sorted(pairs, key=lambda pair: -abs(pair["before"] - pair["after"]))
    return order[:MAX_PAIRS]


def bars(sizes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the bars of the histogram of class sizes: positions, heights and labels."""
    if not sizes:
        return None
    width, height, gap = 640.0, 150.0, 4.0
    step, most = width / len(sizes), max(bar["number"] for bar in sizes)
    shown = []
    for at, bar in enumerate(sizes):
        tall = height * bar["number"] / max(most, 1)
        shown.append(
            {
                "x": round(at * step + gap / 2, 1),
                "y": round(height - tall + 20, 1),
                "width": round(min(step - gap, 70), 1),
                "height": round(tall, 1),
                "middle": round(at * step + gap / 2 + min(step - gap, 70) / 2, 1),
                "label": size_label(bar),
                "number": bar["number"],
            }
        )
    return {"bars": shown, "width": width, "height": height}


def size_label(bar: dict[str, Any]) -> str:
    """Return the label of a bar, thousands abbreviated: `2k–5k` excludes 5,000."""
    if bar["to"] is None:
        return f"{_short(bar['from'])}+"
    if bar["from"] == bar["to"]:
        return _short(bar["from"])
    whole = bar["from"] >= 1000 and (bar["to"] + 1) % 1000 == 0
    return f"{_short(bar['from'])}–{_short(bar['to'] + whole)}"


def _short(size: int) -> str:
    for unit, sign in ((1_000_000, "M"), (1000, "k")):
        if size >= unit and size % (unit // 10) == 0:
            return f"{size / unit:g}{sign}"
    return str(size)
