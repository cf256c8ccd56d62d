"""Distributions of columns before and after anonymization, in groups of enough people.

Both sides are shares of the released rows. A sensitive column is released unchanged, so only the
released side is shown.

    few numbers     one group for each value           ┐
    numbers, dates  bins with round ends               ├→ small groups are merged with others
    categories      values, or a level of a hierarchy  ┘

A value or label is named only if enough people have it. The ends of bins come from a grid, not from
the data, and the outer bins are open: enough people in each hide the extreme values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.metrics.divergence import Boxes, estimated_shares
from shoal.report.masking import Mask, names_any, people_weights, rounded, sum_weights
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.table.column import Column, Kind
from shoal.table.people import sum_by
from shoal.table.recoding import Recoding
from shoal.table.table import Table

MAX_NAMED_GROUPS = 15
_NAMED_SHARE = 0.9  # of the people should be in a named group
_MAX_SINGLE_NUMBERS = 12  # distinct numbers that are shown one by one
OTHERS, MISSING = "all others", "missing"


@dataclass(frozen=True)
class Groups:
    """How a column's values are grouped.

    by: what a group is, in words.
    places: (domain,) the group of each value, −1 for one that is skipped.
    labels: one for each group.
    """

    by: str
    places: Codes
    labels: tuple[str, ...]


def distribution(column: Column, recoding: Recoding | None, table: Table, mask: Mask) -> Any:
    """Return a column's distribution as plain data; without groups if none may be shown.

    recoding: the published form of the column; None for a column released unchanged.
    table: the rows of the column, all of them released.
    """
    rows = table.counts
    counts = sum_by(column.codes, column.domain, rows)
    people = sum_weights(column.codes, column.domain, people_weights(table))
    groups = grouped(column, people, mask.least)
    after = counts / max(int(counts.sum()), 1)
    if recoding is not None:
        after = _published_shares(recoding, rows)
    sides = [_by_group(groups, shares) for shares in (counts, after)]
    listed = [
        {"label": label, "before": rounded(first), "after": rounded(second)}
        for label, first, second in zip(groups.labels, *sides, strict=True)
    ]
    if recoding is None:
        listed = [{**group, "before": None} for group in listed]
    return {
        "column": column.name,
        "role": str(column.role),
        "by": groups.by,
        "groups": listed if len(listed) > 1 or mask.least <= people.max() == people.sum() else [],
    }


def _published_shares(recoding: Recoding, rows: Counts | None) -> Floats:
    """Return the estimated share of each value if all values of a cell are equally likely."""
    entries = [np.arange(len(recoding.labels), dtype=np.int32)]
    usage = recoding.usage(rows)
    return estimated_shares(Boxes((recoding.column,), (recoding.subsets,), entries, usage), 0)


def _by_group(groups: Groups, weights: Any) -> Floats:
    """Return the groups' shares of the weights, without skipped values."""
    shown = groups.places >= 0
    sums = np.bincount(groups.places[shown], weights[shown], len(groups.labels))
    return np.asarray(sums / max(float(sums.sum()), 1e-300))


def grouped(column: Column, people: Floats, least: int) -> Groups:
    """Choose groups for a column: ranges of numbers, single values, or labels of its hierarchy.

    people: (domain,) the weight of the people with each value, see `people_weights`.
    """
    if (
        column.kind is Kind.NUMERIC
        and column.known > _MAX_SINGLE_NUMBERS
        and people[: column.known].sum()
    ):
        found = bins(column, people, least)
        if len(found.ends):
            places = np.searchsorted(found.ends, column.positions, side="right").astype(np.int32)
            labels = found.labels
            if column.missing is not None:
                shown = people[column.missing] >= least
                places[column.missing] = len(labels) if shown else -1
                labels = (*labels, MISSING) if shown else labels
            return Groups("ranges", places, labels)
    return _by_level(column, people, least) or _by_value(column, people, least)


def _by_value(column: Column, people: Floats, least: int) -> Groups:
    labels = [MISSING if text is None else text for text in column.labels]
    return _named("values", np.arange(column.domain, dtype=np.int32), labels, people, least)


