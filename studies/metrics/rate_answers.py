"""Tests of claims on rates: how often a metric, or a Meta-Metric, names the better release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from studies.claims import Answer
from studies.metrics import published
from studies.metrics.analysis import Analysis
from studies.metrics.releases import METRICS
from studies.metrics.singles import ITSELF, RANDOM
from studies.runs import Row, groups
from studies.verdicts import (
    Estimate,
    above,
    all_of,
    at_most,
    average,
    below,
    between,
    decide,
    estimate_mean,
    exact,
    near,
)

CLOSE = 0.05  # rates that differ by no more count as equal
LEAP = 0.10  # the gain on the mean metric that is published as the most
_LEAST, _MOST = 0.55, 0.72  # published, of all metrics and tables except heart


def _rate(row: Row) -> Estimate:
    """Return the rate of a row with its interval over releases."""
    return Estimate(row["rate"], row["low"], row["high"], row["releases"])


def _known(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["rate"] is not None]


def modest(found: Analysis) -> Answer:
    """Test whether all rates lie in the published range, without heart."""
    rows = _known([r for r in found.singles if r["metric"] in METRICS and r["table"] != "heart"])
    if not rows:
        return "undecided", "no pair counts"
    best, worst = (pick(rows, key=lambda row: row["rate"]) for pick in (max, min))
    text = "; ".join(
        f"{each['table']}, {each['metric']}: {_rate(each).text()}" for each in (worst, best)
    )
    claimed = between(_LEAST - CLOSE, _MOST + CLOSE)
    return all_of(decide(_rate(row), claimed) for row in rows), f"least and most: {text}"


def heart_stands_out(found: Analysis) -> Answer:
    """Test whether every metric is right most often on heart."""
    if "heart" not in found.tables_there or len(found.tables_there) < 2:
        return "undecided", "needs heart and another table"
    gaps = []
    for _, part in groups(_known([r for r in found.singles if r["metric"] in METRICS]), "metric"):
        by_table = {row["table"]: _rate(row) for row in part}
        heart = by_table.pop("heart", None)
        if heart is not None and by_table:
            gaps.append(heart.minus(max(by_table.values(), key=lambda each: each.value)))
    means = {t: fmean(r["rate"] for r in _known(found.of_table(t))) for t in found.tables_there}
    ties = fmean(row["ties right"] for row in found.of_table("heart"))
    tied = fmean(row["tied"] for row in found.tied if row["table"] == "heart")
    text = ", ".join(f"{table} {rate:.3f}" for table, rate in means.items())
    return all_of(decide(gap, above(0)) for gap in gaps), (
        f"mean over metrics: {text}; on heart {tied:.0%} of pairs have equal utility, and if ties "
        f"count as right its mean is {ties:.3f} (published "
        f"{fmean(published.SINGLE['heart'].values()):.3f})"
    )


def near_published(found: Analysis) -> Answer:
    """Test the mean distance of the rates from the published ones."""
    rows = _known([row for row in found.singles if row["published"] is not None])
    off = [row["rate"] - row["published"] for row in rows]
    distance = estimate_mean([abs(each) for each in off])
    inside = sum(row["low"] <= row["published"] <= row["high"] for row in rows)
    return decide(distance, at_most(CLOSE)), (
        f"mean distance {distance.text()} over {len(off)} rates; {inside} published rates lie in "
        f"our interval; ours are {fmean(off):+.3f} on average"
    )


def references(found: Analysis) -> Answer:
    """Test whether a random score is right half of the time, and utility itself always."""
    chance = [_rate(r) for r in _known(found.singles) if r["metric"] == RANDOM]
    itself = [r["rate"] for r in _known(found.singles) if r["metric"] == ITSELF]
    decisions = [decide(each, near(0.5, 0.1)) for each in chance]
    decisions += [decide(exact(each), near(1, 0)) for each in itself]
    text = ", ".join(each.text() for each in chance)
    return all_of(decisions), f"random score {text}; utility itself {sorted(set(itself))}"


def better_than_single(found: Analysis) -> Answer:
    """Test whether Meta-Metrics are right more often than the mean metric."""
    gains = _gains_on_mean(found)
    return all_of(decide(gain, above(0)) for gain in gains.values()), "gain: " + _listed(gains)


def no_leap(found: Analysis) -> Answer:
    """Test whether Meta-Metrics gain little on the mean metric of each table."""
    gains = _gains_on_mean(found)
    theirs = {t: published.META[t] - fmean(published.SINGLE[t].values()) for t in gains}
    text = ", ".join(f"{table} {gain:+.3f}" for table, gain in theirs.items())
    return all_of(decide(gain, below(LEAP)) for gain in gains.values()), (
        f"gain on the mean metric: {_listed(gains)}; of the published tables: {text}"
    )


def better_than_best(found: Analysis) -> Answer:
    """Test whether Meta-Metrics are right more often than each table's best metric."""
    gains = {
        row["table"]: _rate(row).minus(
            max(_singles(found, row["table"]), key=lambda each: each.value)
        )
        for row in _known(found.home)
    }
    return all_of(decide(gain, above(0)) for gain in gains.values()), (
        f"gain on each table's best metric: {_listed(gains)}"
    )


def _gains_on_mean(found: Analysis) -> dict[str, Estimate]:
    return {
        row["table"]: _rate(row).minus(average(_singles(found, row["table"])))
        for row in _known(found.home)
    }


def _singles(found: Analysis, table: str) -> list[Estimate]:
    return [_rate(row) for row in _known(found.of_table(table))]


def _listed(gains: dict[str, Estimate]) -> str:
    return "; ".join(f"{table} {gain.text('+.3f')}" for table, gain in gains.items())


def transfer_limit(name: str, limit: float) -> Callable[[Analysis], Answer]:
    """Test whether no Meta-Metric does better elsewhere than published."""

    def test(found: Analysis) -> Answer:
        rows = _known(getattr(found, name))
        if not rows:
            return "undecided", "needs more than one"
        best = max(rows, key=lambda row: row["rate"])
        home = average([_rate(row) for row in _known(found.home)])
        return all_of(decide(_rate(row), at_most(limit)) for row in rows), (
            f"most: {best['used']} on {best['on']}, {_rate(best).text()}; mean "
            f"{fmean(row['rate'] for row in rows):.3f}, on their own data {home.value:.3f}"
        )

    return test


def datafly_exchange(found: Analysis) -> Answer:
    """Test whether Meta-Metrics transfer better between the two Datafly than with Mondrian."""
    if len(_known(found.algorithms)) < len(found.algorithms):
        return "undecided", "some rates are not defined"
    within, across = (
        average([
            _rate(row) for row in found.algorithms
            if ("mondrian" in (row["used"], row["on"])) is with_mondrian
        ])
        for with_mondrian in (False, True)
    )  # fmt: skip
    return decide(within.minus(across), above(0)), (
        f"between the two Datafly {within.text()}, to and from Mondrian {across.text()}"
    )
