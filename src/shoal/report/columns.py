"""How each column is released: role, hierarchy, and the form of its cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.column import Column, Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.metrics.cell_shares import is_exact
from shoal.report.masking import Mask

_PASSED = {
    Role.IDENTIFIER: "left out: it names a person",
    Role.SENSITIVE: "released unchanged",
    Role.INSENSITIVE: "released unchanged, neither generalized nor checked",
}


def columns(kept: Release, mask: Mask) -> list[dict[str, Any]]:
    """Return every column of the table, including those left out of the release.

    kept: the release without the suppressed rows.
    """
    table = kept.original
    held = [_column(table, column, kept.recodings.get(column.name), mask) for column in table]
    for column in held:
        if column["name"] in kept.replaced:
            column["treatment"] = kept.replaced[column["name"]].treatment
    blank = dict.fromkeys(("kind", "values", "missing", "weight", "levels"))
    unassigned = [
        {"name": name, "role": None, **blank, "treatment": "left out: it has no role"}
        for name in table.unassigned
    ]
    return held + left_out_weight(table, blank) + unassigned


def left_out_weight(table: Table, blank: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the line of a sampling weight that is not published."""
    if table.weights is None or table.weights.column in table:
        return []
    treatment = "left out: a weight can single people out; used to estimate the population"
    return [{"name": table.weights.column, "role": "weight", **blank, "treatment": treatment}]


def _column(table: Table, column: Column, recoding: Recoding | None, mask: Mask) -> dict[str, Any]:
    studied = column.role in (Role.QUASI, Role.SENSITIVE)
    return {
        "name": column.name,
        "role": str(column.role),
        "kind": str(column.kind) if studied else None,
        "values": column.domain if studied else None,
        "missing": _missing(table, column, mask) if studied else None,
        "weight": column.weight if column.role is Role.QUASI else None,
        "levels": _levels(column),
        "treatment": _passed(table, column) if recoding is None else treatment(recoding),
    }


def _passed(table: Table, column: Column) -> str:
    """Return how a column that is not a quasi-identifier is released."""
    for what, unit in (("person", table.person), ("household", table.household)):
        if unit is not None and column.name in unit.columns:
            return f"left out: it identifies the {what}"
    return _PASSED[column.role]


def _missing(table: Table, column: Column, mask: Mask) -> int | str:
    """Count the released cells without a value; the count is masked if it concerns few people."""
    if column.missing is None:
        return 0
    rows = column.codes == column.missing
    return mask.rows(
        int(rows.sum() if table.counts is None else table.counts[rows].sum()),
        int(table.people_with(column.name)[column.missing]),
    )


def _levels(column: Column) -> list[int] | None:
    """Return the number of labels at each level of the hierarchy, from the values to the root."""
    return None if column.hierarchy is None else [len(level) for level in column.hierarchy.levels]


def treatment(recoding: Recoding) -> str:
    """Return how the cells of a quasi-identifier are published, in words."""
    used = np.flatnonzero(np.bincount(recoding.codes, minlength=len(recoding.labels)))
    if not len(used):
        return "not published: no record is released"
    sizes, hidden = recoding.subsets.sizes[used], recoding.subsets.whole[used]
    if is_exact(recoding)[used].all():
        return "kept exactly"
    if hidden.all():
        return "hidden entirely"
    originals = set(recoding.column.labels)
    named = np.array([recoding.labels[entry] in originals for entry in used.tolist()])
    levels = None if recoding.levels is None else recoding.levels[used]
    if levels is not None and (levels >= 0).all():
        return _by_level(recoding.column, int(levels.min()), int(levels.max()))
    if (named & (sizes > 1)).any():
        return "published as one typical value for each group"
    return "published as ranges" if recoding.column.ordered else "published as sets of values"


def _by_level(column: Column, low: int, high: int) -> str:
    assert column.hierarchy is not None
    top = column.hierarchy.height
    if low == high:
        return f"generalized by its hierarchy (level {low} of {top})"
    return f"generalized by its hierarchy (levels {low} to {high} of {top})"
