"""Skewness: a sensitive value is far more likely in a class than in the table.

Nothing need be certain: a class that is half ill says much where one in a hundred is.
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.privacy.model import ROUNDING
from shoal.risk.candidates import Candidates, Source
from shoal.support.arrays import Floats

MUCH = 0.5  # by which a belief must rise to count as changed


@dataclass(frozen=True)
class Skewness:
    """How much more likely sensitive values become for an attacker who finds a person's class.

    A value with the share p in the input table and q among a person's candidates gains q / p and
    rises by q − p.

    people: those released.
    gain: the greatest gain; rise: the greatest rise.
    own_gain: the gain of people's own value, on average; 1 where classes say nothing.
    raised: people with some value that rises by half or more.
    guessed: share of people whose value is guessed right by the commonest among their candidates;
        a person with several values, or in several classes, counts for each.
    blind: by the commonest in the input table, without the release.
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
        """Share of the released people with some value that rises by half or more."""
        return self.raised / max(self.people, 1)

    @property
    def advantage(self) -> float:
        """By how much the release raises the share of right guesses, 0 where it does not."""
        return max(self.guessed - self.blind, 0.0)


def skewness(source: Source, column: str) -> Skewness:
    """Measure how far beliefs about the column move from the table to a class.

    Small classes raise rare values by necessity: one of five is a fifth. Guesses are those of the
    commonest value; where several are equally common, one of them by chance.
    """
    found = Candidates.of(source, column)
    usual = found.usual[found.values.codes]
    with np.errstate(divide="ignore"):  # a value that the input does not show: infinite
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
    """Return, beside each value of a group, the chance that it is the guess there."""
    commonest = found.shares >= found.largest[found.owners]
    ties = found.by_group(np.add, commonest.astype(np.float64))
    return commonest / ties[found.owners]


def _blind(found: Candidates) -> float:
    """Return the share of released people who have a commonest value of the input table."""
    commonest = found.usual >= found.usual.max(initial=0.0)
    mine = int(found.own.counts[commonest[found.own.codes]].sum())
    return mine / max(int(commonest.sum()), 1) / found.shown
