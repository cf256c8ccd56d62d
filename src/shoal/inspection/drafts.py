"""Draft hierarchies for every quasi-identifier of a table, and the names of their files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.hierarchies.recipes import build, suggest
from shoal.core.table import Table
from shoal.inspection.recipes import suggest_recipe
from shoal.support.file_names import file_names


def suggest_hierarchies(table: Table) -> dict[str, Hierarchy]:
    """Return a hierarchy for each quasi-identifier: its own, or one suggested from its values.

    A suggested hierarchy is derived from the values of the table; its origin is the data.

    Parameters:
        table: The table, with roles.

    Returns:
        The hierarchy of each quasi-identifier, to edit or to `write`.

    >>> from shoal import Column, Table
    >>> table = Table((Column.encode("age", list(range(20, 80))),))
    >>> suggest_hierarchies(table)["age"].rows()[0]
    ('20', '[20, 25[', '[20, 30[', '[20, 40[', '[0, 40[', '*')
    """
    return {column.name: _hierarchy(column) for column in table.quasi_columns}


def _hierarchy(column: Column) -> Hierarchy:
    own = column.hierarchy
    if own is not None:
        return own.source if isinstance(own.source, Hierarchy) else _of_known_values(own)
    recipe = suggest_recipe(column)
    tree = suggest(column) if recipe is None else build(column, recipe)
    return replace(tree, origin="data")


def _of_known_values(tree: Hierarchy) -> Hierarchy:
    """Return the hierarchy without the missing value, which needs no entry."""
    pairs = zip(tree.values, tree.rows(), strict=True)
    rows = [row for value, row in pairs if value is not None]
    return Hierarchy.from_rows(rows, origin=tree.origin) if rows else tree


def name_files(columns: Iterable[str]) -> dict[str, str]:
    """Return a unique, portable file name for each column.

    >>> name_files(["age", "Age (years)", "AGE"])
    {'age': 'age.csv', 'Age (years)': 'Age_years.csv', 'AGE': 'AGE_2.csv'}
    """
    return {column: f"{name}.csv" for column, name in file_names(columns, "column").items()}


def schema_entry(file: str, tree: Hierarchy) -> Any:
    """Return the schema entry of a hierarchy file, marked if it was made from the data."""
    return file if tree.origin in ("declared", "file") else {"file": file, "origin": "data"}
