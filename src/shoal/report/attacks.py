"""Attacks that class size does not stop, with small counts masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.metrics.metric import APART
from shoal.report.masking import Mask, rounded
from shoal.risk import Check, checks
from shoal.risk.checks import guards_values

_PEOPLE = ("certain", "nearly", "raised", "alike", "different", "held_people", "divisible_people")


def sensitive_columns(kept: Release, same_value: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the sensitive columns with the parts of the guarantee that cover them.

    same_value: for each column with groups that share one value, how many groups and people.
    """
    parts = kept.model.parts
    return [
        {
            "column": name,
            "guarded_by": [str(part) for part in parts if name in part.columns],
            "same_value": same_value.get(name),
        }
        for name in kept.original.sensitive
    ]


def attacks(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the finding of each kind of attack, and the reason if some are not counted."""
    try:
        found = checks(kept) if len(kept.original) else ()
    except InputError as error:
        return {"checks": [], "reason": str(error)}
    reason = None
    if guards_values(kept) and not kept.knows("tuple"):
        reason = f"reasoning from the method (minimality), which {APART}"
    return {"checks": [_masked(check, mask) for check in found], "reason": reason}


def _masked(check: Check, mask: Mask) -> dict[str, Any]:
    figures, total = dict(check.figures), int(check.figures["people"])
    words = ""
    for name in _PEOPLE:
        if name not in figures:
            continue
        shown = mask.count(int(figures[name]), total)
        words = words or (shown if isinstance(shown, str) else "")
        share = f"{name.removesuffix('_people')}_share"
        if share in figures:
            figures[share] = mask.share(int(figures[name]), total)
        figures[name] = shown
    return {
        "name": check.name,
        "title": check.title,
        "column": check.column,
        "severity": check.severity,
        "sentence": f"{words} of the released people are affected" if words else check.sentence,
        "figures": {n: rounded(v) if isinstance(v, float) else v for n, v in figures.items()},
    }
