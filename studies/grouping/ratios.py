"""Tests of claims on ratios of two methods in loss or time on the same rows.

A ratio is the geometric mean over the settings of a figure, for each draw of rows, with an interval
over draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from studies.claims import Answer, Test
from studies.runs import Row
from studies.verdicts import (
    Estimate,
    Range,
    all_of,
    below,
    decide,
    estimate_mean,
    estimate_ratio,
)

_SETTING = ("rows", "width", "k", "against")


def of_figure(rows: Sequence[Row], figure: str) -> list[Row]:
    """Return the rows of a figure that have a loss."""
    return [row for row in rows if row["figure"] == figure and row.get("loss") is not None]


def ratio_by_draw(
    rows: Sequence[Row], one: str, other: str, what: str = "loss", /, **where: Any
) -> dict[int, float]:
    """Return for each draw the mean logarithm of the ratio of two methods, over settings.

    Runs with reversed numbers are left out: see `in_both_orders`.
    """
    chosen = [
        row
        for row in rows
        if not row.get("reverse") and all(row[name] == value for name, value in where.items())
    ]
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


def text_of(estimate: Estimate) -> str:
    """Return a ratio with its interval."""
    if estimate.value < 0.1:
        return estimate.text(".2g")
    return estimate.text(".2f" if estimate.value < 10 else ".0f")


def ratio_is(
    claimed: Range, one: str, other: str, what: str = "loss", noun: str = "", **where: Any
) -> Test:
    """Test the ratio of two methods against a range."""

    def test(rows: Sequence[Row]) -> Answer:
        found = ratio(rows, one, other, what, **where)
        named = noun or {"loss": "loss", "seconds": "time"}[what]
        return decide(found, claimed), f"{named} of {one} over {other}: {text_of(found)}"

    return test


def lower(one: str, other: str, **where: Any) -> Test:
    """Test whether a method loses less than another."""
    return ratio_is(below(1), one, other, **where)


def faster(one: str, other: str, factor: float = 1.0) -> Test:
    """Test whether a method takes less than a share of the time of another."""
    return ratio_is(below(factor), one, other, "seconds")


def each(*tests: Test) -> Test:
    """Test a claim of several parts."""

    def test(rows: Sequence[Row]) -> Answer:
        decisions, texts = zip(*(part(rows) for part in tests), strict=True)
        return all_of(decisions), "; ".join(texts)

    return test


def grows(name: str, claimed: Range, one: str, *others: str) -> Test:
    """Test how the loss of a method over that of others changes with a field."""

    def test(rows: Sequence[Row]) -> Answer:
        decisions, texts = [], []
        for other in others:
            found, (least, most) = growth(rows, one, other, name)
            decisions.append(decide(found, claimed))
            texts.append(f"{one} over {other} {text_of(found)}")
        return all_of(decisions), (
            f"factor of the ratio of losses from {name} = {least:,} to {most:,}: "
            + "; ".join(texts)
        )

    return test


def at_k(pick: Callable[[Sequence[int]], int], claimed: Range, one: str, other: str) -> Test:
    """Test a ratio of losses at the least or the largest k of the run."""

    def test(rows: Sequence[Row]) -> Answer:
        k = pick(sorted({row["k"] for row in rows}))
        found = ratio(rows, one, other, k=k)
        return decide(found, claimed), f"loss of {one} over {other} at k = {k}: {text_of(found)}"

    return test


def beside(make: Callable[[str], Test], one: str, *others: str) -> Test:
    """Test a claim on one method; what was found on others stands beside it, undecided on."""

    def test(rows: Sequence[Row]) -> Answer:
        word, found = make(one)(rows)
        return word, "; ".join([found, *(make(other)(rows)[1] for other in others)])

    return test


def in_both_orders(test: Test) -> Test:
    """Test a claim with categories numbered in order and in reverse; both must agree."""

    def both(rows: Sequence[Row]) -> Answer:
        word, found = test(rows)
        turned = [{**row, "reverse": False} for row in rows if row.get("reverse")]
        other, found_there = test(turned)
        text = f"{found}; with categories numbered in reverse: {found_there}"
        return word if word == other else "undecided", text

    return both


def largest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the largest table."""
    most = max((row["rows"] for row in rows), default=0)
    return [row for row in rows if row["rows"] == most]


def smallest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the smallest table."""
    least = min((row["rows"] for row in rows), default=0)
    return [row for row in rows if row["rows"] == least]


def scales(rows: Sequence[Row], method: str, claimed: Range) -> Answer:
    """Test the power of the number of rows with which the time of a method grows."""
    ends = [pick(row["rows"] for row in rows) for pick in (min, max)]
    if ends[0] == ends[1]:
        raise LookupError("rows")
    seconds = {
        (row["rows"], row["k"], row["seed"]): row["seconds"]
        for row in rows
        if row["method"] == method
    }
    powers: dict[int, list[float]] = {}
    for (count, k, seed), first in seconds.items():
        if count == ends[0]:
            grown = math.log(seconds[ends[1], k, seed] / first)
            powers.setdefault(seed, []).append(grown / math.log(ends[1] / ends[0]))
    found = estimate_mean([fmean(each) for each in powers.values()])
    return decide(found, claimed), (
        f"from {ends[0]:,} to {ends[1]:,} rows the time of {method} grows with the power "
        f"{text_of(found)} of the rows"
    )
