"""Masks the counts of a report that concern too few people, and rounds its figures.

A report may be published, and a small count could point to a single person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.core.table import Table
from shoal.support.arrays import Codes, Floats
from shoal.support.options import check_whole

LEAST = 5  # people behind anything shown, where the model asks for no more


@dataclass(frozen=True)
class Mask:
    """Hides counts of 1 … least − 1."""

    least: int

    def __post_init__(self) -> None:
        check_whole("least", self.least, 2)

    def count(self, found: int, total: int | None = None) -> int | str:
        """Return a count, or words if the count or its complement in the total is too small."""
        if 0 < found < self.least:
            return f"fewer than {self.least}"
        if total is not None and 0 < total - found < self.least:
            return f"more than {total - self.least:,}"
        return int(found)

    def rows(self, found: int, people: int) -> int | str:
        """Return a count of rows, or words if the rows are about too few people."""
        if 0 < people < self.least:
            same = f"fewer than {self.least}"
            return same if found == people else f"rows of {same} people"
        return int(found)

    def share(self, found: int, total: int) -> float | None:
        """Return a count's share of the total, or None if the count is masked."""
        shown = isinstance(self.count(found, total), int)
        return rounded(found / max(total, 1)) if shown else None


def people_weights(table: Table) -> Floats:
    """Return, for each row, its part of the weight 1 that each person spreads over their records.

    The weights of a group of records never sum to more than the number of people in it, so a group
    whose sum reaches a minimum count is about at least that many people.
    """
    counts = np.ones(len(table)) if table.counts is None else table.counts.astype(np.float64)
    if table.person is None:
        return counts
    every = np.bincount(table.person.ids, counts, table.person.count)
    weights: Floats = counts / every[table.person.ids]
    return weights


def sum_weights(codes: Codes, groups: int, weights: Floats) -> Floats:
    """Return the sum of the weights of each group, rounded to remove floating-point error."""
    return np.round(np.bincount(codes, weights, groups), 9)


def rounded(value: float) -> float | None:
    """Return a figure rounded to three decimal places, or None if it is not finite.

    In a small table, the remaining places could reveal a single record.
    """
    return round(float(value), 3) + 0.0 if math.isfinite(value) else None


def names_any(label: str, texts: Iterable[str | None]) -> bool:
    """Return whether a label contains one of these values: `[31, 999]` contains 999, `9**` not."""
    return any(
        text and text in label and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", label)
        for text in texts
    )
