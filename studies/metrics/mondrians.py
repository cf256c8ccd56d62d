"""How Mondrian's cuts matter: the published algorithm beside the relaxed one and Shoal's own.

Releases are compared one by one: the same table, the same orders, the same k.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from studies.claims import Answer
from studies.metrics.analysis import Analysis
from studies.metrics.releases import UTILITIES
from studies.page import Section
from studies.runs import Row, groups
from studies.verdicts import Estimate, above, all_of, decide, estimate_mean

_OWN = "mondrian-best"
_SHOWN = ("granularity", "discernibility", "hellinger")


def section_of(found: Analysis) -> Section:
    """Return utility and some metrics of each Mondrian, and its gain on the published one."""
    rows = []
    for (table, algorithm), part in groups(found.others, "table", "algorithm"):
        mates = _mates(found, part)
        gain = _gain(part, mates)
        figures = {"utility": fmean(map(_utility, part)), "published": fmean(map(_utility, mates))}
        figures |= {"gain": gain.value, "low": gain.low, "high": gain.high}
        for name in _SHOWN:
            figures[name] = fmean(row[name] for row in part)
            figures[f"{name}, published"] = fmean(row[name] for row in mates)
        rows.append({"table": table, "algorithm": algorithm, "releases": len(part), **figures})
    heads = list(rows[0]) if rows else []
    return Section("B", "How Mondrian cuts: beside the published algorithm", rows, (), heads)


def best_gains(found: Analysis) -> Answer:
    """Test whether Shoal's Mondrian is more useful than the published one, on every table."""
    own = [row for row in found.others if row["algorithm"] == _OWN]
    gains = {table: _gain(part, _mates(found, part)) for (table,), part in groups(own, "table")}
    text = "; ".join(f"{table} {gain.text('+.3f')}" for table, gain in gains.items())
    return all_of(decide(gain, above(0)) for gain in gains.values()), (
        f"mean utility of {_OWN} less that of mondrian: {text}"
    )


def _mates(found: Analysis, rows: Sequence[Row]) -> list[Row]:
    """Return the releases by the published algorithm with the same table, orders and k."""
    published = {row["seed"]: row for row in found.rows if row["algorithm"] == "mondrian"}
    return [published[row["seed"]] for row in rows]


def _gain(rows: Sequence[Row], mates: Sequence[Row]) -> Estimate:
    pairs = zip(rows, mates, strict=True)
    return estimate_mean([_utility(row) - _utility(mate) for row, mate in pairs])


def _utility(row: Row) -> float:
    return fmean(row[name] for name in UTILITIES)