def _by_level(column: Column, people: Floats, least: int) -> Groups | None:
    """Return the lowest level of the hierarchy whose frequent labels cover nearly everyone.

    None if no level below the root shows more than the values themselves.
    """
    if column.hierarchy is None or (people >= least).sum() == column.domain <= MAX_NAMED_GROUPS:
        return None
    most, best = 0.0, None
    for height, level in enumerate(column.hierarchy.levels[:-1]):
        sizes = sum_weights(level.groups, len(level), people)
        shown = (sizes >= least) & ~_spelled_out(column, level.groups, level.labels, people, least)
        covered = float(sizes[shown].sum()) / max(float(people.sum()), 1.0)
        few = 1 < shown.sum() <= MAX_NAMED_GROUPS
        if few and covered > most:
            labels = [MISSING if text is None else text for text in level.labels]
            by = "values" if height == 0 else f"level {height} of its hierarchy"
            most, best = covered, _named(by, level.groups, labels, sizes * shown, least, sizes)
        if few and covered >= _NAMED_SHARE:
            break
    return best


def _spelled_out(
    column: Column,
    groups: Codes,
    labels: Sequence[str | None],
    people: Floats,
    least: int,
) -> Bools:
    """Return, for each group, whether its label names a member that too few people have."""
    rare = np.flatnonzero(people < least)
    inside: dict[int, list[str | None]] = {}
    for code, group in zip(rare.tolist(), groups[rare].tolist(), strict=True):
        inside.setdefault(group, []).append(column.labels[code])
    spelled = [names_any(label or "", inside.get(g, ())) for g, label in enumerate(labels)]
    return np.array(spelled, dtype=np.bool_)


def _named(
    by: str,
    groups: Codes,
    labels: Sequence[str],
    sizes: Floats,
    least: int,
    every: Floats | None = None,
) -> Groups:
    """Name the largest groups and merge the others into one group of enough people.

    groups: (domain,) the group of each value; sizes: (groups,) people, 0 for an unnamed group.
    every: (groups,) people, counted in unnamed groups too.
    """
    every = sizes if every is None else every
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    named = [g for g in order[:MAX_NAMED_GROUPS].tolist() if sizes[g] >= least]
    rest = round(float(every.sum() - every[named].sum()), 6)
    # "all others" needs enough people too: the smallest named group joins it
    while named and 0 < rest < least:
        rest = round(rest + float(every[named.pop()]), 6)
    shown = sorted(named) if len(named) == len(sizes) else named
    shown = sorted(shown, key=lambda g: labels[g] == MISSING)
    place = np.full(len(sizes), len(shown) if rest else -1, dtype=np.int32)
    place[shown] = np.arange(len(shown), dtype=np.int32)
    texts = [labels[g] for g in shown]
    return Groups(by, place[groups], (*texts, OTHERS) if rest else tuple(texts))


MAX_BINS = 15
_TAIL = 0.01  # of the people may lie beyond each outer end
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_DAYS = (1, 2, 5, 10, 15)
_DAY = 86_400.0


@dataclass(frozen=True)
class Bins:
    """Bins below, between and above their ends.

    ends: (bins − 1,) where one bin ends and the next one begins, ascending; it may be empty.
    """

    ends: Floats
    labels: tuple[str, ...]


def bins(column: Column, people: Floats, least: int) -> Bins:
    """Return ranges of a numeric column with at least `least` people each.

    people: (domain,) the weight of the people with each value.
    """
    if not column.ruler.plain:  # no round end lies between such numbers
        return Bins(np.empty(0), ("all",))
    known, positions = people[: column.known], column.positions[: column.known]
    low, high = _body(positions, known, least)
    kind = column.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        ends, label = _calendar(low, high, 1.0 if pa.types.is_date(kind) else _DAY)
    else:
        ends, label = _numbers(low, high, whole=bool((positions == np.round(positions)).all()))
    ends = _merged(ends, positions, known, least)
    return Bins(ends, tuple(_labels(ends, label)))


