"""Live figures: the smallest group, the people at risk, and the cells that a release would keep.

Groups are counted exactly at once, because counting is quick. What a release would keep is first
estimated on a sample and then found on the whole table, with the chosen method. With differential
privacy nothing is drawn in advance: `foresee_draw` returns what the draw would claim, or which
columns must be declared first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import ShoalError
from shoal.methods import anonymize as run
from shoal.methods.lattice.safe_la import SafeLA
from shoal.methods.registry import METHODS
from shoal.metrics import evaluate
from shoal.metrics.registry import cell_shares
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.models import parse
from shoal.table.classes import Classes
from shoal.table.people import count_distinct, group
from shoal.table.table import Table
from shoal.web.project.analyst import Desk, TableRequest
from shoal.web.project.guarantee import Sentence
from shoal.web.text import protect as text

if TYPE_CHECKING:
    from shoal.web.project.column_roles import ColumnInfo
    from shoal.web.project.on_disk import DiskFile
    from shoal.web.project.project import Project


SAMPLE_ROWS = 3_000
_MAX_EXACT_CELLS = 2_000_000  # rows times columns that a quick method finishes in seconds
_MAX_CELLS_ON_DISK = 20_000_000  # the same for an engine
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
    """The live figures of a project; parts are None until they are known.

    Parameters:
        groups: Groups of the values as they are.
        outlook: What a release would keep.
        levels: Groups at the levels that are chosen by hand.
        costs: For each sentence of the guarantee, the share of the detail that it costs.
    """

    groups: Groups | None = None
    outlook: Outlook | None = None
    levels: Groups | None = None
    costs: Mapping[Sentence, float] = field(default_factory=dict)


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
    disk = desk.disk(request.file)
    if disk is not None:
        return _count_on_disk(disk, request, k, levels or {})
    return groups_of(desk.table(request, ("quasi",)), k, levels or {})


def groups_of(table: Table, k: int, levels: Mapping[str, int]) -> Groups:
    """Count groups of people with equal quasi-identifiers in a table, which may be weighted.

    Parameters:
        table: The table.
        k: Groups with fewer people are at risk.
        levels: The level of some columns' hierarchies.
    """
    codes, domains = [], []
    for column in table.quasi_columns:
        level = levels.get(column.name, 0)
        if level and column.hierarchy is not None:
            grouping = column.hierarchy.levels[min(level, column.hierarchy.height)]
            codes.append(grouping.groups[column.codes])
            domains.append(len(grouping))
        elif level:  # a column without groups is shown or hidden
            codes.append(np.zeros_like(column.codes))
            domains.append(1)
        else:
            codes.append(column.codes)
            domains.append(column.domain)
    # found.ids: (rows,) the group of each row; sizes: (groups,) its people
    found = group(codes, domains)
    unit = table.unit
    if unit is not None:
        sizes = count_distinct(found.ids, len(found), unit)
    elif table.counts is not None:
        sizes = np.bincount(found.ids, table.counts, len(found)).astype(np.int64)
    else:
        sizes = found.sizes()
    weights = np.ones(len(table)) if table.counts is None else table.counts
    released = float(np.average((sizes >= k)[found.ids], weights=weights)) if len(table) else 0.0
    return Groups(
        rows=table.records,
        people=table.people,
        smallest=int(sizes.min()) if len(sizes) else 0,
        at_risk=_people_in(found.ids, sizes < k, table),
        unique=_people_in(found.ids, sizes < 2, table),
        kept=_kept(table.quasi, levels, released),
        k=k,
    )


def _count_on_disk(
    disk: DiskFile, request: TableRequest, k: int, levels: Mapping[str, int]
) -> Groups:
    """Count groups on all rows: of the distinct tuples, or by the engine if they are too many."""
    from shoal.methods.stored import TooManyTuples, weighted_tuples

    large = disk.large(request)
    try:
        return groups_of(weighted_tuples(large, KAnonymity(k), METHODS["mondrian"]())[0], k, levels)
    except TooManyTuples:
        if large.units["person"] or large.units["household"]:
            raise
    sizes, groups = disk.group_sizes(request, levels)
    rows = sizes * groups
    total = int(rows.sum())
    return Groups(
        rows=total,
        people=total,
        smallest=int(sizes.min()),
        at_risk=int(rows[sizes < k].sum()),
        unique=int(rows[sizes < 2].sum()),
        kept=_kept(large.names("quasi"), levels, int(rows[sizes >= k].sum()) / total),
        k=k,
    )


def _kept(quasi: Sequence[str], levels: Mapping[str, int], released: float) -> float:
    """Return the share of cells that keep their value: of columns at level 0, in released rows."""
    unchanged = sum(not levels.get(name) for name in quasi)
    return unchanged / len(quasi) * released


def _people_in(ids: Any, chosen: Any, table: Table) -> int:
    """Return the number of people with a row in one of the chosen groups."""
    rows = chosen[ids]
    if table.person is None:
        return int(rows.sum() if table.counts is None else table.counts[rows].sum())
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
    disk = desk.disk(request.file)
    if rows is None and disk is not None:
        return _foresee_on_disk(disk, request, model, method, options)
    table = desk.table(request)
    records = len(table) if disk is None else disk.rows
    if rows is not None and len(table) > rows:
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


def _foresee_on_disk(
    disk: DiskFile, request: TableRequest, model: str, method: str, options: Mapping[str, Any]
) -> Outlook:
    """Return what a release of all rows keeps, made by the engine and not written."""
    try:
        release: Any = run(disk.large(request), parse(model), method, **options)
        shares, tally = list(release.cells_by_column.values()), release.tally
    except ShoalError as error:
        return Outlook(rows=disk.rows, exact=True, problem=str(error))
    kept, generalized, hidden = (
        sum(each[kind] for each in shares) / len(shares)
        for kind in ("kept", "generalized", "hidden")
    )
    return Outlook(
        kept,
        generalized,
        hidden,
        tally.suppressed / max(tally.records, 1),
        tally.smallest_class,
        tally.records,
        exact=True,
    )


def estimate_costs(
    desk: Desk,
    request: TableRequest,
    models: Sequence[str],
    method: str,
    options: Mapping[str, Any],
) -> tuple[float, ...]:
    """Return the detail that each of some guarantees loses, estimated on a sample.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        models: The guarantees as text.
        method: The name of the method.
        options: Its options.

    Returns:
        Shares from 0 to 1; all of the detail where there is no release.
    """
    table = desk.table(request)
    if len(table) > SAMPLE_ROWS:
        table = _sample(table, SAMPLE_ROWS)
    found = []
    for model in models:
        try:
            release = run(table, parse(model), method, **options)
            found.append(float(evaluate(release, ["ncp"])["ncp"]))
        except ShoalError:
            found.append(1.0)
    return tuple(found)


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


def is_quick(method: str, rows: int, columns: int, *, on_disk: bool = False) -> bool:
    """Return whether a method finds a release of the whole table within seconds.

    Parameters:
        method: The name of the method.
        rows: Rows of the table.
        columns: Number of quasi-identifiers.
        on_disk: Whether the rows stay on disk, where methods run on distinct tuples.

    >>> is_quick("mondrian", 100_000, 8), is_quick("optimal", 1_000, 8)
    (True, False)
    """
    most = _MAX_CELLS_ON_DISK if on_disk else _MAX_EXACT_CELLS
    quick = method in _QUICK and not (on_disk and method == "sorted")
    return quick and method in METHODS and rows * columns <= most


STARTS: Mapping[str, float] = {"epsilon": 1.5, "beta": 0.5, "n0": 1_000}


def undeclared_columns(project: Project) -> list[ColumnInfo]:
    """Return the published columns whose possible values are not stated.

    Parameters:
        project: The project.
    """
    published = ("quasi", "sensitive", "insensitive")
    return [c for c in project.columns if c.role in published and not c.declared]


def bounds_of(column: ColumnInfo, low: str, high: str) -> dict[str, Any] | None:
    """Return the declaration of a column of numbers or dates; None if the bounds are unreadable.

    Parameters:
        column: The column.
        low: The least possible value as text.
        high: The greatest possible value as text.

    >>> from shoal.web.project.column_roles import ColumnInfo
    >>> bounds_of(ColumnInfo("age", "quasi", "quasi", type="whole number"), "0", "110")
    {'type': 'integer', 'bounds': [0, 110]}
    """
    kinds: dict[str, tuple[str, Any]] = {
        "whole number": ("integer", int),
        "date": ("date", lambda text: date.fromisoformat(text).isoformat()),
    }
    name, convert = kinds.get(column.type, ("float", float))
    try:
        bounds = [convert(low.strip()), convert(high.strip())]
    except ValueError:
        return None
    return {"type": name, "bounds": bounds} if bounds[0] < bounds[1] else None


def values_of(listed: str) -> dict[str, Any] | None:
    """Return the declaration of a category; None if there are fewer than two values.

    Parameters:
        listed: The possible values, separated by commas.

    >>> values_of("f, m")
    {'type': 'category', 'values': ['f', 'm']}
    """
    values = list(dict.fromkeys(each.strip() for each in listed.split(",") if each.strip()))
    return {"type": "category", "values": values} if len(values) > 1 else None


def foresee_draw(project: Project) -> Outlook:
    """Return what a private draw would claim, or what is missing; nothing is drawn.

    Parameters:
        project: The project.
    """
    names = [column.name for column in undeclared_columns(project)]
    if names:
        return Outlook(problem=text.undeclared(", ".join(names)))
    replaced = _replaced_identifiers(project) if project.budget is not None else []
    if replaced:
        return Outlook(problem=text.replaced(", ".join(replaced)))
    wanted = project.guarantee
    try:
        claim = SafeLA(**wanted.options).price(parse(str(wanted.model)))
    except ShoalError as error:
        return Outlook(problem=str(error))
    return Outlook(note=f"{claim}. {text.DRAWN}", exact=True)


def _replaced_identifiers(project: Project) -> list[str]:
    """Return the identifiers that are published in another form, which no draw on disk can have."""
    columns = (project.columns[name] for name in project.columns.names("identifier"))
    return [column.name for column in columns if column.replace is not None]
