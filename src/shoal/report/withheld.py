"""The report of a release with differential privacy claims.

It contains only what follows from the released rows and from public inputs. Losses, original
distributions, and the numbers of original and suppressed records depend on records that are not
released, so the report omits them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.core.column import Column
from shoal.core.release import Release
from shoal.report.candidates import size_bars
from shoal.report.columns import left_out_weight
from shoal.report.kept import released_only
from shoal.report.limits import limit
from shoal.report.masking import Mask, rounded
from shoal.report.page import in_words
from shoal.report.repeating import repeating
from shoal.risk.reidentification import Reidentification
from shoal.support.plain_data import plain
from shoal.support.wording import counted

OMITTED = (
    "the number of records in the table, and how many were drawn or suppressed",
    "the information loss, and how many people were unique in the table",
    "the original order of the rows: they are sorted by their published values",
    "the running time",
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
    """Return the contents of the report; equal released rows and nodes give equal contents.

    guarantee: the guarantee and the levels achieved, counted on the published rows.
    """
    found = Reidentification.of(released_only(release.shown))
    fewest = found.fewest if release.rows_per_person == 1 else release.verify().smallest
    rows = int(release.classes.rows.sum())  # people cannot be counted from published rows
    claims = [plain(claim.to_dict()) for claim in release.claims]
    return {
        "verdict": _verdict(release, rows, [claim["claim"] for claim in claims]),
        "records": {"released": rows},
        "guarantee": guarantee,
        "claims": claims,
        "not_told": list(OMITTED),
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
    """Return every column with its role and how it is released, without figures."""
    table, node = release.original, release.node or {}
    held = [
        {"name": c.name, "role": str(c.role), "treatment": _treatment(release, c, node.get(c.name))}
        for c in table
    ]
    held += left_out_weight(table, {})
    no_role = "left out: it has no role"
    return held + [{"name": n, "role": None, "treatment": no_role} for n in table.unassigned]


def _treatment(release: Release, column: Column, level: int | None) -> str:
    if column.role == "identifier":
        return "left out: it names a person"
    if level is None or level == 0:
        return "released unchanged; records with different values are in different groups"
    tree = release.recodings[column.name].column.hierarchy
    height = level if tree is None else tree.height
    if level == height:
        return "hidden entirely"
    return f"generalized by its hierarchy (level {level} of {height})"


_LIMITS = (
    limit(
        "Facts about many people",
        "The claim limits what anyone can learn from the presence of one person's record. It does "
        "not hide facts that are true of many people, such as that a disease is common in an "
        "occupation, nor what follows from them about a person whose occupation is known.",
    ),
    limit(
        "One record per person",
        "Neighbouring tables differ in one record. A person with several records, or a family, is "
        "protected less: ε counts once for each of their records, and δ grows even faster.",
    ),
    limit(
        "What is assumed to be public",
        "The names, roles and types of columns, the hierarchies and the options of the run are "
        "assumed to be public. A hierarchy built from the table itself, such as from its quantiles "
        "or its longest value, is not public, and the claim then does not hold.",
    ),
    limit(
        "Several releases",
        "Each further release about the same people adds its ε and its δ. Keep track of the sum.",
    ),
    limit(
        "Other outputs of the run",
        "The running time, an error message, or a figure shared with a colleague may depend on "
        "records that are not released. The claim covers only the release and this report.",
    ),
    limit(
        "The word “anonymous”",
        "This is not a legal opinion: that depends on who receives the data, what other data they "
        "have, and the applicable law.",
    ),
)