def _body(positions: Floats, people: Floats, least: int) -> tuple[float, float]:
    """Return two values with enough people on the outer side of each."""
    upto = np.round(np.cumsum(people), 6)
    total = float(upto[-1])
    # outliers would stretch the bins, so up to 1 % of the people lie in each outer bin
    for tail in (max(least, math.ceil(_TAIL * total)), least):
        low = positions[min(int(np.searchsorted(upto, tail)), len(positions) - 1)]
        high = positions[min(int(np.searchsorted(upto, total - tail + 1)), len(positions) - 1)]
        if low < high:
            return float(low), float(high)
    return 0.0, 0.0


def _merged(ends: Floats, positions: Floats, people: Floats, least: int) -> Floats:
    """Remove ends until every range holds enough people."""
    held = np.bincount(np.searchsorted(ends, positions, side="right"), people, len(ends) + 1)
    kept, sizes = list(ends), list(np.round(held, 6))
    while kept and min(sizes) < least:
        # the smallest bin joins its smaller neighbour
        small = int(np.argmin(sizes))
        left = small and (small == len(kept) or sizes[small - 1] <= sizes[small + 1])
        at = small - 1 if left else small
        sizes[at : at + 2] = [sizes[at] + sizes[at + 1]]
        del kept[at]
    return np.array(kept)


Label = Callable[[float | None, float | None], str]


def _labels(ends: Floats, label: Label) -> list[str]:
    if not len(ends):
        return ["all"]
    inner = [label(float(a), float(b)) for a, b in pairwise(ends)]
    return [label(None, float(ends[0])), *inner, label(float(ends[-1]), None)]


def _numbers(low: float, high: float, *, whole: bool) -> tuple[Floats, Label]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers."""
    width = _round_width((high - low) / MAX_BINS, whole=whole)
    first, last = math.floor(low / width) + 1, math.floor(high / width)
    ends = np.array([float(f"{n * width:.12g}") for n in range(first, last + 1)])

    def label(least: float | None, below: float | None) -> str:
        top = None if below is None else f"{below - whole:,.12g}"
        if least is None:
            return f"{top} or less" if whole else f"less than {top}"
        if top is None:
            return f"{least:,.12g} or more"
        start = f"{least:,.12g}"
        if whole:
            return start if start == top else f"{start} – {top}"
        return f"{start} to {top}"

    return ends, label


def _round_width(least: float, *, whole: bool) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least this wide."""
    if not 0 < least < math.inf:
        return 1.0
    power = math.floor(math.log10(least))
    widths = (step * 10.0**exponent for exponent in (power, power + 1) for step in (1, 2, 5))
    width = next((width for width in widths if width >= least * (1 - 1e-9)), least)
    return max(width, 1.0) if whole else width


def _calendar(low: float, high: float, day: float) -> tuple[Floats, Label]:
    """Return first days of months or years, or every few days, between two positions.

    day: the length of a day in positions.
    """
    first, last = (np.datetime64(math.floor(at / day), "D") for at in (low, high))
    months = [_index(at.astype("datetime64[M]")) for at in (first, last)]
    if months[1] - months[0] >= 3:
        unit, steps, (begin, end) = "M", list(_MONTHS), months
    else:
        unit, steps, (begin, end) = "D", list(_DAYS), [_index(at) for at in (first, last)]
    step = next((s for s in steps if (end - begin) / s <= MAX_BINS), steps[-1])
    marks = np.arange(begin // step + 1, end // step + 1) * step
    days = marks.astype(f"datetime64[{unit}]").astype("datetime64[D]")
    form = "Y" if unit == "M" and step % 12 == 0 else unit

    def text(position: float, back: int = 0) -> str:
        return str(np.datetime64(round(position / day) - back, "D").astype(f"datetime64[{form}]"))

    def label(least: float | None, below: float | None) -> str:
        if least is None:
            assert below is not None
            return f"before {text(below)}"
        if below is None:
            return f"{text(least)} or later"
        start, stop = text(least), text(below, back=1)
        return start if start == stop else f"{start} to {stop}"

    return np.array([_index(at) * day for at in days]), label


def _index(at: Any) -> int:
    return int(at.astype(np.int64))
