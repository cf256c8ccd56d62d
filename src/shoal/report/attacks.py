"""Attacks that the size of classes does not stop, with their figures where these may be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.report.masking import Mask, rounded
from shoal.risk import Check, checks

_PEOPLE = ("certain", "nearly", "raised", "alike", "different", "held_people", "divisible_people")


def sensitive_columns(kept: Release, same_value: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the sensitive columns with the parts of the guarantee that look at them.

    same_value: for each column with such groups, how many groups and people show one value.
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
    """Return what each kind of attack finds, or why that was not counted."""
    try:
        found = checks(kept) if len(kept.original) else ()
    except InputError as error:
        return {"checks": [], "reason": str(error)}
    return {"checks": [_told(check, mask) for check in found], "reason": None}


def _told(check: Check, mask: Mask) -> dict[str, Any]:
    figures, total = dict(check.figures), int(check.figures["people"])
    masked = ""
    for name in _PEOPLE:
        if name not in figures:
            continue
        told = mask.count(int(figures[name]), total)
        masked = masked or (told if isinstance(told, str) else "")
        share = f"{name.removesuffix('_people')}_share"
        if share in figures:
            figures[share] = mask.share(int(figures[name]), total)
        figures[name] = told
    return {
        "name": check.name,
        "title": check.title,
        "column": check.column,
        "severity": check.severity,
        "sentence": f"{masked} of the released people are touched" if masked else check.sentence,
        "figures": {n: rounded(v) if isinstance(v, float) else v for n, v in figures.items()},
    }
