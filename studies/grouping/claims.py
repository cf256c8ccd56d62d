"""The claims of the grouping study, each decided by the measured rows.

A quantity is the ratio of two methods in loss or time on the same rows: its geometric mean over
the settings of a figure, for each draw of rows, with an interval over draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from studies.claims import Answer, Claim, Rows, Test
from studies.runs import Row
from studies.verdicts import (
    Estimate,
    Range,
    above,
    all_of,
    at_most,
    below,
    between,
    decide,
    estimate_ratio,
    estimate_share,
)

FAR = 1.5  # a ratio from which a method loses far more
NEGLIGIBLE = 0.1  # a share of another method's time
SAME = 1.05  # a growth of a ratio up to which it does not grow
MONDRIAN_OVER_INITIAL = (9, 56)  # published, of their losses
_SETTING = ("rows", "width", "k", "against")


def of_figure(rows: Sequence[Row], figure: str) -> list[Row]:
    """Return the rows of a figure that have a loss."""
    return [row for row in rows if row["figure"] == figure and row["loss"] is not None]


def ratio_by_draw(
    rows: Sequence[Row], one: str, other: str, what: str = "loss", /, **where: Any
) -> dict[int, float]:
    """Return for each draw the mean logarithm of the ratio of two methods, over settings."""
    chosen = [row for row in rows if all(row[name] == value for name, value in where.items())]
    values = {
        (row["method"], row["seed"], *(row.get(name) for name in _SETTING)): row[what]
        for row in chosen
    }
    ratios: dict[int, list[float]] = {}
    for (method, seed, *setting), value in values.items():
        divisor = values.get((other, seed, *setting), 0.0)
        if method == one and value > 0 and divisor > 0:
            ratios.setdefault(seed, []).append(math.log(value / divisor))
    if not ratios:
        raise LookupError(one)
    return {seed: fmean(each) for seed, each in ratios.items()}


def ratio(
    rows: Sequence[Row], one: str, other: str, what: str = "loss", /, **where: Any
) -> Estimate:
    """Return the ratio of two methods with its interval over draws."""
    return estimate_ratio(list(ratio_by_draw(rows, one, other, what, **where).values()))


def growth(rows: Sequence[Row], one: str, other: str, name: str) -> tuple[Estimate, list[Any]]:
    """Return the factor by which a ratio of losses grows from the least to the largest value.

    name: the field whose values are compared.
    """
    ends = [pick(row[name] for row in rows) for pick in (min, max)]
    if ends[0] == ends[1]:
        raise LookupError(name)
    first, last = (ratio_by_draw(rows, one, other, **{name: end}) for end in ends)
    return estimate_ratio([last[seed] - first[seed] for seed in first if seed in last]), ends


def _text(estimate: Estimate) -> str:
    return estimate.text(".2f" if estimate.value < 10 else ".0f")


def _ratio_is(
    claimed: Range, one: str, other: str, what: str = "loss", noun: str = "", **where: Any
) -> Test:
    """Test the ratio of two methods against a range."""

    def test(rows: Sequence[Row]) -> Answer:
        found = ratio(rows, one, other, what, **where)
        named = noun or {"loss": "loss", "seconds": "time"}[what]
        return decide(found, claimed), f"{named} of {one} over {other}: {_text(found)}"

    return test


def _lower(one: str, other: str, **where: Any) -> Test:
    """Test whether a method loses less than another."""
    return _ratio_is(below(1), one, other, **where)


def _faster(one: str, other: str, factor: float = 1.0) -> Test:
    """Test whether a method takes less than a share of the time of another."""
    return _ratio_is(below(factor), one, other, "seconds")


def _each(*tests: Test) -> Test:
    """Test a claim of several parts."""

    def test(rows: Sequence[Row]) -> Answer:
        decisions, texts = zip(*(part(rows) for part in tests), strict=True)
        return all_of(decisions), "; ".join(texts)

    return test


def _grows(name: str, claimed: Range, one: str, *others: str) -> Test:
    """Test how the loss of a method over that of others changes with a field."""

    def test(rows: Sequence[Row]) -> Answer:
        decisions, texts = [], []
        for other in others:
            found, (least, most) = growth(rows, one, other, name)
            decisions.append(decide(found, claimed))
            texts.append(f"{one} over {other} {_text(found)}")
        return all_of(decisions), (
            f"factor of the ratio of losses from {name} = {least:,} to {most:,}: "
            + "; ".join(texts)
        )

    return test


def _wide(rows: Sequence[Row]) -> Answer:
    """Test whether more attributes leave the distance from the optimum as it is."""
    by_width = [row for row in rows if row["against"] == "attributes"]
    parts = [
        _grows("width", at_most(SAME), method, "optimal") for method in ("split-carry", "greedy")
    ]
    return _each(*parts)(by_width)


def _reaches_the_optimum(rows: Sequence[Row]) -> Answer:
    """Test whether Split & Carry has the optimum's loss on some table."""
    values = {
        (r["method"], r["rows"], r["width"], r["seed"], r["against"]): r["loss"] for r in rows
    }
    gaps = [
        values["split-carry", *table] - best * (1 + 1e-9)
        for (method, *table), best in values.items()
        if method == "optimal"
    ]
    hits = sum(gap <= 0 for gap in gaps)
    found = estimate_share(hits, len(gaps))
    return decide(found, above(0)), f"it reaches the optimum on {hits} of {len(gaps)} tables"


