"""The sections of the metrics study: analysis, charts and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.claims import judge_figure
from studies.metrics import accuracy_by_k, charts, mondrians, published, singles, transfer
from studies.metrics.analysis import Analysis
from studies.metrics.claims import CLAIMS
from studies.metrics.meta import (
    FULL_SECONDS,
    SECONDS,
    SPLITS,
    STAND_IN,
    engine,
    meta_metrics,
)
from studies.metrics.predictive_rates import PREDICTIVE, predictive_rates
from studies.metrics.published import DEPARTURES
from studies.metrics.releases import ALGORITHMS, FOLDS, METRICS, UTILITIES
from studies.page import Picture, Section, write_page, write_rows
from studies.runs import Row, groups

_RATES = ["rate", "low", "high", "published"]
_ROWS = 80  # of a table that is shown
_RANKED = "Share of pairs ranked correctly"


def write_study(out: Path, every: Sequence[Row], by_k: Sequence[Row], *, full: bool) -> Path:
    """Analyse the releases; writes tables, pictures and the page, and returns the page.

    every: all releases. by_k: the runs of figure 3.4.
    """
    write_rows(out / "releases.csv", every)
    rows = [row for row in every if row["algorithm"] in ALGORITHMS]
    fits = meta_metrics(rows, out / "meta-metrics", full=full)
    found = Analysis(
        rows,
        singles.single_rates(rows),
        singles.tied_shares(rows),
        singles.effect_sizes(rows),
        singles.lines(rows, "table"),
        singles.lines(rows, "table", "algorithm"),
        transfer.predictions(rows, fits),
        transfer.at_home(rows, fits),
        transfer.to_algorithms(rows, fits),
        transfer.to_tables(rows, fits),
        transfer.to_utilities(rows, fits),
        by_k,
        [row for row in every if row["algorithm"] not in ALGORITHMS],
    )
    write_rows(out / "ties.csv", found.tied)
    drawn = [
        section.draw(out, judge_figure(CLAIMS, section.name, found), ".3f").unless_longer(_ROWS)
        for section in (*_sections(found), _beyond(rows, fits), mondrians.section_of(found))
        if section.rows
    ]
    return write_page(out, "Do metrics predict utility?", _about(rows, full), drawn)


def _about(rows: Sequence[Row], full: bool) -> str:
    cells = [part for _, part in groups(rows, "table", "algorithm")]
    drawn = {row["table"]: row["rows"] for row in rows if row["rows"] is not None}
    part = "".join(f"; of {table} {count:,} rows drawn at random" for table, count in drawn.items())
    if engine() == STAND_IN:
        search = (
            "FLAML is not installed (extra automl), so that ridge regression or gradient boosting "
            "stands in, whichever errs less in cross-validation"
        )
    else:
        search = f"FLAML searches {FULL_SECONDS if full else SECONDS:g} seconds for each"
    return (
        f"{len(rows):,} releases, {len(cells[0])} by each algorithm of each table{part}; "
        "k = 2 + Poisson(1), Mondrian with strict cuts at medians, as published, Datafly with its "
        "own limit of k suppressed records. Utility is what models trained on a release score on "
        f"raw rows, in {FOLDS} folds. A rate is the share of "
        "pairs in which the better score has the greater utility; pairs of equal utility do not "
        "count, equal scores count half; intervals are 95 %, over resampled releases. "
        f"Meta-Metrics: {search}; a tenth of the releases is held out, {SPLITS} times. Published "
        "are the figures of de Spoelberch (2020), with precision left out there and KL divergence "
        "added here. Permuted and shuffled releases are measured on the table's own order. "
        + " ".join(DEPARTURES.values())
    )


def _sections(found: Analysis) -> list[Section]:
    rows, half = found.rows, len(METRICS) // 2
    by_both, said = found.lines_by_algorithm, found.said
    by_table = "A line for each table"
    by_algorithm = "A line for each table and algorithm"
    shown = {
        name: charts.scatter(rows, by_both, [name], by_algorithm=True)
        for name in ("granularity", "hellinger")
    }
    pictures = {
        names: charts.scatter(rows, found.lines, names, by_algorithm=False)
        for names in (METRICS[:half], METRICS[half:])
    }
    spreads = [
        Picture(charts.histograms(rows, names), "Metrics by table and algorithm", end)
        for names, end in ((METRICS[:half], ".svg"), (METRICS[half:], "-more.svg"))
    ]
    appended = [name for name in METRICS if name in published.SINGLE["cmc"]]
    fit_heads = ["table", "metric", "utility", "slope"]
    return [
        accuracy_by_k.section_of(found.by_k),
        Section("4.1", "Utility over metrics (figures 4.1 and 4.2)", found.lines,
                [Picture(pictures[METRICS[:half]], by_table, ".png"),
                 Picture(pictures[METRICS[half:]], by_table, "-more.png")], fit_heads),
        Section("4.3", "Distributions of metrics (figures 4.3 and 4.4)",
                singles.long(rows, METRICS, "metric"), spreads),
        Section("4.5", "Distributions of utility", singles.long(rows, UTILITIES, "utility"),
                [Picture(charts.histograms(rows, UTILITIES), "Utility by table and algorithm")]),
        Section("4.6", "Utility over granularity", _of(by_both, "granularity"),
                [Picture(shown["granularity"], by_algorithm, ".png")], fit_heads),
        Section("4.7", "Utility over Hellinger distance", _of(by_both, "hellinger"),
                [Picture(shown["hellinger"], by_algorithm, ".png")], fit_heads),
        Section("A.1", "Utility over each metric (figures A.1 to A.11)",
                [line for line in by_both if line["metric"] in appended],
                [Picture(charts.scatter(rows, by_both, names, by_algorithm=True), by_algorithm, end)
                 for names, end in ((appended[:half], ".png"), (appended[half:], "-more.png"))],
                ["table", "algorithm", "metric", "utility", "slope"]),
        Section("4.8", "Effect sizes in linear regressions", found.effects,
                [Picture(charts.effects(found.effects),
                         "Mean size, 95 % interval over regressions")],
                ["metric", "effect", "low", "high", "alone", "regressions"]),
        Section("Table 4.1", "Which of two releases? By single metrics", found.singles,
                [Picture(charts.rates(found.singles, "metric", "table"), _RANKED)],
                ["table", "metric", *_RATES, "ties right"]),
        Section("4.9", "Utility as predicted by the Meta-Metric and as measured", said,
                [Picture(charts.predicted(said), "Analysis over predicted, releases held out",
                         ".png")]),
        Section("Table 4.2", "Which of two releases? By the Meta-Metric", found.home,
                [Picture(charts.rates(found.home, "table"), f"{_RANKED}, held out")],
                ["table", *_RATES]),
        *(
            Section(f"Table 4.{number}", f"Meta-Metrics on another {what}", rates,
                    [Picture(charts.rates(_named(rates), "from, to"), f"Used on another {what}")],
                    ["used", "on", *_RATES])
            for number, what, rates in ((3, "algorithm", found.algorithms),
                                        (4, "table", found.tables), (5, "utility", found.utilities))
        ),
    ]  # fmt: skip


def _beyond(rows: Sequence[Row], fits: Sequence[Row]) -> Section:
    """Return the rates of `predictive` beside all metrics, if the releases have it."""
    rates = predictive_rates(rows, fits) if PREDICTIVE in rows[0] else []
    bars = [{**row, "low": row["rate low"], "high": row["rate high"]} for row in rates]
    pictures = [Picture(charts.rates(bars, "metric", "table"), _RANKED)] if bars else []
    columns = ["table", "built on", "metric", *(f"{name}{end}" for name in ("rate", "ahead")
                                                for end in ("", " low", " high"))]  # fmt: skip
    return Section("A", "Which of two releases? By `predictive`", rates, pictures, columns)


def _of(rows: Sequence[Row], metric: str) -> list[Row]:
    return [row for row in rows if row["metric"] == metric]


def _named(rows: Sequence[Row]) -> list[Row]:
    return [{**row, "from, to": f"{row['used']} → {row['on']}"} for row in rows]
