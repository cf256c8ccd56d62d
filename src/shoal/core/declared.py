"""Undeclared types, domains, hierarchies and file settings.

A differential-privacy claim must not depend on anything that was inferred from the records.
"""

from __future__ import annotations

from collections.abc import Iterator

from shoal.core.column import Column, Role
from shoal.core.table import Table


def undeclared(table: Table) -> tuple[str, ...]:
    """List what must be declared before a differential-privacy claim about a table.

    Every published column needs a declared type and a closed domain, and every hierarchy an origin
    other than the data. An empty result means that another record changes no type, label,
    hierarchy level or file setting.

    Parameters:
        table: The table that a method is about to publish.

    Returns:
        One short fragment for the file and for each column with a gap, such as
        `column 'age': declare its type`.

    >>> undeclared(Table((Column.encode("age", [31, 47], type="integer"),)))
    ("column 'age': declare its values or bounds",)
    """
    found = [f"file: declare its {each}" for each in table.guessed]
    for column in table:
        if column.role is not Role.IDENTIFIER:
            gaps = " and ".join(_gaps(column))
            found += [f"column {column.name!r}: declare {gaps}"] if gaps else []
    return tuple(found)


def _gaps(column: Column) -> Iterator[str]:
    if column.type is None:
        yield "its type"
    elif column.type == "decimal":
        yield "its number of places, such as decimal(2)"
    if not column.closed:
        yield "its values or bounds"
    if column.role is not Role.QUASI or column.hierarchy is None:
        return
    if column.hierarchy.origin == "data":
        yield "a hierarchy that is not made from the data"
    elif column.hierarchy.origin == "values":
        yield "its hierarchy as a recipe over its declared values or bounds"
