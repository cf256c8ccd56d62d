"""Combinations of levels: all of them for the explorer, and those that are chosen by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import ShoalError
from shoal.methods import anonymize
from shoal.privacy.model import Model
from shoal.privacy.models import parse
from shoal.report.lattice_picture import STATES, Spots, place_nodes
from shoal.report.masking import rounded
from shoal.support.arrays import Counts
from shoal.table.column import Column
from shoal.table.hierarchy import Hierarchy
from shoal.table.table import Table
from shoal.web.project.analyst import Desk, TableRequest
from shoal.web.project.guarantee import Guarantee

MAX_NODES = 20_000
WORDS = {
    "not anonymous": "does not keep the guarantee",
    "anonymous": "keeps the guarantee",
    "minimal": "keeps the guarantee with the lowest levels",
}


@dataclass(frozen=True)
class LatticeNode:
    """One combination of levels.

    Parameters:
        number: Its position in the list of nodes.
        levels: The level of each column.
        x, y: Its position in the picture; the original table is at the bottom.
        cost: The share of information lost, from 0 to 1.
        suppressed: Records in groups that are too small, in words.
        state: `not anonymous`, `anonymous` or `minimal`.
        chosen: Whether a release has these levels.
    """

    number: int
    levels: tuple[int, ...]
    x: float
    y: float
    cost: float
    suppressed: str
    state: str
    chosen: bool = False


@dataclass(frozen=True, eq=False)
class LatticeView:
    """All combinations of levels.

    Parameters:
        spots: The placed nodes as arrays.
    """

    spots: Spots

    def __len__(self) -> int:
        return len(self.spots)

    def __getitem__(self, number: int) -> LatticeNode:
        spot = self.spots[number]
        return LatticeNode(
            number,
            spot.node,
            spot.place,
            spot.row,
            rounded(spot.cost) or 0.0,
            spot.suppressed,
            spot.state,
            spot.chosen,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return self.spots.names

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each column."""
        return tuple(self.spots.levels.max(axis=0).tolist())

    @property
    def chosen(self) -> LatticeNode | None:
        """The node of the release, None if it has none."""
        return None if self.spots.chosen is None else self[self.spots.chosen]

    @property
    def summary(self) -> str:
        """The numbers of nodes in words."""
        kept = len(self) - self.spots.count("not anonymous")
        return (
            f"{len(self):,} combinations of levels; {kept:,} keep the guarantee, "
            f"{self.spots.count('minimal'):,} of them with the lowest possible levels"
        )

    def numbers(self, states: Sequence[str] = STATES) -> Counts:
        """Return the numbers of the nodes in some states, the cheapest first.

        Parameters:
            states: The states to show.
        """
        spots = self.spots
        wanted = np.isin(spots.states, [i for i, s in enumerate(STATES) if s in states])
        found = np.flatnonzero(wanted)
        keys = (*spots.levels[found].T[::-1], np.round(spots.costs[found], 3))
        return found[np.lexsort(keys)]


def explore(
    table: Table,
    model: Model,
    *,
    chosen: Mapping[str, int] | None = None,
    max_suppression: float = 0.05,
) -> LatticeView:
    """Return every combination of levels of a table's hierarchies.

    Parameters:
        table: The table; its quasi-identifiers need hierarchies.
        model: The guarantee.
        chosen: The levels of a release, to mark.
        max_suppression: Share of the records that may be left out.

    Raises:
        InputError: A column has no hierarchy, or there are more than 20,000 combinations.
    """
    spots = place_nodes(
        table, model, max_suppression=max_suppression, chosen=chosen, max_nodes=MAX_NODES
    )
    return LatticeView(spots)


@dataclass(frozen=True)
class Recoded:
    """Examples of one column at a level: values and what is published instead.

    Parameters:
        column: The column.
        level: The level.
        pairs: Values with their labels.
    """

    column: str
    level: int
    pairs: tuple[tuple[str, str], ...]


