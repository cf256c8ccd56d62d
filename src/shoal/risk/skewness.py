"""Skewness: a sensitive value is far more likely in a class than in the table.

No value need be certain: if half of a class is ill and 1 % of the table, the class reveals much.
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.privacy.model import ROUNDING
from shoal.risk.candidates import Candidates, Source
from shoal.support.arrays import Floats

MUCH = 0.5  # rise of a share that counts as large


@dataclass(frozen=True)
class Skewness:
    """Result of `skewness`: how much likelier sensitive values become in a person's class.

    A value with the share p in the input table and q among a person's candidates gains q / p and
    rises by q − p.

    Attributes:
        column: The sensitive column.
        people: Released people.
        gain: Largest gain of a value.
        rise: Largest rise of a value.
        own_gain: Average gain of people's own value; 1 if classes reveal nothing.
        raised: People with a value that rises by 0.5 or more.
        guessed: Share of people whose value is the most common among their candidates; a person
            with several values, or in several classes, counts for each.
        blind: The same with the most common value of the original table, without the release.
    """

    column: str
    people: int
    gain: float
    rise: float
    own_gain: float
    raised: int
    guessed: float
    blind: float

    @property
    def raised_share(self) -> float:
        """Share of the released people with a value that rises by 0.5 or more."""
        return self.raised / max(self.people, 1)

    @property
    def advantage(self) -> float:
        """Increase of the share of correct guesses by the release, at least 0."""
        return max(self.guessed - self.blind, 0.0)


def skewness(source: Source, column: str) -> Skewness:
    """Measure how the distribution of a sensitive column differs between a class and the table.

    Small classes necessarily raise rare values: one of five is 20 %. Guesses are the most common
    value; if several are equally common, one of them at random.

    Parameters:
        source: A release, or classes of a table.
        column: The sensitive column.

    Returns:
        The largest gains and rises, and the share of correct guesses.

    Raises:
        UnknownColumn: The table has no such column.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")
    >>> skewness(release, "ill").rise
    0.25
    """
    found = Candidates.of(source, column)
    usual = found.usual[found.values.codes]
    with np.errstate(divide="ignore"):  # infinite for values that the original does not have
        gains = found.shares / usual
    rises = found.shares - usual
    highest = found.by_group(np.maximum, rises)
    return Skewness(
        column,
        people=found.total,
        gain=float(gains.max(initial=0.0)),
        rise=float(rises.max(initial=0.0)),
        own_gain=found.over_own(gains),
        raised=found.count(highest >= MUCH - ROUNDING),
        guessed=found.over_own(_guesses(found)),
        blind=_blind(found),
    )


def _guesses(found: Candidates) -> Floats:
    """Return, for each value of a group, the probability that it is guessed."""
    commonest = found.shares >= found.largest[found.owners]
    ties = found.by_group(np.add, commonest.astype(np.float64))
    return commonest / ties[found.owners]


def _blind(found: Candidates) -> float:
    """Return the share of released people with the most common value of the original table."""
    commonest = found.usual >= found.usual.max(initial=0.0)
    mine = int(found.own.counts[commonest[found.own.codes]].sum())
    return mine / max(int(commonest.sum()), 1) / found.shown
