"""Live figures: the smallest group, the people at risk, and the cells that a release would keep.

Groups are counted exactly at once, because counting is quick. What a release would keep is first
estimated on a sample and then found on the whole table, with the chosen method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.anonymize import METHODS
from shoal.anonymize import anonymize as run
from shoal.core.classes import Classes
from shoal.core.grouping import group
from shoal.core.people import count_distinct
from shoal.core.table import Table
from shoal.errors import ShoalError
from shoal.metrics.cell_shares import cell_shares
from shoal.privacy.expressions import parse
from shoal.web.project.desk import Desk, TableRequest

SAMPLE_ROWS = 3_000
_MAX_EXACT_CELLS = 2_000_000  # rows times columns that a quick method finishes in seconds
_QUICK = ("mondrian", "sorted", "datafly", "flash", "ola", "samarati", "incognito")


@dataclass(frozen=True)
class Groups:
    """People who share a combination of quasi-identifiers, as the table is now.

    Parameters:
        rows: Number of rows.
        people: Number of people.
        smallest: People in the smallest group.
        at_risk: People in groups with fewer than k people.
        unique: People who are alone in a group.
        kept: Share of cells of quasi-identifiers that would keep their value if the rows at risk
            were suppressed and nothing else were done.
        k: The k that `at_risk` refers to.
    """

    rows: int
    people: int
    smallest: int
    at_risk: int
    unique: int
    kept: float
    k: int


@dataclass(frozen=True)
class Outlook:
    """What a release would keep.

    Parameters:
        kept: Share of cells of quasi-identifiers that keep their value.
        generalized: Share of cells that show a range or a group.
        hidden: Share of cells that show nothing, suppressed rows included.
        suppressed: Share of rows that are suppressed.
        smallest: People in the smallest group.
        rows: Rows it was found on.
        exact: Whether these are all rows, otherwise it is an estimate.
        problem: Why there is no release, in one sentence; the other figures are then 0.
        note: What to know instead of figures, for a release that is drawn at random.
    """

    kept: float = 0.0
    generalized: float = 0.0
    hidden: float = 0.0
    suppressed: float = 0.0
    smallest: int = 0
    rows: int = 0
    exact: bool = False
    problem: str = ""
    note: str = ""


@dataclass(frozen=True)
class Figures:
    """The live figures of a project; parts are None until they are known."""

    groups: Groups | None = None
    outlook: Outlook | None = None


def count_groups(
    desk: Desk, request: TableRequest, k: int, levels: Mapping[str, int] | None = None
) -> Groups:
    """Count groups of people with equal quasi-identifiers, exactly.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        k: Groups with fewer people are at risk.
        levels: The level of some columns' hierarchies; other columns are counted as they are.
    """
    table = desk.table(request, ("quasi",))
    codes, domains = [], []
    for column in table.quasi_columns:
        level = (levels or {}).get(column.name, 0)
        if level and column.hierarchy is not None:
            grouping = column.hierarchy.levels[min(level, column.hierarchy.height)]
            codes.append(grouping.groups[column.codes])
            domains.append(len(grouping))
        else:
            codes.append(column.codes)
            domains.append(column.domain)
    found = group(codes, domains)
    unit = table.unit
    sizes = found.sizes() if unit is None else count_distinct(found.ids, len(found), unit)
    return Groups(
        rows=len(table),
        people=table.people,
        smallest=int(sizes.min()) if len(sizes) else 0,
        at_risk=_people_in(found.ids, sizes < k, table),
        unique=_people_in(found.ids, sizes < 2, table),
        kept=_kept(table, levels or {}, float((sizes >= k)[found.ids].mean())),
        k=k,
    )


def _kept(table: Table, levels: Mapping[str, int], released: float) -> float:
    """Return the share of cells that keep their value: of columns at level 0, in released rows."""
    unchanged = sum(not levels.get(name) for name in table.quasi)
    return unchanged / len(table.quasi) * released


def _people_in(ids: Any, chosen: Any, table: Table) -> int:
    """Return the number of people with a row in one of the chosen groups."""
    rows = chosen[ids]
    if table.person is None:
        return int(rows.sum())
    return len(np.unique(table.person.ids[rows]))


def foresee(
    desk: Desk,
    request: TableRequest,
    model: str,
    method: str,
    options: Mapping[str, Any],
    rows: int | None = SAMPLE_ROWS,
) -> Outlook:
    """Return what a release would keep, found with the chosen method.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        model: The guarantee as text.
        method: The name of the method.
        options: Its options.
        rows: The number of rows of the sample, None for all rows.
    """
    table = desk.table(request)
    records = len(table)
    if rows is not None and records > rows:
        table = _sample(table, rows)
    try:
        release = run(table, parse(model), method, **options)
    except ShoalError as error:
        return Outlook(rows=len(table), exact=len(table) == records, problem=str(error))
    shares = cell_shares(release)
    classes: Classes = release.classes
    sizes = classes.sizes
    return Outlook(
        shares.kept,
        shares.generalized,
        shares.hidden,
        classes.suppressed / max(len(table), 1),
        int(sizes.min()) if len(sizes) else 0,
        len(table),
        exact=len(table) == records,
    )


def _sample(table: Table, rows: int) -> Table:
    """Return a random sample with all rows of each chosen person, the same for equal tables."""
    random = np.random.default_rng(0)
    if table.person is None:
        chosen = np.sort(random.choice(len(table), rows, replace=False))
    else:
        people = max(int(table.person.count * rows / len(table)), 1)
        drawn = np.zeros(table.person.count, dtype=np.bool_)
        drawn[random.choice(table.person.count, people, replace=False)] = True
        chosen = np.flatnonzero(drawn[table.person.ids])
    return table.take(chosen)


def is_quick(method: str, rows: int, columns: int) -> bool:
    """Return whether a method finds a release of the whole table within seconds.

    Parameters:
        method: The name of the method.
        rows: Rows of the table.
        columns: Number of quasi-identifiers.

    >>> is_quick("mondrian", 100_000, 8), is_quick("optimal", 1_000, 8)
    (True, False)
    """
    return method in _QUICK and method in METHODS and rows * columns <= _MAX_EXACT_CELLS