def recode_sample(
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int = 6,
) -> tuple[Recoded, ...]:
    """Return how the first rows of the opened file read at some levels.

    Parameters:
        hierarchies: The hierarchy of each column.
        levels: The level of each column.
        names: The columns of the rows.
        rows: The first rows of the file as text.
        most: Different values to show of each column.

    Returns:
        For each column, values and their labels.

    >>> tree = Hierarchy.from_rows([("Malta", "Europe", "*"), ("Japan", "Asia", "*")])
    >>> recode_sample({"land": tree}, {"land": 1}, ["land"], [["Malta"], ["Japan"]])[0].pairs
    (('Malta', 'Europe'), ('Japan', 'Asia'))
    """
    found = []
    for column, level in levels.items():
        if column not in hierarchies or column not in names:
            continue
        hierarchy, place = hierarchies[column], list(names).index(column)
        at = min(level, hierarchy.height)
        codes = {text: code for code, text in enumerate(hierarchy.values)}
        shown = list(dict.fromkeys(row[place] for row in rows if row[place] in codes))[:most]
        labelled = hierarchy.levels[at]
        pairs = tuple(
            (text, labelled.labels[int(labelled.groups[codes[text]])] or "") for text in shown
        )
        found.append(Recoded(column, level, pairs))
    return tuple(found)


METHOD = "flash"  # it publishes stated levels instead of searching
_MAX_SEARCH_ROWS = 20_000  # of the search for levels to begin with


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of one column.

    Parameters:
        column: The column.
        examples: For each level, what is published for a common value; the last hides it.
    """

    column: str
    examples: tuple[str, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.examples) - 1


@dataclass(frozen=True)
class Offer:
    """The levels that can be chosen.

    Parameters:
        columns: The levels of each quasi-identifier.
        start: Levels that keep the guarantee, or nearly so.
    """

    columns: tuple[ColumnLevels, ...]
    start: Mapping[str, int]


def stated_levels(guarantee: Guarantee) -> dict[str, int] | None:
    """Return the levels that are chosen by hand, None if the method chooses.

    Parameters:
        guarantee: The guarantee with its method.

    >>> stated_levels(Guarantee(method="flash", options={"levels": {"age": 1}}))
    {'age': 1}
    """
    levels = guarantee.options.get("levels") if guarantee.method == METHOD else None
    return None if levels is None else dict(levels)


def offer_levels(desk: Desk, request: TableRequest, model: str, share: float) -> Offer:
    """Return what can be chosen, and levels that `flash` finds: a question to the analyst.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        model: The guarantee as text.
        share: Share of the rows that may be left out.
    """
    table = desk.table(request)
    columns = tuple(_levels(column) for column in table.quasi_columns)
    return Offer(columns, _start(table, model, share))


def _levels(column: Column) -> ColumnLevels:
    common = int(np.bincount(column.codes, minlength=column.domain).argmax())
    value = column.labels[common] or ""
    if column.hierarchy is None:
        return ColumnLevels(column.name, (value, "*"))
    shown = [level.labels[int(level.groups[common])] or "" for level in column.hierarchy.levels]
    return ColumnLevels(column.name, tuple(shown))


def _start(table: Table, model: str, share: float) -> dict[str, int]:
    """Return the levels that lose the least, found on at most 20,000 rows."""
    if len(table) > _MAX_SEARCH_ROWS:
        rows = np.random.default_rng(0).choice(len(table), _MAX_SEARCH_ROWS, replace=False)
        table = table.take(np.sort(rows))
    try:
        release = anonymize(table, parse(model), METHOD, max_suppression=share)
    except ShoalError:
        return dict.fromkeys(table.quasi, 0)
    return dict(release.node or {})


def with_level(options: Mapping[str, Any], column: str, level: int) -> dict[str, Any]:
    """Return the options of the method with another level of a column.

    Parameters:
        options: The options.
        column: The column.
        level: Its level.

    >>> with_level({"levels": {"age": 1}}, "sex", 1)
    {'levels': {'age': 1, 'sex': 1}}
    """
    return {**options, "levels": {**(options.get("levels") or {}), column: int(level)}}
