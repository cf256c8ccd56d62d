"""Linkability: two parts of what is known about a person lead to the same released row.

The attacker has two files about the same people, each with half of the quasi-identifiers, and looks
for the nearest released row with each half. If both searches end at the same row, the release has
linked the two files.
"""

from __future__ import annotations

import numpy as np

from shoal.risk.release_attacks.cells import Cells
from shoal.risk.release_attacks.estimates import NOT_TRIED, AttackRisk, Trial, estimate_risk
from shoal.risk.release_attacks.neighbours import Space
from shoal.risk.release_attacks.sources import Sources
from shoal.support.arrays import Bools, Counts

_NEAREST, _COPIES = "nearest row", "exact copy"


def link_halves(sources: Sources, attacks: int, seed: int) -> AttackRisk:
    """Return the risk that the halves of a person's quasi-identifiers are linked.

    Parameters:
        attacks: The maximum number of people to attack.
        seed: Seed of the drawn people, and of the choice among equally near rows.
    """
    if len(sources.quasi) < 2:
        return NOT_TRIED
    rng = np.random.default_rng(seed)
    priority = rng.permutation(len(sources.distinct))
    spaces = [Space(sources, half, priority) for half in halves(sources)]
    rows = [sources.draw(attacks, rng, control=control) for control in (False, True)]
    (linked, copied), (control_linked, control_copied) = (_link(spaces, part) for part in rows)
    blind = 1 / len(next(iter(sources.quasi.values())).codes)
    trials = [
        Trial(name, int(hits.sum()), len(hits), int(others.sum()), len(others), blind)
        for name, hits, others in (
            (_NEAREST, linked, control_linked),
            (_COPIES, copied, control_copied),
        )
    ]
    return estimate_risk(trials)


def halves(sources: Sources) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers in two halves that are about equally informative.

    Columns are ordered by the number of values that would separate as many rows if they were
    equally frequent, and dealt one to each half and then back.
    """
    ranked = sorted(sources.quasi, key=lambda name: -_values(sources.quasi[name]))
    return ranked[0::4] + ranked[3::4], ranked[1::4] + ranked[2::4]


def _values(cells: Cells) -> float:
    counts = np.bincount(cells.codes).astype(np.float64)
    return float(counts.sum() ** 2 / (counts**2).sum())


def _link(spaces: list[Space], rows: Counts) -> tuple[Bools, Bools]:
    """(people,) whether both halves lead to the same row, and to one with exactly these values."""
    nearest = [space.search(rows, 1) for space in spaces]
    same: Bools = nearest[0].rows[:, 0] == nearest[1].rows[:, 0]
    exact: Bools = (nearest[0].distances[:, 0] == 0) & (nearest[1].distances[:, 0] == 0)
    return same, same & exact
