"""What models still learn from a release, as a report tells it: of the released records alone."""

from __future__ import annotations

from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.report.masking import rounded
from shoal.utility import evaluate


def learning(kept: Release, target: str | None) -> dict[str, Any] | None:
    """Return how well models predict the target, None where none is named."""
    if target is None:
        return None
    found = evaluate(kept, target).to_dict()
    for score in found["scores"]:
        for name, value in score.items():
            if isinstance(value, float):
                score[name] = rounded(value)
    return found


def refuse_learning(target: str | None) -> None:
    """Refuse a target where nothing may be told that depends on records which are not released."""
    if target is not None:
        raise InputError(
            "target: a report of a release with claims cannot tell what models learn, as that is "
            "measured on the raw table; leave it out, and keep `shoal utility` to yourself"
        )
