"""Attacks on a release for its evidence: four attacks beyond a control group, and a rehearsal.

All figures are about released people: suppressed ones could be counted otherwise. Shares need
enough people, so that no figure is about a few of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.evidence.verify import LEAST, masked
from shoal.risk.linkage import link
from shoal.risk.proportion import proportion
from shoal.risk.release_attacks.attack import ATTACKS, attack
from shoal.risk.release_attacks.estimates import AttackRisk

LEAST_PEOPLE = 100  # of the original and of the control group, for figures of attacks
_MAX_LISTED = 2000  # people that the intruder of the rehearsal looks for
_SEED = 0
NO_CONTROL = "no control group"
TOO_FEW = "too few people"
WITHHELD = "withheld"
NOT_POSSIBLE = "not possible"
ON_DISK = "rows on disk"


def attacks_on(kept: Release, control: Table | None) -> dict[str, Any]:
    """Return the figures of four attacks beyond a control group.

    Parameters:
        kept: The release without suppressed rows.
        control: People of the same population who are not released, None for no attacks.
    """
    reason = _reason(kept, control)
    nothing: dict[str, Any] = {name: dict(_NOT_MEASURED) for name in ATTACKS}
    if reason is None:
        try:
            found = attack(kept.original, kept, control=control, seed=_SEED)
        except InputError:
            reason = NOT_POSSIBLE
        else:
            if min(found.people, found.control or 0) < LEAST_PEOPLE:
                reason = TOO_FEW
    if reason is not None:
        return {"measured": False, "reason": reason, "people": None, "control": None, **nothing}
    figures = {name: _figures(name, getattr(found, name)) for name in ATTACKS}
    about = {"people": found.people, "control": found.control}
    return {"measured": True, "reason": None, **about, **figures}


def _reason(kept: Release, control: Table | None) -> str | None:
    if kept.withheld:
        return WITHHELD
    if control is None:
        return NO_CONTROL
    return TOO_FEW if min(kept.original.people, control.people) < LEAST_PEOPLE else None


_NOT_MEASURED: dict[str, Any] = {
    "measured": False,
    **dict.fromkeys(("risk", "low", "high", "control", "baseline", "flagged", "attacks", "way")),
    "ways": [],
}


def _figures(name: str, found: AttackRisk) -> dict[str, Any]:
    if not found.attacks:
        return dict(_NOT_MEASURED)
    figures = _risk(found) | {"measured": True, "ways": []}
    if name == "inference":  # a way is a sensitive column
        figures["ways"] = [_risk(way) for way in found.ways]
    return figures


def _risk(found: AttackRisk) -> dict[str, Any]:
    """Return the figures of one way to attack; an upper end is rounded up, a risk is not hidden."""
    return {
        "risk": round(found.risk, 3),
        "low": _down(found.low),
        "high": _up(found.high),
        "control": None if found.control is None else round(found.control, 3),
        "baseline": round(found.baseline, 3),
        "flagged": found.flagged,
        "attacks": found.attacks,
        "way": found.name,
    }


def _down(share: float) -> float:
    return math.floor(share * 1000 + 1e-9) / 1000


def _up(share: float) -> float:
    return min(math.ceil(share * 1000 - 1e-9) / 1000, 1.0)


def rehearsal(kept: Release) -> dict[str, Any]:
    """Return how many people an intruder finds who has a list of half of them.

    The intruder knows the quasi-identifiers of the listed people and links each with at most one
    released record.

    Parameters:
        kept: The release without suppressed rows.
    """
    reason = WITHHELD if kept.withheld else None
    table = kept.original
    if reason is None and table.people < LEAST_PEOPLE:
        reason = TOO_FEW
    if reason is None and table.counts is not None:  # weighted rows stand for those on disk
        reason = ON_DISK
    if reason is None:
        try:
            return _rehearsed(kept, table)
        except InputError:
            reason = NOT_POSSIBLE
    nothing = dict.fromkeys(("listed", "found", "share", "low", "high", "guessing"))
    return {"measured": False, "reason": reason, **nothing}


def _rehearsed(kept: Release, table: Table) -> dict[str, Any]:
    rng = np.random.default_rng(_SEED)
    count = min(table.people // 2, _MAX_LISTED)
    people = rng.permutation(table.people)[:count]
    rows = people if table.person is None else np.flatnonzero(np.isin(table.person.ids, people))
    rows = rng.permutation(rows)
    result = link(kept, table.take(rows), truth=rows, seed=_SEED)
    assert result.success is not None
    hits = result.success.hits
    few = 0 < hits < LEAST
    ends = proportion(LEAST - 1 if few else hits, count)  # never below the true share
    return {
        "measured": True,
        "reason": None,
        "listed": count,
        "found": masked(hits),
        "share": None if few else round(hits / count, 3),
        "low": 0.0 if few else _down(ends.low),
        "high": _up(ends.high),
        "guessing": round(result.success.guess.value / count, 3),
    }
