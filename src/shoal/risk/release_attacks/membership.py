"""Membership inference: the nearest released row shows whether a person is released.

The attacker knows the quasi-identifiers of a person and claims that the person was released if a
released row is near enough. How near is learned from one half of the drawn people and tried on the
other half, so that the threshold cannot fit the people it is judged on. A second way claims only
people whose values a released row covers exactly. The risk is the difference of the shares of
released and of other people who are claimed.

Membership reveals what all released people have in common, such as a disease. k-anonymity does not
limit it: released people are always covered by their own class, and others often by none.
Nergiz, Atzori & Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007;
Shokri et al., "Membership inference attacks against machine learning models", IEEE S&P 2017.
"""

from __future__ import annotations

import numpy as np

from shoal.risk.release_attacks.estimates import NOT_TRIED, AttackRisk, Trial, estimate_risk
from shoal.risk.release_attacks.neighbours import EXACT, Space
from shoal.risk.release_attacks.sources import Sources
from shoal.support.arrays import Bools, Floats

_NEAREST, _COVERED = "nearest row", "covered by a row"


def recognize_members(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that released people are recognized as released.

    Parameters:
        attacks: The maximum number of people to attack.
        seed: Seed of the drawn people.
    """
    if sources.people_counts[1] < 2:  # one to learn from, one to try
        return NOT_TRIED
    rng = np.random.default_rng(seed)
    space = Space(sources, list(sources.quasi), rng.permutation(len(sources.distinct)))
    members, others = (
        space.search(sources.draw(attacks, rng, control=control), 1).distances[:, 0]
        for control in (False, True)
    )
    threshold = best_threshold(members[0::2], others[0::2])
    return estimate_risk(
        [
            _trial(_NEAREST, members[1::2] <= threshold, others[1::2] <= threshold),
            _trial(_COVERED, members < EXACT, others < EXACT),
        ]
    )


def best_threshold(members: Floats, others: Floats) -> float:
    """Return the distance up to which the share of members exceeds that of others most.

    >>> best_threshold(np.array([0.0, 0.1, 0.9]), np.array([0.5, 0.6, 0.9]))
    0.1
    """
    distances = np.unique(np.concatenate((members, others)))
    shares = [
        np.searchsorted(np.sort(group), distances, side="right") / max(len(group), 1)
        for group in (members, others)
    ]
    return float(distances[np.argmax(shares[0] - shares[1])])


def _trial(name: str, claimed: Bools, others: Bools) -> Trial:
    """Return the trial; a naive guesser claims as many people, but at random."""
    blind = float((claimed.mean() + others.mean()) / 2) if len(claimed) and len(others) else 0.0
    counts = int(claimed.sum()), len(claimed), int(others.sum()), len(others)
    return Trial(name, *counts, blind, difference=True)