def _at_k(pick: Callable[[Sequence[int]], int], claimed: Range, one: str, other: str) -> Test:
    """Test a ratio of losses at the least or the largest k of the run."""

    def test(rows: Sequence[Row]) -> Answer:
        k = pick(sorted({row["k"] for row in rows}))
        found = ratio(rows, one, other, k=k)
        return decide(found, claimed), f"loss of {one} over {other} at k = {k}: {_text(found)}"

    return test


def _annealed(rows: Sequence[Row]) -> Answer:
    """Test whether annealing loses less than every other method that gives k-anonymity."""
    methods = sorted({row["method"] for row in rows})
    others = [m for m in methods if m not in ("anneal", "optimal") and not m.startswith("doka")]
    found = {other: ratio(rows, "anneal", other) for other in others}
    text = ", ".join(f"{other} {_text(each)}" for other, each in found.items())
    return all_of(decide(each, below(1)) for each in found.values()), f"loss of anneal over {text}"


_DOKA = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")
OWN = "Annealing loses least of all methods that give k-anonymity (ours)"
CLAIMS: tuple[Claim[Rows], ...] = (
    Claim("3.2", "Split & Carry is closer to the optimum than Greedy Search",
          _lower("split-carry", "greedy")),
    Claim("3.2", f"More attributes increase neither method's loss over the optimum (by {SAME} at "
          "most)", _wide),
    Claim("3.2", "Split & Carry sometimes finds the optimum", _reaches_the_optimum),
    Claim("3.2", f"Greedy Search takes negligible time against the optimum (below {NEGLIGIBLE})",
          _faster("greedy", "optimal", NEGLIGIBLE)),
    Claim("3.2", OWN, _annealed),
    Claim("3.3", "Doka Hungarian loses least of the three freeform methods",
          _each(*(_lower("doka-hungarian", other) for other in _DOKA[:2]))),
    Claim("3.3", f"Mondrian loses far more than Greedy Search ({FAR} times or more)",
          _ratio_is(above(FAR), "mondrian", "greedy")),
    Claim("3.3", "Greedy Search takes less time than the Doka methods",
          _each(*(_faster("greedy", other) for other in _DOKA))),
    Claim("3.3", "Greedy Search loses less than K-Member at large k",
          _at_k(max, below(1), "greedy", "k-member")),
    Claim("3.3", OWN, _annealed),
    Claim("3.4", "Greedy Search loses less than Doka Greedy at small k, and more at large k",
          _each(_at_k(min, below(1), "greedy", "doka-greedy"),
                _at_k(max, above(1), "greedy", "doka-greedy"))),
    Claim("3.4", "With more rows Greedy Search gains on every other method",
          _grows("rows", below(1), "greedy", *_DOKA, "mondrian", "k-member")),
    Claim("3.5", "Split & Carry loses less than Doka Greedy",
          _lower("split-carry S=3", "doka-greedy")),
    Claim("3.5", "Split & Carry loses less than Doka SortGreedy",
          _lower("split-carry S=3", "doka-sort-greedy")),
    Claim("3.5", "Split & Carry takes less time than Doka Hungarian",
          _faster("split-carry S=3", "doka-hungarian")),
    Claim("3.5", "The initial solution beats Mondrian in loss and time",
          _each(_lower("initial", "mondrian"), _faster("initial", "mondrian"))),
    Claim("3.5", OWN, _annealed),
    Claim("3.6", "Split & Carry significantly outperforms Greedy Search in loss",
          _lower("split-carry", "greedy")),
    Claim("3.6", "Split & Carry significantly outperforms K-Member in loss",
          _lower("split-carry", "k-member")),
    Claim("3.6", "Split & Carry significantly outperforms Greedy Search in time",
          _faster("split-carry", "greedy")),
    Claim("3.6", "Split & Carry significantly outperforms K-Member in time",
          _faster("split-carry", "k-member")),
    Claim("3.6", "K-Member loses less than Greedy Search", _lower("k-member", "greedy")),
    Claim("3.6", "Greedy Search is faster than K-Member", _faster("greedy", "k-member")),
    Claim("3.6", "Mondrian loses 9 to 56 times as much as the initial solution",
          _ratio_is(between(*MONDRIAN_OVER_INITIAL), "mondrian", "initial")),
    Claim("3.6", OWN, _annealed),
    Claim("3.7", "K-Member loses less than Greedy Search at k = 5",
          _lower("k-member", "greedy", k=5)),
    Claim("3.7", "K-Member loses more than Greedy Search at large k",
          _at_k(max, below(1), "greedy", "k-member")),
    Claim("3.7", "Mondrian falls further behind as k grows",
          _grows("k", above(1), "mondrian", "greedy")),
    Claim("3.7", OWN, _annealed),
    Claim("3.8", "Greedy Search and K-Member lose the same at k = 10 (within 5 %)",
          _ratio_is(between(1 / SAME, SAME), "greedy", "k-member", k=10)),
    Claim("3.8", "Greedy Search loses less than K-Member at k = 100",
          _lower("greedy", "k-member", k=100)),
    Claim("3.8", "Mondrian falls further behind with more attributes",
          _grows("width", above(1), "mondrian", "greedy")),
    Claim("3.8", OWN, _annealed),
    Claim("A.1", "On the larger FARS table Split & Carry loses less than Greedy Search",
          lambda rows: _lower("split-carry", "greedy")(_largest(rows))),
    Claim("A.1", "On the larger FARS table Split & Carry is faster than Greedy Search",
          lambda rows: _faster("split-carry", "greedy")(_largest(rows))),
    Claim("A.1", OWN, _annealed),
)  # fmt: skip


def _largest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the largest table."""
    most = max(row["rows"] for row in rows)
    return [row for row in rows if row["rows"] == most]
