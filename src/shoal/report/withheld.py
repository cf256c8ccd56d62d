"""The report of a release with claims: what follows from its rows and from public inputs, no more.

Losses, distributions before, the number of records and how many were left out depend on records
that are not released, and so do not stand here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.core.column import Column
from shoal.core.release import Release
from shoal.core.wording import counted
from shoal.report.candidates import size_bars
from shoal.report.kept import released_only
from shoal.report.limits import limit
from shoal.report.masking import Mask, rounded
from shoal.report.page import in_words
from shoal.report.repeating import plain, repeating
from shoal.risk.reidentification import Reidentification

NOT_TOLD = (
    "how many records the table has, and how many of them were drawn or left out",
    "what the release lost against the table, and who stood out there",
    "in which order the rows came: they are sorted by what is published of them",
    "how long the run took",
)


def withheld_contents(
    release: Release,
    guarantee: dict[str, Any],
    mask: Mask,
    *,
    command: str | None,
    released: Path | None,
    order: str,
) -> dict[str, Any]:
    """Return what may be told; tables with the same released rows and node give the same.

    guarantee: what was promised and reached, counted in the published rows.
    """
    found = Reidentification.of(released_only(release.shown))
    fewest = found.fewest if release.rows_per_person == 1 else release.verify().smallest
    rows = int(release.classes.rows.sum())  # published rows do not tell how many people they are
    claims = [plain(claim.to_dict()) for claim in release.claims]
    return {
        "verdict": _verdict(release, rows, [told["claim"] for told in claims]),
        "records": {"released": rows},
        "guarantee": guarantee,
        "claims": claims,
        "not_told": list(NOT_TOLD),
        "risk": {
            "by_class": True,
            "fewest_candidates": rounded(fewest),
            "sizes": size_bars(found, mask) if release.rows_per_person == 1 else [],
        },
        "columns": _columns(release),
        "limits": list(_LIMITS),
        "repeat": repeating(release, command, released, order=order),
    }


def _verdict(release: Release, rows: int, claims: list[str]) -> str:
    models = " and ".join(map(in_words, release.model.parts))
    return (
        f"{counted(rows, 'record is', 'records are')} released, under {models}. We regrouped the "
        "released rows and checked the guarantee: it holds. The mechanism that drew them claims "
        f"{' and '.join(claims)}."
    )


def _columns(release: Release) -> list[dict[str, Any]]:
    """Return every column with its role and what became of it; figures of it are left out."""
    table, node = release.original, release.node or {}
    held = [
        {"name": c.name, "role": str(c.role), "treatment": _treatment(release, c, node.get(c.name))}
        for c in table
    ]
    nobody = "left out: nobody gave it a role"
    return held + [{"name": n, "role": None, "treatment": nobody} for n in table.unassigned]


def _treatment(release: Release, column: Column, level: int | None) -> str:
    if column.role == "identifier":
        return "left out: it names a person"
    if level is None or level == 0:
        return "released as it is; records that differ in it are in different classes"
    tree = release.recodings[column.name].column.hierarchy
    height = level if tree is None else tree.height
    if level == height:
        return "hidden entirely"
    return f"published at level {level} of its hierarchy, of {height}"


_LIMITS = (
    limit(
        "What holds of many",
        "The claim bounds what anybody learns from one person's record being there. It does not "
        "hide what is true of many people alike, such as that a disease goes with a trade, and "
        "then of a person of whom the trade is known.",
    ),
    limit(
        "One record a person",
        "Neighbouring tables differ in one record. A person with several records, or a family, is "
        "protected less: ε counts once for each of their records, and δ grows faster still.",
    ),
    limit(
        "What is taken for public",
        "Names, roles and types of columns, the hierarchies and the options of the run. A "
        "hierarchy built from the table itself, of its quantiles or its longest value, is not, "
        "and then the claim does not hold.",
    ),
    limit(
        "Several releases",
        "Each further release of the same people adds its ε and its δ. Keep account of them.",
    ),
    limit(
        "Beside the release",
        "The time that the run took, an error, or a figure told to a colleague may depend on "
        "records that are not released. Nothing but the release and this report is covered.",
    ),
    limit(
        "The word anonymous",
        "This is no legal opinion: that depends on who receives the data, what else they have, and "
        "the law of the place.",
    ),
)
