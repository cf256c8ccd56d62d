"""Cells that would list what they should hide: columns refused, or generalized instead.

Without a hierarchy, a method that groups people publishes a nominal column as sets of its values.
A set of towns is readable; a set of names or case numbers lists the people of the table, although
every class is large enough. Before the search, for each nominal quasi-identifier without hierarchy:

    most people have a value of their own        refused, or listed if the caller insists
    few values (`LISTABLE` at most)              left as it is: sets of them are readable
    many values, method publishes labels         generalized by a hierarchy made from its values
    many values, method publishes sets only      left as it is; reports name the column
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Counts
from shoal.support.wording import counted, option
from shoal.table.column import Column, Kind
from shoal.table.recipes import LISTABLE, are_codes, group_words
from shoal.table.table import Table

_FEW = 2  # people who share a value that says who they are
_MAX_OWN = 0.5  # share of the people who have such a value in a column that is not refused
_LEAST_VALUES = 20  # in smaller columns most values are rare by chance


def without_lists(
    table: Table, algorithm: Any, *, list_values: bool = False
) -> tuple[Table, tuple[str, ...]]:
    """Return the table with hierarchies that its columns need, and notes about what was made.

    Parameters:
        table: The table.
        algorithm: The method that will publish it.
        list_values: Whether columns in which most people have a value of their own are accepted.

    Raises:
        InputError: A column without a hierarchy identifies most people.
    """
    if getattr(algorithm, "by_level", False):
        return table, ()  # levels are labels already: without a hierarchy, the value or `*`
    bare = [
        column
        for column in table.quasi_columns
        if column.kind is Kind.NOMINAL and column.hierarchy is None and column.known > LISTABLE
    ]
    notes = []
    for column in bare:
        if _identifies(table, column):
            if list_values:
                continue
            raise InputError(
                f"column {column.name!r}: most people have a value that at most one other person "
                "has, and cells would list these values; give it the role identifier, give it a "
                f"hierarchy, or publish the lists with {option('list_values', True)}"
            )
        if getattr(algorithm, "hierarchies", False):  # it publishes labels
            rows = _rows_by_value(table, column)
            made = column.with_hierarchy(group_words(column, rows))
            table = table.with_column(made)
            notes.append(
                f"{column.name}: {counted(column.known, 'value')} and no hierarchy, so one was "
                f"made from the data, with {_levels(made)}; `shoal hierarchy make` writes it to a "
                "file to edit, and with hierarchies=False cells list values instead"
            )
    return table, tuple(notes)


def _levels(column: Column) -> str:
    assert column.hierarchy is not None
    sizes = [f"{len(level):,}" for level in column.hierarchy.levels[1:-1]]
    return f"groups: {', '.join(sizes)}" if sizes else "no groups: a value is kept or hidden"


def _identifies(table: Table, column: Column) -> bool:
    """Whether most people have a value in the column that hardly anyone else has.

    Codes such as postcodes do not count: a mask generalizes them well.
    """
    if column.known <= _LEAST_VALUES or are_codes(column):
        return False
    people = _people_by_value(table, column)
    return bool(people[people <= _FEW].sum() > _MAX_OWN * people.sum())


def _rows_by_value(table: Table, column: Column) -> Counts:
    return np.bincount(column.codes, weights=table.counts, minlength=column.domain).astype(np.int64)


def _people_by_value(table: Table, column: Column) -> Counts:
    """(known values,) the people who have each value in one of their rows."""
    if table.person is None or table.counts is not None:
        return _rows_by_value(table, column)[: column.known]
    pairs = np.unique(table.person.ids.astype(np.int64) * column.domain + column.codes)
    return np.bincount(pairs % column.domain, minlength=column.domain)[: column.known]
