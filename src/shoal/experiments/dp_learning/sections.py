"""The sections of the learning study: rows made tidy, drawn, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from shoal.experiments.claims import half_width
from shoal.experiments.dp_learning import charts, published
from shoal.experiments.dp_learning.charts import OURS, THEIRS
from shoal.experiments.dp_learning.claims import CLAIMS
from shoal.experiments.dp_learning.guesses import CLAIMS as MORE_CLAIMS
from shoal.experiments.dp_learning.guesses import ways
from shoal.experiments.dp_learning.nodes import EPSILONS, PENALTIES
from shoal.experiments.page import Drawn, Section, write_csv
from shoal.experiments.runs import Row, groups


def sections_of(out: Path, rows: Sequence[Row]) -> list[Drawn]:
    """Write a CSV and a picture for each section; returns them drawn, empty ones left out."""
    drawn = []
    for name, title, tidy, pictures, columns in _parts(rows):
        if not tidy:
            continue
        verdicts = [c.judge(rows) for c in (*CLAIMS, *MORE_CLAIMS) if c.figure == name]
        section = Section(name, title, tidy, ("", None), verdicts)
        write_csv(out, section)
        shown = [
            charts.save(out, f"{name}{'bcd'[i - 1] if i else ''}", chart, told)
            for i, (chart, told) in enumerate(pictures)
        ]
        cells = [[_told(row.get(head)) for head in columns] for row in tidy]
        drawn.append(Drawn(section, shown, columns, cells if len(cells) <= 60 else []))
    return drawn


def _parts(rows: Sequence[Row]) -> list[tuple[str, str, list[Row], list[Any], list[str]]]:
    learned = summarised([r for r in rows if r["part"] == "learning"])
    good = _good(rows)
    first = [r for r in good if r["table"] != "census-income"]
    second = [r for r in good if r["table"] == "census-income"]
    best = [r for r in rows if r["part"] == "best"]
    times, guessed, both = _times(rows), ways(rows), _both(rows)
    here = [r for r in guessed if len(guessed) <= 12 or r["attributes"] in (6, 10)]
    heads = ["table", "method", "accuracy", "low", "high", "published", "auc", "rows", "columns"]
    return [
        ("5.6", "What is learned (tables 5.2, 5.4, 5.6)", learned,
         [(charts.accuracies(_with_published(learned, "accuracy")), "Accuracy, ε = 1.704 in all")],
         heads),
        ("5.7", "What it takes (table 5.7)", learned,
         [(charts.seconds(_with_published(learned, "seconds")), "Time of release and fit")],
         ["table", "method", "seconds", "published seconds", "columns", "published columns"]),
        ("5.1", "The chance of good nodes", first,
         [(charts.good_nodes([r for r in first if r["shortfall"] == s]),
           f"Less than {100 * s:g} % suppressed, g below 0.6") for s in (0.15, 0.05)],
         []),
        ("5.5", "The chance of good nodes on the second table", second,
         [(charts.good_nodes([r for r in second if r["shortfall"] == 0.15]),
           "Less than 15 % suppressed, g below 0.6")],
         []),
        ("A", "The most likely node at ε′ = 0.1, penalty 1", best,
         [(charts.best_nodes([{**r, "lattice": f"{r['table']}, {r['lattice']}"} for r in best]),
           "The most likely node")],
         ["table", "lattice", "score", "nodes", "chance", "second", "suppression", "seconds"]),
        ("5.3", "Guessed scores (figures 5.2 to 5.4, table 5.3)", guessed,
         [(charts.lattice_times(times), "Scoring a lattice"),
          (charts.variations(here), "Draws that guessing moves")],
         ["table", "attributes", "score", "way", "guessed", "mean off", "most off", "variation",
          "good", "good, guessed", "same best"]),
        ("B", "Both mechanisms in a row, ε = 1.704 in all", both,
         [(charts.shared_budget(both), "Half of ε each")],
         ["table", "from", "accuracy", "epsilon", "delta", "seed"]),
    ]  # fmt: skip


def summarised(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each table and method: means, and 95 % intervals of the accuracy."""
    found = []
    for (table, method), runs in groups(rows, "table", "method"):
        values = [run["accuracy"] for run in runs]
        middle, half = fmean(values), half_width(values)
        row: Row = {"table": table, "method": method, "runs": len(runs), "accuracy": middle}
        row |= {"low": middle - half, "high": middle + half}
        for name in ("auc", "rows", "columns", "seconds"):
            known = [run[name] for run in runs if run[name] is not None]
            row[name] = fmean(known) if known else None
        row["published"] = published.ACCURACY.get(table, {}).get(method)
        row["published seconds"] = published.SECONDS.get(table, {}).get(method)
        row["published columns"] = published.COLUMNS.get(method) if table == "adult" else None
        found.append(row)
    return found


def _with_published(rows: Sequence[Row], what: str) -> list[Row]:
    """Return what is drawn: ours, and published figures where they are of the same table."""
    names = {"accuracy": "published", "seconds": "published seconds"}
    drawn: list[Row] = []
    for row in rows:
        if row[what]:
            drawn.append({**row, "whose": OURS})
        theirs = row[names[what]]
        if theirs is not None and (what == "seconds" or row["table"] == "adult"):
            kept = {"table": row["table"], "method": row["method"], "whose": THEIRS}
            drawn.append({**kept, what: theirs})
    return drawn


def _good(rows: Sequence[Row]) -> list[Row]:
    return [
        {
            **{n: row[n] for n in ("table", "attributes", "nodes", "score")},
            "shortfall": float(shortfall),
            "epsilon": epsilon,
            "penalty": penalty,
            "chance": chance,
        }
        for row in rows
        if row["part"] == "good"
        for shortfall, grid in row["mass"].items()
        for epsilon, line in zip(EPSILONS, grid, strict=True)
        for penalty, chance in zip(PENALTIES, line, strict=True)
    ]


def _times(rows: Sequence[Row]) -> list[Row]:
    """Return seconds by lattice and way of counting, with the published ones of adult."""
    found = []
    for row in rows:
        if row["part"] != "time":
            continue
        told = {"table": row["table"], "attributes": row["attributes"], "nodes": row["nodes"]}
        if row["table"] == "adult" or len({r["table"] for r in rows}) == 1:
            for how in ("pass", "singly", "singly, half guessed"):
                name = {"pass": "one pass", "singly": "one by one"}.get(how, how)
                name = name.replace("singly", "one by one")
                found.append({**told, "how": name, "whose": OURS, "seconds": row[how]})
            if row["table"] == "adult":
                pair = published.LATTICE_SECONDS[row["attributes"]]
                for name, value in zip(
                    ("one by one", "one by one, half guessed"), pair, strict=True
                ):
                    how = f"{name}, published"
                    found.append({**told, "how": how, "whose": THEIRS, "seconds": value})
    return found


def _both(rows: Sequence[Row]) -> list[Row]:
    return [
        {
            "table": row["table"],
            "seed": row["seed"],
            "from": f"the {what}",
            "accuracy": row[f"from the {what}"],
            **{n: row[n] for n in ("k", "table epsilon", "table delta", "epsilon", "delta")},
        }
        for row in rows
        if row["part"] == "row"
        for what in ("table", "regression")
    ]


def _told(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
