"""What the guarantee does not cover, with small counts masked so that a report may state them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal.core.release import Release
from shoal.report.masking import Mask
from shoal.risk.caveats import caveats
from shoal.risk.linked_rows import LinkedRows
from shoal.risk.singling_out import SinglingOut, Uniques
from shoal.support.wording import counted, percent_of


@dataclass(frozen=True)
class NotCovered:
    """Risks that a report states beside the guarantee.

    warnings: risks that affect many people, in words.
    same_value: for each sensitive column with groups that share one value, how many, in words.
    singling_out: how many people the columns published unchanged single out.
    """

    warnings: list[str]
    same_value: dict[str, str]
    singling_out: dict[str, Any]


def not_covered(
    kept: Release,
    mask: Mask,
    singled: SinglingOut | None = None,
    linked: LinkedRows | None = None,
) -> NotCovered:
    """Return what the guarantee of a release does not cover; `kept` are the released records.

    singled, linked: who is singled out, also by linked rows, if it was counted elsewhere.
    """
    found = caveats(kept)
    if singled is not None:
        found = replace(found, singling_out=singled)
    if linked is not None:
        found = replace(found, linked=linked)

    def say(some: int, total: int) -> str:
        shown = mask.count(some, total)
        people = counted(total, "person", "people")
        if isinstance(shown, str):
            return f"{shown} of {people}"
        return f"{shown:,} of {people} ({percent_of(some, total)})"

    return NotCovered(
        warnings=found.sentences(say, "group"),
        same_value={
            each.column: found.describe(each, say, "group")
            for each in found.same_value
            if each.certain
        },
        singling_out=_masked(found.singling_out, kept, mask),
    )


def _masked(found: SinglingOut, kept: Release, mask: Mask) -> dict[str, Any]:
    roles = {column.name: str(column.role) for column in kept.original}
    return {
        "people": found.people,
        "notable": found.notable,
        "columns": [
            {"column": each.columns[0], "role": roles[each.columns[0]], **_counts(each, mask)}
            for each in found.columns
        ],
        "together": None if found.together is None else _counts(found.together, mask),
    }


def _counts(found: Uniques, mask: Mask) -> dict[str, Any]:
    both = found.with_quasi or 0
    return {
        "alone": mask.count(found.alone, found.people),
        "alone_share": mask.share(found.alone, found.people),
        "with_quasi": mask.count(both, found.people),
        "with_quasi_share": mask.share(both, found.people),
    }
