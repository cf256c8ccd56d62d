"""What the metrics study was found to say, claim by claim, held against our figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from shoal.experiments.metrics_vs_utility import published
from shoal.experiments.metrics_vs_utility.releases import METRICS, UTILITIES
from shoal.experiments.metrics_vs_utility.singles import ITSELF, RANDOM, values
from shoal.experiments.page import Verdict
from shoal.experiments.runs import Row, groups

Judged = tuple[bool | None, str]
_CLOSE = 0.05  # rates that differ by no more are called the same


@dataclass(frozen=True)
class Found:
    """All that the study found; each list has the rows of one table or figure."""

    rows: Sequence[Row]
    singles: Sequence[Row]
    tied: Sequence[Row]
    effects: Sequence[Row]
    lines: Sequence[Row]
    lines_by_algorithm: Sequence[Row]
    said: Sequence[Row]
    home: Sequence[Row]
    algorithms: Sequence[Row]
    tables: Sequence[Row]
    utilities: Sequence[Row]

    def of_table(self, table: str) -> list[Row]:
        """Return the rates of the metrics on one table, without chance and utility itself."""
        return [r for r in self.singles if r["table"] == table and r["metric"] in METRICS]

    @property
    def tables_there(self) -> list[str]:
        """The tables of this run."""
        return list(dict.fromkeys(row["table"] for row in self.rows))


@dataclass(frozen=True)
class Claim:
    """A sentence of the study, or of ours, and how it is judged."""

    figure: str
    text: str
    judged: Callable[[Found], Judged]

    def judge(self, found: Found) -> Verdict:
        """Hold the claim against what was found."""
        holds, told = self.judged(found)
        return Verdict(self.text, holds, told)


def _crossing(found: Found) -> Judged:
    """Count the panels in which the lines of some tables rise and those of others fall."""
    named = ("hellinger", "information-loss", "squared-distance-error")
    share = {name: _mixed(found.lines, name, "utility") for name in METRICS}
    if len(found.tables_there) < 2:
        return None, "needs more than one table"
    told = ", ".join(f"{name} {share[name]:.0%}" for name in METRICS)
    return fmean(share[name] for name in named) > 0.5, f"panels with lines both ways: {told}"


def _between_algorithms(metric: str, *, agree: bool) -> Callable[[Found], Judged]:
    def judged(found: Found) -> Judged:
        share = _mixed(found.lines_by_algorithm, metric, "utility", "table")
        told = f"{share:.0%} of tables and utilities have lines both ways"
        return share < 0.25 if agree else share > 0.5, told

    return judged


def _mixed(lines: Sequence[Row], metric: str, *by: str) -> float:
    same = [line for line in lines if line["metric"] == metric]
    signs = [{line["slope"] > 0 for line in part if line["slope"]} for _, part in groups(same, *by)]
    return fmean(len(each) == 2 for each in signs)


def _predicts(found: Found) -> Judged:
    """Fit what was found over what was predicted, model by model."""
    slopes, correlations = [], []
    for _, part in groups(found.said, "table", "algorithm", "utility"):
        said, true = values(part, "predicted"), values(part, "found")
        if said.std() > 1e-9 and true.std() > 1e-9:
            correlation = float(np.corrcoef(said, true)[0, 1])
            correlations.append(correlation)
            slopes.append(correlation * float(true.std() / said.std()))
    if not slopes:
        return None, "nothing varies"
    slope, correlation = float(np.median(slopes)), float(np.median(correlations))
    told = f"median slope {slope:.2f}, median correlation {correlation:.2f} over {len(slopes)}"
    return 0.7 <= slope <= 1.3, told


def _apart(found: Found) -> Judged:
    same = [_overlap(found.rows, m, "datafly", "datafly-shuffled") for m in METRICS]
    other = [_overlap(found.rows, m, "datafly", "mondrian") for m in METRICS]
    told = (
        f"mean overlap of the spreads: {fmean(same):.2f} between the two Datafly, "
        f"{fmean(other):.2f} between Datafly and Mondrian"
    )
    return fmean(same) > 0.5 and fmean(other) < 0.2, told


def _overlap(rows: Sequence[Row], name: str, one: str, other: str) -> float:
    """Return the mean over tables of what two histograms have in common, 0 to 1."""
    shares = []
    for _, part in groups(rows, "table"):
        by = {algorithm: values(cell, name) for (algorithm,), cell in groups(part, "algorithm")}
        both = np.concatenate([by[one], by[other]])
        edges = np.linspace(both.min(), both.max() + 1e-12, 11)
        counts = [np.histogram(by[each], edges)[0] / len(by[each]) for each in (one, other)]
        shares.append(float(np.minimum(*counts).sum()))
    return fmean(shares)


def _means(found: Found) -> dict[str, dict[str, float]]:
    return {
        table: {
            algorithm: fmean(row[utility] for row in cell for utility in UTILITIES)
            for (algorithm,), cell in groups(part, "algorithm")
        }
        for (table,), part in groups(found.rows, "table")
    }


def _mondrian_leads(found: Found) -> Judged:
    means = _means(found)
    told = "; ".join(f"{t}: {m['mondrian']:.3f} over {m['datafly']:.3f}" for t, m in means.items())
    return all(m["mondrian"] > m["datafly"] for m in means.values()), f"mean utility {told}"


def _shuffling_costs_nothing(found: Found) -> Judged:
    means = _means(found)
    told = "; ".join(
        f"{table}: {m['datafly']:.3f} ordered, {m['datafly-shuffled']:.3f} shuffled"
        for table, m in means.items()
    )
    near = all(m["datafly"] - m["datafly-shuffled"] < 0.02 for m in means.values())
    return near, f"mean utility {told}"


def _largest(found: Found) -> Judged:
    order = [row["metric"] for row in found.effects]
    named = {"average-class-size", "granularity", "discernibility"}
    told = f"ours, largest first: {', '.join(order)}"
    return named <= set(order[:4]), told


def _trailing(found: Found) -> Judged:
    order = [row["metric"] for row in found.effects]
    last = {"hellinger", "bivariate-correlation", "squared-distance-error"}
    return last <= set(order[-5:]), f"the last five here: {', '.join(order[-5:])}"


def _modest(found: Found) -> Judged:
    rows = [row for row in found.singles if row["metric"] in METRICS and row["table"] != "heart"]
    known = [row for row in rows if row["rate"] is not None]
    if not known:
        return None, "no pair counts"
    best, worst = (pick(known, key=lambda row: row["rate"]) for pick in (max, min))
    told = "; ".join(
        f"{each['table']}, {each['metric']}: {each['rate']:.3f}" for each in (worst, best)
    )
    holds = worst["rate"] >= 0.55 - _CLOSE and best["rate"] <= 0.72 + _CLOSE
    return holds, f"least and most: {told}"


def _heart_stands_out(found: Found) -> Judged:
    if "heart" not in found.tables_there or len(found.tables_there) < 2:
        return None, "needs heart and another table"
    ours = {t: _mean_of(found.of_table(t), "rate") for t in found.tables_there}
    ties = _mean_of(found.of_table("heart"), "ties right")
    tied = fmean(row["tied"] for row in found.tied if row["table"] == "heart")
    told = ", ".join(f"{table} {rate:.3f}" for table, rate in ours.items())
    return max(ours, key=lambda t: ours[t]) == "heart", (
        f"mean over metrics: {told}; on heart {tied:.0%} of pairs have equal utility, and if ties "
        f"counted as right its mean would be {ties:.3f} (published "
        f"{fmean(published.SINGLE['heart'].values()):.3f})"
    )


def _mean_of(rows: Sequence[Row], name: str) -> float:
    return fmean(row[name] for row in rows if row[name] is not None)


def _near_published(found: Found) -> Judged:
    """Compare rate by rate; the verdict asks for most to be close."""
    pairs = [r for r in found.singles if r["published"] is not None and r["rate"] is not None]
    off = [row["rate"] - row["published"] for row in pairs]
    inside = sum(row["low"] <= row["published"] <= row["high"] for row in pairs)
    close = sum(abs(each) <= _CLOSE for each in off)
    told = (
        f"{close} of {len(off)} within {_CLOSE}; {inside} published rates lie in our interval; "
        f"ours are {fmean(off):+.3f} on the mean"
    )
    return close > len(off) / 2, told


def _references(found: Found) -> Judged:
    chance = [r["rate"] for r in found.singles if r["metric"] == RANDOM and r["rate"] is not None]
    itself = [r["rate"] for r in found.singles if r["metric"] == ITSELF and r["rate"] is not None]
    told = f"random {', '.join(f'{each:.3f}' for each in chance)}; utility itself {itself}"
    return all(abs(each - 0.5) < 0.1 for each in chance) and set(itself) == {1.0}, told


def _better_than_single(found: Found) -> Judged:
    told, holds = [], []
    for row in found.home:
        if row["rate"] is None:
            continue
        single = _mean_of(found.of_table(row["table"]), "rate")
        told.append(f"{row['table']}: {row['rate']:.3f} against {single:.3f}")
        holds.append(row["rate"] > single)
    return (all(holds) if holds else None), "; ".join(told)


def _no_leap(found: Found) -> Judged:
    gains = [
        row["rate"] - max(r["rate"] for r in found.of_table(row["table"]) if r["rate"] is not None)
        for row in found.home
        if row["rate"] is not None
    ]
    if not gains:
        return None, "no pair counts"
    told = ", ".join(f"{each:+.3f}" for each in gains)
    return all(gain < 0.10 for gain in gains), f"against each table's best single metric: {told}"


def _transfer_limit(name: str, limit: float) -> Callable[[Found], Judged]:
    def judged(found: Found) -> Judged:
        rows = [row for row in getattr(found, name) if row["rate"] is not None]
        if not rows:
            return None, "needs more than one"
        best = max(rows, key=lambda row: row["rate"])
        told = f"most: {best['used']} on {best['on']}, {best['rate']:.3f}"
        mean, home = _mean_of(rows, "rate"), _mean_of(found.home, "rate")
        return best["rate"] <= limit, f"{told}; mean {mean:.3f}, at home {home:.3f}"

    return judged


def _datafly_exchange(found: Found) -> Judged:
    rate = {(r["used"], r["on"]): r["rate"] for r in found.algorithms}
    within = [rate["datafly", "datafly-shuffled"], rate["datafly-shuffled", "datafly"]]
    across = [value for (used, on), value in rate.items() if "mondrian" in (used, on)]
    if None in (*within, *across):
        return None, "some rates are not defined"
    told = f"between the two Datafly {fmean(within):.3f}, to and from Mondrian {fmean(across):.3f}"
    return fmean(within) > fmean(across), told


CLAIMS = (
    Claim(
        "4.1",
        "Lines of Hellinger, information loss and squared distance cross: no two tables agree",
        _crossing,
    ),
    Claim("4.3", "Both Datafly overlap in every metric, Mondrian stands apart", _apart),
    Claim("4.5", "Mondrian's releases are of more use than Datafly's", _mondrian_leads),
    Claim("4.5", "Shuffled trees cost no utility", _shuffling_costs_nothing),
    Claim(
        "4.6", "Its lines agree between algorithms", _between_algorithms("granularity", agree=True)
    ),
    Claim("4.7", "Its lines do not agree", _between_algorithms("hellinger", agree=False)),
    Claim("4.8", "Class size, granularity and discernibility weigh most", _largest),
    Claim("4.8", "Hellinger, bivariate correlation and squared distance trail", _trailing),
    Claim("4.9", "Most predictions lie along the line of equality", _predicts),
    Claim(
        "Table 4.1",
        "Apart from heart, a metric is right on .55 to .72 of pairs (give or take .05)",
        _modest,
    ),
    Claim("Table 4.1", "Every metric is at its best on heart", _heart_stands_out),
    Claim("Table 4.1", "Rate by rate, the published table", _near_published),
    Claim(
        "Table 4.1", "Ours: chance is right half of the time, utility itself always", _references
    ),
    Claim("Table 4.2", "It is right more often than the mean metric", _better_than_single),
    Claim("Table 4.2", "It gains less than .10 on the best single metric", _no_leap),
    Claim(
        "Table 4.3",
        "The two Datafly exchange Meta-Metrics better than either with Mondrian",
        _datafly_exchange,
    ),
    Claim(
        "Table 4.3",
        "None does better than .823 on another algorithm",
        _transfer_limit("algorithms", 0.823),
    ),
    Claim(
        "Table 4.4", "None does better than .781 on another table", _transfer_limit("tables", 0.781)
    ),
    Claim(
        "Table 4.5",
        "None does better than .727 on another utility",
        _transfer_limit("utilities", 0.727),
    ),
)
