"""The columns of a release, the people it is about, and how many records match each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.metrics.registry import is_exact
from shoal.release.provenance import Tally
from shoal.release.release import Release
from shoal.report.masking import Mask, rounded
from shoal.risk.reidentification import Reidentification
from shoal.support.arrays import Counts
from shoal.support.wording import counted, people_in_rows
from shoal.table.classes import Classes
from shoal.table.column import Column, Role
from shoal.table.recoding import Recoding
from shoal.table.table import Table

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


MAX_BARS = 15


def uniqueness(
    release: Release,
    found: Reidentification,
    k: int,
    mask: Mask,
    before: tuple[Counts, Counts] | None = None,
) -> list[dict[str, Any]]:
    """Return, before and after, how many people are unique or match fewer than k records.

    before: the sizes of the original tuples, and how many have each, if the rows do not show them.
    """
    if before is None:
        original = Reidentification.of_classes(Classes.by_quasi(release.original))
        before = original.sizes, original.weights
    else:
        before = before[0], before[0] * before[1]
    sides = [("before", *before), ("after", found.sizes, found.weights)]
    counts = []
    for side, sizes, weights in sides:
        people = int(weights.sum())
        alone, few = (int(weights[sizes < size].sum()) for size in (2, k))
        counts.append(
            {
                "side": side,
                "alone": mask.count(alone, people),
                "alone_share": mask.share(alone, people),
                "below_k": mask.count(few, people),
                "below_k_share": mask.share(few, people),
                "average": rounded(float((sizes * weights).sum()) / max(people, 1)),
            }
        )
    return counts


def size_bars(found: Reidentification, mask: Mask) -> list[dict[str, Any]]:
    """Return how many classes, or people, have each number of candidates; the last bar may be open.

    The share of a bar is the share of people whose smallest class it counts. Anyone can count the
    classes of a release. People by number of candidates cannot be counted there, so bars of few
    people are merged with the next.
    """
    if not len(found.sizes):
        return []
    sizes = found.class_sizes if found.by_class else found.sizes
    edges = _edges(int(sizes.min()), int(sizes.max()))
    people = _heights(edges, found.sizes, found.weights)
    # heights: (bars,) classes; people: (bars,) whose smallest class the bar counts
    heights = _heights(edges, sizes, np.ones_like(sizes))
    if not found.by_class:
        edges = _joined(edges, people.tolist(), mask.least)
        heights = people = _heights(edges, sizes, found.weights)
    ends: list[int | None] = [edge - 1 for edge in edges[1:]]
    ends.append(edges[-1] if int(sizes.max()) == edges[-1] else None)
    return [
        {
            "from": edges[bar],
            "to": ends[bar],
            "number": int(heights[bar]),
            "share": rounded(people[bar] / max(found.people, 1)),
        }
        for bar in range(len(edges))
    ]


def _heights(edges: list[int], sizes: Counts, weights: Counts) -> Counts:
    """Return, for each bar, the total weight of the sizes in it."""
    bar = np.searchsorted(edges, sizes, side="right") - 1
    return np.bincount(bar, weights, len(edges)).astype(np.int64)


def _edges(least: int, greatest: int) -> list[int]:
    """Return where bars begin: at every size, or at 1, 2, 5, 10, … if there are many sizes."""
    if greatest - least < MAX_BARS:
        return list(range(least, greatest + 1))
    round_ones = (step * 10**power for power in range(19) for step in (1, 2, 5))
    return [least, *(size for size in round_ones if least < size <= greatest)]


def _joined(edges: list[int], heights: list[int], least: int) -> list[int]:
    """Return the edges after merging each bar with fewer than `least` people into the next."""
    kept: list[int] = []
    held = 0
    for edge, height in zip(edges, heights, strict=True):
        # a bar is closed once it has enough people; the last one may join the bar before it
        if not kept or held >= least:
            kept.append(edge)
            held = 0
        held += height
    return kept if held >= least or len(kept) < 2 else kept[:-1]


def records(release: Release, mask: Mask) -> dict[str, Any]:
    """Return how many rows and people were released and suppressed.

    Counts about fewer people than the mask allows are given in words, and totals that would reveal
    them are omitted.
    """
    tally = Tally.of(release.classes)
    touched = _touched(release)
    rows = mask.rows(tally.suppressed, touched)
    people = mask.count(tally.suppressed_people)
    exact = isinstance(rows, int)
    share = mask.share(tally.suppressed, tally.records) if exact else None
    return {
        "released": tally.released,
        "suppressed": rows,
        "suppressed_share": share,
        "total": tally.records if exact else None,
        "released_people": tally.released_people,
        "suppressed_people": people,
        "total_people": tally.people if exact and isinstance(people, int) else None,
    }


def _touched(release: Release) -> int:
    """Return how many people have a suppressed row."""
    table, hidden = release.original, release.suppressed
    if hidden is None:
        return 0
    if table.person is None:
        return release.classes.suppressed
    return len(np.unique(table.person.ids[hidden]))


def unit(kept: Release) -> dict[str, Any]:
    """Return the columns that identify people and households, and the counts that follow.

    kept: the released rows alone.
    """
    table = kept.original
    return {
        "person": [] if table.person is None else list(table.person.columns),
        "household": [] if table.household is None else list(table.household.columns),
        "rows_are_people": table.rows_are_people,
        "people": table.people,
        "rows": table.records,
        "households": None if table.household is None else table.household.count,
        "several_rows": table.people != table.records,
        "statement": _statement(kept),
    }


def _statement(kept: Release) -> str:
    table = kept.original
    if table.person is not None:
        named = f"person: {', '.join(table.person.columns)}"
        rows = counted(table.records, "row")
        people = counted(table.people, "person", "people")
        statement = f"The release is about {people} in {rows} ({named})."
    elif table.rows_are_people:
        statement = "The data owner stated that every row is a different person."
    else:
        statement = "No person column was declared: each row counts as one person."
    if table.household is not None:
        named = f"household: {', '.join(table.household.columns)}"
        statement += f" They belong to {counted(table.household.count, 'household')} ({named})."
    return statement


def released_in_words(counts: dict[str, Any]) -> str:
    """Return what is released and what is suppressed, as the first clause of the verdict.

    counts: as `records` returns it.
    """
    rows, people = counts["released"], counts["released_people"]
    if rows == people:
        what = counted(rows, "record is", "records are")
    else:
        what = f"{people_in_rows(people, rows)} are"
    suppressed = counts["suppressed"]
    if suppressed == 0:
        return f"{what} released"
    if isinstance(suppressed, str):
        return f"{what} released, {suppressed} suppressed"
    several = " rows" if rows != people else ""
    return f"{what} released, {suppressed:,}{several} suppressed"
