"""The sections of the learning study: tidy rows, charts and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from studies.claims import judge_figure
from studies.lattice import charts, deltas, published, six
from studies.lattice.claims import CLAIMS
from studies.lattice.guesses import CLAIMS as MORE_CLAIMS
from studies.lattice.guesses import ways
from studies.lattice.nodes import EPSILONS, PENALTIES
from studies.marks import OURS, THEIRS
from studies.page import Drawn, Picture, Section
from studies.runs import Row, groups
from studies.verdicts import estimate_mean


def sections_of(out: Path, rows: Sequence[Row]) -> list[Drawn]:
    """Write a CSV and a picture for each section; returns them drawn, empty ones left out."""
    claims = (*CLAIMS, *MORE_CLAIMS, *six.CLAIMS, *deltas.CLAIMS)
    return [
        section.draw(out, judge_figure(claims, section.name, rows), ".4g").unless_longer(60)
        for section in _sections(rows)
        if section.rows
    ]


def _sections(rows: Sequence[Row]) -> list[Section]:
    learned = summarised([r for r in rows if r["part"] == "learning"])
    good = _good(rows)
    first = [r for r in good if r["table"] != "census-income"]
    second = [r for r in good if r["table"] == "census-income"]
    best = _averaged(
        [r for r in rows if r["part"] == "best"],
        ("table", "lattice", "score", "nodes"),
        ("chance", "second", "suppression", "seconds"),
    )
    guessed = _averaged(
        ways(rows),
        ("table", "attributes", "score", "way"),
        ("guessed", "mean off", "most off", "variation", "good", "good, guessed", "same best"),
    )
    times, both = _times(rows), _both(rows)
    delta_heads = ["k", "beta", "as printed", "printed", "published", "tight"]
    here = [r for r in guessed if len(guessed) <= 12 or r["attributes"] in (6, 10)]
    heads = ["table", "method", "accuracy", "low", "high", "published", "auc", "rows", "columns"]
    return [
        Section("Table 5.6", "Accuracy (with table 5.4)", learned,
                [Picture(charts.accuracies(_with_published(learned, "accuracy")),
                         "Accuracy, ε = 1.704 in all")], heads),
        Section("Table 5.1", "δ by k and β, adult", deltas.delta_rows(rows, "adult"),
                heads=delta_heads),
        Section("Table 5.2", "Accuracy with six attributes", six.six_rows(rows), heads=[
            "table", "method", "accuracy", "low", "high", "published", "rows", "columns"]),
        Section("Table 5.5", "δ by k and β, the second table", deltas.delta_rows(rows, "ipums"),
                heads=delta_heads),
        Section("Table 5.7", "Time", learned,
                [Picture(charts.seconds(_with_published(learned, "seconds")),
                         "Time of release and fit")],
                ["table", "method", "seconds", "published seconds", "columns",
                 "published columns"]),
        Section("5.1", "The probability of good nodes", first,
                [_good_nodes(first, 0.15), _good_nodes(first, 0.05, "b.svg")]),
        Section("5.5", "The probability of good nodes on the second table", second,
                [_good_nodes(second, 0.15)]),
        Section("A", "The most likely node at ε′ = 0.1, penalty 1", best,
                [Picture(charts.best_nodes(best), "The most likely node")],
                ["table", "lattice", "score", "nodes", "chance", "second", "suppression",
                 "seconds"]),
        Section("5.3", "Guessed scores (figures 5.2 to 5.4, table 5.3)", guessed,
                [Picture(charts.lattice_times(times), "Scoring a lattice"),
                 Picture(charts.variations(here), "Share of draws that guessing changes", "b.svg")],
                ["table", "attributes", "score", "way", "guessed", "mean off", "most off",
                 "variation", "good", "good, guessed", "same best"]),
        Section("B", "Both mechanisms from one budget, ε = 1.704 in all", both,
                [Picture(charts.shared_budget(both), "Half of ε each")],
                ["table", "from", "accuracy", "epsilon", "delta", "seed"]),
    ]  # fmt: skip


def _good_nodes(rows: Sequence[Row], shortfall: float, ending: str = ".svg") -> Picture:
    chosen = [row for row in rows if row["shortfall"] == shortfall]
    title = f"Less than {100 * shortfall:g} % suppressed, g below 0.6"
    return Picture(charts.good_nodes(chosen), title, ending)


def summarised(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each table and method: means, and 95 % intervals of the accuracy."""
    found = []
    for (table, method), runs in groups(rows, "table", "method"):
        values = [run["accuracy"] for run in runs]
        mean = estimate_mean(values)
        row: Row = {"table": table, "method": method, "runs": len(runs)}
        row |= {"accuracy": mean.value, "low": None, "high": None}
        if len(runs) > 1:
            row |= {"low": mean.low, "high": mean.high}
        for name in ("auc", "rows", "columns", "seconds"):
            known = [run[name] for run in runs if run[name] is not None]
            row[name] = fmean(known) if known else None
        row["published"] = published.ACCURACY.get(table, {}).get(method)
        row["published seconds"] = published.SECONDS.get(table, {}).get(method)
        row["published columns"] = published.COLUMNS.get(method) if table == "adult" else None
        found.append(row)
    return found


def _with_published(rows: Sequence[Row], what: str) -> list[Row]:
    """Return the rows of a chart: ours, and published figures of the same table."""
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


def _averaged(rows: Sequence[Row], by: Sequence[str], what: Sequence[str]) -> list[Row]:
    """Return the mean of some fields over draws, for each group of rows."""
    found = []
    for values, part in groups(rows, *by):
        labels = dict(zip(by, values, strict=True))
        means = {name: fmean(float(row[name]) for row in part) for name in what}
        found.append({**labels, **means, "draws": len(part)})
    return found


def _good(rows: Sequence[Row]) -> list[Row]:
    every = [
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
    by = ("table", "attributes", "nodes", "score", "shortfall", "epsilon", "penalty")
    return _averaged(every, by, ("chance",))


def _times(rows: Sequence[Row]) -> list[Row]:
    """Return seconds by lattice and way of counting, with the published ones of adult."""
    found = []
    measured = _averaged(
        [row for row in rows if row["part"] == "time"],
        ("table", "attributes", "nodes"),
        ("pass", "singly", "singly, half guessed"),
    )
    for row in measured:
        labels = {"table": row["table"], "attributes": row["attributes"], "nodes": row["nodes"]}
        if row["table"] == "adult" or len({r["table"] for r in measured}) == 1:
            for how in ("pass", "singly", "singly, half guessed"):
                name = {"pass": "one pass", "singly": "one by one"}.get(how, how)
                name = name.replace("singly", "one by one")
                found.append({**labels, "how": name, "whose": OURS, "seconds": row[how]})
            if row["table"] == "adult":
                pair = published.LATTICE_SECONDS[row["attributes"]]
                for name, value in zip(
                    ("one by one", "one by one, half guessed"), pair, strict=True
                ):
                    how = f"{name}, published"
                    found.append({**labels, "how": how, "whose": THEIRS, "seconds": value})
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
