"""Questions about rates: how often a metric, or a Meta-Metric, names the better of two releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from studies.claims import Answer
from studies.metrics import published
from studies.metrics.found import Found
from studies.metrics.releases import METRICS
from studies.metrics.singles import ITSELF, RANDOM
from studies.runs import Row

_CLOSE = 0.05  # rates that differ by no more are called the same


def modest(found: Found) -> Answer:
    """Ask whether all rates lie in the published range, heart left out."""
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


def heart_stands_out(found: Found) -> Answer:
    """Ask whether metrics are right most often on heart."""
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


def near_published(found: Found) -> Answer:
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


def references(found: Found) -> Answer:
    """Ask whether chance and utility itself are right as often as they must be."""
    chance = [r["rate"] for r in found.singles if r["metric"] == RANDOM and r["rate"] is not None]
    itself = [r["rate"] for r in found.singles if r["metric"] == ITSELF and r["rate"] is not None]
    told = f"random {', '.join(f'{each:.3f}' for each in chance)}; utility itself {itself}"
    return all(abs(each - 0.5) < 0.1 for each in chance) and set(itself) == {1.0}, told


def better_than_single(found: Found) -> Answer:
    """Ask whether Meta-Metrics are right more often than the mean metric."""
    told, holds = [], []
    for row in found.home:
        if row["rate"] is None:
            continue
        single = _mean_of(found.of_table(row["table"]), "rate")
        told.append(f"{row['table']}: {row['rate']:.3f} against {single:.3f}")
        holds.append(row["rate"] > single)
    return (all(holds) if holds else None), "; ".join(told)


def no_leap(found: Found) -> Answer:
    """Ask whether Meta-Metrics gain little on each table's best metric."""
    gains = [
        row["rate"] - max(r["rate"] for r in found.of_table(row["table"]) if r["rate"] is not None)
        for row in found.home
        if row["rate"] is not None
    ]
    if not gains:
        return None, "no pair counts"
    told = ", ".join(f"{each:+.3f}" for each in gains)
    return all(gain < 0.10 for gain in gains), f"against each table's best single metric: {told}"


def transfer_limit(name: str, limit: float) -> Callable[[Found], Answer]:
    """Ask whether no Meta-Metric does better elsewhere than was published."""

    def judged(found: Found) -> Answer:
        rows = [row for row in getattr(found, name) if row["rate"] is not None]
        if not rows:
            return None, "needs more than one"
        best = max(rows, key=lambda row: row["rate"])
        told = f"most: {best['used']} on {best['on']}, {best['rate']:.3f}"
        mean, home = _mean_of(rows, "rate"), _mean_of(found.home, "rate")
        return best["rate"] <= limit, f"{told}; mean {mean:.3f}, at home {home:.3f}"

    return judged


def datafly_exchange(found: Found) -> Answer:
    """Ask whether Meta-Metrics carry over better between the two Datafly."""
    rate = {(r["used"], r["on"]): r["rate"] for r in found.algorithms}
    within = [rate["datafly", "datafly-shuffled"], rate["datafly-shuffled", "datafly"]]
    across = [value for (used, on), value in rate.items() if "mondrian" in (used, on)]
    if None in (*within, *across):
        return None, "some rates are not defined"
    told = f"between the two Datafly {fmean(within):.3f}, to and from Mondrian {fmean(across):.3f}"
    return fmean(within) > fmean(across), told
