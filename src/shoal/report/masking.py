"""What a report may tell: nothing that fewer people share than a least count, and rounded figures.

A report may be published. It is made of counts, so a small one could point at somebody.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.core.arrays import Codes, Floats
from shoal.core.table import Table
from shoal.privacy.model import check_whole

LEAST = 5  # people behind anything shown, where the model asks for no more


@dataclass(frozen=True)
class Mask:
    """Hides counts of 1 … least − 1."""

    least: int

    def __post_init__(self) -> None:
        check_whole("least", self.least, 2)

    def count(self, found: int, total: int | None = None) -> int | str:
        """Return a count, or words where it or what it leaves of the total is too small to tell."""
        if 0 < found < self.least:
            return f"fewer than {self.least}"
        if total is not None and 0 < total - found < self.least:
            return f"more than {total - self.least:,}"
        return int(found)

    def rows(self, found: int, people: int) -> int | str:
        """Return a count of rows, or words where they are about too few people to tell."""
        if 0 < people < self.least:
            same = f"fewer than {self.least}"
            return same if found == people else f"rows of {same} people"
        return int(found)

    def share(self, found: int, total: int) -> float | None:
        """Return a count's share of the total, None where the count is not told."""
        told = isinstance(self.count(found, total), int)
        return rounded(found / max(total, 1)) if told else None


def people_weights(table: Table) -> Floats:
    """(rows,) each person's weight of 1, spread evenly over their records.

    What the weights of some records add up to is never more than the number of their people, so
    that a group of records whose sum reaches a least count is about at least so many people.
    """
    counts = np.ones(len(table)) if table.counts is None else table.counts.astype(np.float64)
    if table.person is None:
        return counts
    every = np.bincount(table.person.ids, counts, table.person.count)
    weights: Floats = counts / every[table.person.ids]
    return weights


def sum_weights(codes: Codes, groups: int, weights: Floats) -> Floats:
    """Return the sum of the weights of each group, without the noise of adding up fractions."""
    return np.round(np.bincount(codes, weights, groups), 9)


def rounded(value: float) -> float | None:
    """Return a figure to three places, None where there is none.

    Fewer places than it was counted with: on a small table the rest could be solved for a record.
    """
    return round(float(value), 3) + 0.0 if math.isfinite(value) else None


def names_any(label: str, texts: Iterable[str | None]) -> bool:
    """Tell whether a label spells out one of these values: `[31, 999]` does 999, `9**` does not."""
    return any(
        text and text in label and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", label)
        for text in texts
    )
