"""Distributions of columns before and after anonymization, in groups of enough people.

Both sides are shares of the released rows. A sensitive column is released unchanged, so only the
released side is shown. A value or label is named only if enough people have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column, Kind
from shoal.core.grouping import sum_by
from shoal.core.recoding import Recoding
from shoal.core.table import Table
from shoal.metrics.boxes import Boxes, estimated_shares
from shoal.report.bins import bins
from shoal.report.masking import Mask, names_any, people_weights, rounded, sum_weights
from shoal.support.arrays import Bools, Codes, Counts, Floats

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
    while named and 0 < rest < least:
        rest = round(rest + float(every[named.pop()]), 6)
    shown = sorted(named) if len(named) == len(sizes) else named
    shown = sorted(shown, key=lambda g: labels[g] == MISSING)
    place = np.full(len(sizes), len(shown) if rest else -1, dtype=np.int32)
    place[shown] = np.arange(len(shown), dtype=np.int32)
    texts = [labels[g] for g in shown]
    return Groups(by, place[groups], (*texts, OTHERS) if rest else tuple(texts))
