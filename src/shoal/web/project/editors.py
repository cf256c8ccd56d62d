"""The hierarchy editors of a project, one for each quasi-identifier, and the values they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.table import Table
from shoal.support.arrays import Counts, frozen
from shoal.web.project.desk import Desk, TableRequest
from shoal.web.project.hierarchies import HierarchyEditor

_MAX_ROWS = 1_000_000  # rows that a column in the editor stands for; more are scaled down


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, without the order of its rows.

    Parameters:
        column: The column with its rows sorted by value; fewer rows if there are very many.
        counts: (known,) rows that have each value.
    """

    column: Column
    counts: Counts

    @classmethod
    def of(cls, column: Column, weights: Counts | None = None) -> Values:
        """Return the values of a column.

        Parameters:
            column: The column.
            weights: (rows,) records behind each row of a weighted table.
        """
        counts = np.bincount(column.codes, weights, column.domain).astype(np.int64)
        known = counts[: column.known]
        scale = -(-int(known.sum()) // _MAX_ROWS) or 1
        shown = np.repeat(np.arange(column.known, dtype=np.int32), -(-known // scale))
        return cls(replace(column, codes=frozen(shown), hierarchy=None), frozen(known))


def values_of(table: Table) -> dict[str, Values]:
    """Return the values of each quasi-identifier.

    Parameters:
        table: The table.
    """
    return {column.name: Values.of(column, table.counts) for column in table.quasi_columns}


def find_values(desk: Desk, request: TableRequest, names: Sequence[str]) -> dict[str, Values]:
    """Return the values of some columns: a question to the analyst.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        names: The columns.
    """
    disk = desk.disk(request.file)
    if disk is not None:
        return {name: Values.of(*disk.column(request, name)) for name in names}
    table = desk.table(replace(request, hierarchies={}), ("quasi",))
    return {name: Values.of(table[name], table.counts) for name in names if name in table}


class Editors:
    """The editors of a project by column.

    >>> editors = Editors()
    >>> editors.add({"sex": Values.of(Column.encode("sex", ["F", "M", "F"]))})
    >>> list(editors), editors["sex"].ungrouped_text
    (['sex'], '2 values not grouped yet')
    """

    def __init__(self) -> None:
        self._editors: dict[str, HierarchyEditor] = {}
        self._specs: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._editors)

    def __len__(self) -> int:
        return len(self._editors)

    def __contains__(self, name: object) -> bool:
        return name in self._editors

    def __getitem__(self, name: str) -> HierarchyEditor:
        return self._editors[name]

    def add(
        self,
        values: Mapping[str, Values],
        specs: Mapping[str, Any] | None = None,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an editor for each column.

        Parameters:
            values: The values of each column.
            specs: The schema entry that each column was read with.
            saved: Hierarchies of an earlier session, to go on with.
        """
        for name, each in values.items():
            editor = HierarchyEditor(each.column, counts=each.counts)
            if saved and name in saved:
                editor.reopen(saved[name])
            self._editors[name] = editor
            self._specs[name] = (specs or {}).get(name)

    def missing(self, specs: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the columns that have no editor, or one of values read otherwise.

        Parameters:
            specs: The schema entry of each column.
            names: The columns.
        """
        return tuple(
            name
            for name in names
            if name not in self._editors or self._specs[name] != specs.get(name)
        )

    def clear(self) -> None:
        """Forget all editors, after another file was opened or read in another way."""
        self._editors.clear()
        self._specs.clear()

    def hierarchies(self, names: Iterable[str]) -> dict[str, Hierarchy]:
        """Return the present hierarchy of each of the columns that has an editor."""
        return {name: self._editors[name].hierarchy() for name in names if name in self._editors}
