"""Risk of an attack beyond a control group, with its confidence interval.

Shares have Wilson intervals; the interval of the risk combines them by square-and-add (Newcombe,
"Interval estimation for the difference between independent proportions", Statistics in Medicine
17(8), 1998). An attack that is tried in several ways has simultaneous intervals (Bonferroni).
Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

_ERROR = 0.05  # of a 95 % interval


@dataclass(frozen=True)
class Trial:
    """One way to attack, tried on released people and on the control group.

    Attributes:
        name: The way, or the sensitive column.
        hits: Attacks that succeed.
        attacks: All attacks.
        control_hits: Attacks on the control group that succeed.
        control_attacks: All attacks on the control group, 0 if there is none.
        baseline: Share of attacks that succeed for a naive guesser.
        factor: Expected successes on released people for each success on the control group, if
            the attack reveals nothing about the released people.
        exclusive: Whether the same attacks are tried on both, and none succeeds on both: the shares
            are then negatively correlated.
        difference: Whether the risk is success − control, not its share of what the control group
            leaves: for claims, which succeed on everyone if everyone is claimed.
    """

    name: str
    hits: int
    attacks: int
    control_hits: int
    control_attacks: int
    baseline: float
    factor: float = 1.0
    exclusive: bool = False
    difference: bool = False


@dataclass(frozen=True)
class AttackRisk:
    """Success of an attack beyond a control group.

    Attributes:
        name: The way to attack that `risk` refers to: the one with the highest lower bound, the
            first of several.
        risk: Success beyond the control group, from 0 to 1: (success − control) / (1 − control);
            of membership, success − control.
        low: Lower end of the 95 % interval of the risk.
        high: Upper end of the interval.
        baseline: Success of a naive guesser.
        success: Share of attacks on released people that succeed.
        control: The same for the control group, None without one.
        attacks: Number of attacks; with 0, the attack is not possible and the risk unknown.
        ways: All ways to attack; empty if this is one of them.
    """

    name: str
    risk: float
    low: float
    high: float
    baseline: float
    success: float
    control: float | None
    attacks: int
    ways: tuple[AttackRisk, ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether the risk is above 0 beyond chance."""
        return self.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        figures: dict[str, Any] = {
            "risk": self.risk,
            "low": self.low,
            "high": self.high,
            "baseline": self.baseline,
            "flagged": self.flagged,
            "success": self.success,
            "control": self.control,
            "attacks": self.attacks,
            "way": self.name,
        }
        if self.ways:
            figures["ways"] = [way.to_dict() for way in self.ways]
        return figures


NOT_TRIED = AttackRisk("not possible", 0.0, 0.0, 1.0, 0.0, 0.0, None, 0)


def estimate_risk(trials: Sequence[Trial]) -> AttackRisk:
    """Return the risk of the strongest of several ways to attack.

    >>> found = estimate_risk([Trial("nearest", 60, 100, 20, 100, 0.2)])
    >>> f"{found.risk:.2f}, {found.low:.2f} to {found.high:.2f}"
    '0.50, 0.36 to 0.62'
    """
    tried = [trial for trial in trials if trial.attacks]
    if not tried:
        return NOT_TRIED
    deviations = NormalDist().inv_cdf(1 - _ERROR / (2 * len(tried)))
    ways = tuple(_estimate(trial, deviations) for trial in tried)
    return replace(max(ways, key=lambda way: way.low), ways=ways)


def _estimate(trial: Trial, deviations: float) -> AttackRisk:
    success, low, high = _wilson(trial.hits, trial.attacks, deviations)
    if not trial.control_attacks:
        return AttackRisk(
            trial.name, success, low, high, trial.baseline, success, None, trial.attacks
        )
    shares = _wilson(trial.control_hits, trial.control_attacks, deviations)
    control, least, most = (min(trial.factor * share, 1.0) for share in shares)
    beyond = _difference if trial.difference else _beyond
    if control >= 1:  # nothing is left to find beyond the control group
        return AttackRisk(
            trial.name, 0.0, 0.0, 1.0, trial.baseline, success, control, trial.attacks
        )
    risk = beyond(success, control)
    against = _correlation(success, shares[0]) if trial.exclusive else 0.0
    # square-and-add: how far the risk moves if each share moves to its own end
    below = _together(risk - beyond(low, control), risk - beyond(success, most), against)
    above = _together(beyond(high, control) - risk, beyond(success, least) - risk, against)
    return AttackRisk(
        trial.name,
        max(risk, 0.0),
        min(max(risk - below, 0.0), 1.0),
        min(max(risk + above, 0.0), 1.0),
        trial.baseline,
        success,
        control,
        trial.attacks,
    )


def _beyond(success: float, control: float) -> float:
    """Return the success beyond the control group, negative if it is below."""
    if control >= 1:
        return -math.inf
    return (success - control) / (1 - control)


def _difference(success: float, control: float) -> float:
    return success - control


def _correlation(share: float, other: float) -> float:
    """Return the absolute correlation of the shares of two outcomes that exclude each other."""
    if 0 < share < 1 and 0 < other < 1:
        return min(math.sqrt(share * other / ((1 - share) * (1 - other))), 1.0)
    return 0.0


def _together(margin: float, other: float, against: float) -> float:
    """Return the margin of a difference from the margins of its two sides."""
    if math.isinf(other):
        return math.inf
    return math.sqrt(margin**2 + other**2 + 2 * against * margin * other)


def _wilson(hits: int, tries: int, deviations: float) -> tuple[float, float, float]:
    """Return a share with its Wilson interval."""
    share, square = hits / tries, deviations**2
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    spread = math.sqrt(share * (1 - share) / tries + square / (4 * tries**2))
    width = deviations * spread / (1 + square / tries)
    low = 0.0 if hits == 0 else max(middle - width, 0.0)
    high = 1.0 if hits == tries else min(middle + width, 1.0)
    return share, low, high
