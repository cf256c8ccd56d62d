"""How well models trained on a release predict a column, measured on the released records only."""

from __future__ import annotations

from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError
from shoal.report.masking import rounded
from shoal.utility import evaluate


def learning(kept: Release, target: str | None) -> dict[str, Any] | None:
    """Return how well models predict the target, or None without a target."""
    if target is None:
        return None
    evaluation = evaluate(kept, target).to_dict()
    for score in evaluation["scores"]:
        for name, value in score.items():
            if isinstance(value, float):
                score[name] = rounded(value)
    return evaluation


def refuse_learning(target: str | None) -> None:
    """Raise an error for a target: its figures depend on records that are not released."""
    if target is not None:
        raise InputError(
            "target: the report of a release with differential privacy claims cannot include "
            "predictive utility, which is measured on the original table; omit the target, and do "
            "not publish the output of `shoal utility`"
        )
